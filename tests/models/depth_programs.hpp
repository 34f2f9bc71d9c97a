// A residual network whose depth is a symbolic dim: one binary serves every depth.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace depth {
using namespace ropewalk;

inline constexpr dim B{"B"}, L{"L"}, C{"C", 16};

inline constexpr auto block = module<"block">([](auto x) {
  return x + linear<"down", C>(gelu_tanh(linear<"up", 4 * C>(layer_norm<"ln">(x))));
});
inline constexpr auto x = input<"x", f32, B, C>;
inline constexpr auto y = input<"y", f32, B, C>;
inline constexpr auto loss = mse(linear<"head", C>(repeat<L, "h">(block)(x)), y);
inline constexpr auto gradients =
    program<"gradients">([] { return outputs(parameter_gradients(loss)); });
inline constexpr auto train =
    program<"train">([] { return minimize(loss, adamw{}, clip_by_global_norm(1.0)); });
}  // namespace depth
