// A small Llama with Llama 3's frequencies, one key head and tied embeddings.
#pragma once
#include "llama_family.hpp"

namespace llama3_rope {
using namespace llama_family;

// config.json: rope_theta, rope_scaling.
inline constexpr auto scaling = frequencies<rope_llama3{.base = 10000, .original_context = 64}>;
inline constexpr auto hidden =
    repeat<2, "model.layers">(block<dim{"G", 1}, scaling>)(gather_rows(tied, tokens));
inline constexpr auto logits = linear(rms_norm<"model.norm">(hidden), tied);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"llama3_rope_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"llama3_rope_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace llama3_rope
