// Generating tokens one by one with a program from tokens to logits.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ropewalk/infer/sampling.hpp"
#include "ropewalk/runtime/session.hpp"

namespace ropewalk {

// Draws `count` tokens that follow the prompt; `each`, if given, is told every one as it comes.
//
// `program` has the input "tokens" [1, T] and the output "logits" [1, T, V] with causal attention.
// Every token costs a run of the program: the logits that count are those at the last of the up to
// T tokens that lie before it. Errors: an empty prompt; count < 0; those of the session (a token
// that is none) and of the sampler.
std::vector<std::int32_t> generate(session_core& program, std::span<const std::int32_t> prompt,
                                   long count, token_sampler& sampler,
                                   const std::function<void(std::int32_t)>& each = {});

}  // namespace ropewalk
