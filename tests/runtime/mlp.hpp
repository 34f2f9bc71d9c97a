// A small model for tests of the whole way: header, generator, kernels, session.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace mlp {
using namespace ropewalk;

inline constexpr dim N{"N"}, V{"V"}, L{"L"};  // batch, classes; L: layers, built for 1 and 3
inline constexpr dim C{"C", 24};

inline constexpr auto layer = module<"layer">(
    [](auto x) { return x + linear<"down", C>(gelu(linear<"up", 2 * C>(layer_norm<"ln">(x)))); });

inline constexpr auto tokens = input<"tokens", i32, N>;
inline constexpr auto targets = input<"targets", i32, N>;
inline constexpr auto logits =
    linear<"head", V, no_bias>(repeat<L, "h">(layer)(embedding<"embed", V, C>(tokens)));
inline constexpr auto loss = cross_entropy(logits, targets);

inline constexpr auto train = program<"train">(
    [] { return minimize(loss, adamw{.weight_decay = 0.01}, clip_by_global_norm(1.0)); });
inline constexpr auto evaluate =
    program<"evaluate">([] { return outputs(output<"loss">(loss), output<"logits">(logits)); });

}  // namespace mlp
