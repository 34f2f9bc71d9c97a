// What the example programs that learn a text share: everything but the model.
#pragma once
#include <ropewalk/session.hpp>

#include "options.hpp"

namespace examples {

// Opens a session of a program of a model header.
using open_session = ropewalk::session_core (*)(const ropewalk::device& on,
                                                std::span<const ropewalk::dim_binding> dims,
                                                const ropewalk::session_options& options);
template <auto Program>
ropewalk::session_core open(const ropewalk::device& on, std::span<const ropewalk::dim_binding> dims,
                            const ropewalk::session_options& options) {
  return ropewalk::session<Program>(on, dims, options);
}

// A model of text with the symbolic dims B (windows), T (characters of each) and V (vocabulary).
struct text_model {
  std::string description;  // name and sizes: a checkpoint of another one is refused
  open_session train;       // minimizes; see ropewalk::trainer for its inputs and outputs
  open_session evaluate;    // the output "loss"
  open_session generate;    // the output "logits" [B, T, V]
};

// The main function. Returns 0; 2 after an error, told on stderr; 128 + signal when Ctrl-C or
// SIGTERM ended the training (a checkpoint is written, and the same command goes on from it).
int text_main(int argc, char** argv, const text_model& model, const text_options& defaults);

}  // namespace examples
