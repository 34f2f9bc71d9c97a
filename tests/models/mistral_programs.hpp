// A small Mistral: Llama with a window of 7 keys.
#pragma once
#include "llama_family.hpp"

namespace mistral {
using namespace llama_family;

inline constexpr auto logits = untied_logits(block<dim{"G", 2}, rope_base<1e4>, sliding_window<7>>);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"mistral_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"mistral_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace mistral
