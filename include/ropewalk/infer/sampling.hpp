// Choosing the next token from logits [V].
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ropewalk/train/rng.hpp"

namespace ropewalk {

struct sampling_options {
  double temperature = 1;  // 0: greedy, the largest logit
  long top_k = 0;          // only the k largest logits; 0: all
  double top_p = 1;        // of those, the fewest whose probabilities reach p; 1: all
  std::uint64_t seed = 0;
};

// softmax(logits / temperature) cut by top_k, then by top_p (renormalised in between), drawn with
// one uniform number a token. Of equal logits the lowest index comes first everywhere. -inf never
// is drawn. The same options, logits and calls give the same tokens.
// Errors: temperature negative or not finite, top_k < 0, top_p outside (0, 1]; logits empty, NaN or
// +inf (the index is named), or all -inf.
class token_sampler {
 public:
  explicit token_sampler(const sampling_options& options);
  std::int32_t next(std::span<const float> logits);

  // Where the random numbers stand, to continue a generation later.
  const rng_state& state() const { return rng_.state(); }
  void restore(const rng_state& state) { rng_ = rng(state); }

 private:
  sampling_options options_;
  rng rng_;
  std::vector<std::pair<double, std::int32_t>> kept_;  // (probability, not normalised; index)
};

}  // namespace ropewalk
