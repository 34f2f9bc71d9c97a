// Checkpoints: a training run's parameters, states and place in one safetensors file.
//
// Tensors: every parameter by its path; every state of a program (moments, step number, sums of
// accumulated gradients) by "state/" and its path. Metadata: the fields of checkpoint_info, and a
// checksum by which a byte that changed after the file was written is noticed. Random numbers have
// no state beyond these: weights start from (seed, path), dropout draws from (seed, step), the
// sampler's state is text. So a run that goes on from a checkpoint does so bit by bit.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ropewalk/io/safetensors.hpp"
#include "ropewalk/runtime/parameters.hpp"
#include "ropewalk/train/data.hpp"

namespace ropewalk {

struct checkpoint_info {
  long step = 0;           // steps done
  std::uint64_t seed = 0;  // of the run
  std::string sampler;     // state() of the sampler of training windows; "" without one
  std::string tokenizer;   // description()
  // The least validation loss and the step after which it was measured; step -1: none yet.
  double best_validation = 0;
  long best_step = -1;
  // What makes the run the run that it is: model, dims, text, batch. Pairs of any name and value.
  metadata_list run;
};

// Replaces the file in one step (save_safetensors). Equal stores and infos give equal bytes.
// Errors: a parameter path that begins with "state/"; whatever the file system refuses.
void save_checkpoint(const std::string& path, const parameter_store& store,
                     const checkpoint_info& info);

// A checkpoint opened for reading. Its errors name file, tensor or field, what was found and what
// was expected, and come before anything in a store has changed.
class checkpoint {
 public:
  // Errors: those of tensor_file; a format or version that is not this one; metadata that is
  // missing or no number.
  explicit checkpoint(const std::string& path);
  const std::string& path() const { return file_.path(); }
  const checkpoint_info& info() const { return info_; }

  // The tokenizer of the run, and the window ("window" of `run`, as trainer writes it). Errors: a
  // text that describes none; no such pair, or no number of at least 1.
  tokenizer tokens() const;
  long window() const;

  // Errors: a pair of `run` that the checkpoint lacks or has with another value.
  void require_run(const metadata_list& run) const;
  // Copies everything into the store, which holds what the sessions of the run made. Errors: a
  // tensor missing, left over, of another dtype or shape, or with a value that is not finite.
  void load(parameter_store& store) const;

 private:
  tensor_file file_;
  checkpoint_info info_;
};

// Whether a file that begins so (4 KB are enough) was made by save_checkpoint.
bool is_checkpoint(std::string_view begin);

// Only the parameters, for inference, from a checkpoint or any other safetensors file; states on
// either side are ignored. Errors: those of tensor_file and of checkpoint::load, for parameters.
void load_weights(const std::string& path, parameter_store& store);

}  // namespace ropewalk
