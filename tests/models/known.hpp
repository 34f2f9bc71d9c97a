// A small model against PyTorch: logits, loss, every parameter gradient, greedy tokens. Programs
// have the inputs tokens and targets [B, T], outputs logits, loss and grad.<path>, and paths that
// are the names in `folder`/model.safetensors; the values known are `folder`/case.safetensors.
#pragma once
#include <string>

#include "ropewalk/core/program.hpp"
#include "ropewalk/runtime/session.hpp"

namespace ropewalk::testing {

// What a float32 PyTorch run reaches, from the goldens' README: largest difference of a logit, of
// the loss; of all gradients, the norm over their norm, the largest entry over the largest.
struct tolerance {
  double logits, loss, gradient_norm, gradient_entry;
};

// The float64 reference evaluator: 1e-10, gradients 1e-9 of the largest entry.
void check_float64(const program_table& gradients, const std::string& folder);
// Compiled float32 kernels: ten times `t`; the greedy tokens by recomputing the whole text.
void check_float32(const program_table& gradients, const program_table& generate,
                   const std::string& folder, const tolerance& t);

// Gives every parameter the file's value. Requires that the file has these and no others.
void load_parameters(session_core& s, const std::string& path);

}  // namespace ropewalk::testing
