// Temperature, top-k and top-p: see include/ropewalk/infer/sampling.hpp.
#include "ropewalk/infer/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

using candidate = std::pair<double, std::int32_t>;

// True if a comes before b: larger first, then the lower index.
bool before(const candidate& a, const candidate& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

std::size_t checked_largest(std::span<const float> logits) {
  if (logits.empty()) throw error("sampling", "logits", "none", "must hold at least one value");
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // Written so that NaN fails: it compares false with everything.
    if (!(logits[i] <= std::numeric_limits<float>::max()))
      throw error("sampling", "logits[" + std::to_string(i) + "]", std::to_string(logits[i]),
                  "must be finite or -inf");
    if (logits[i] > logits[best]) best = i;
  }
  if (std::isinf(logits[best]))
    throw error("sampling", "logits", "all -inf", "must leave a token to choose");
  return best;
}

}  // namespace

token_sampler::token_sampler(const sampling_options& o) : options_(o), rng_(o.seed) {
  if (!(o.temperature >= 0 && std::isfinite(o.temperature)))
    throw error("sampling", "temperature", std::to_string(o.temperature),
                "must be finite and not negative");
  if (o.top_k < 0)
    throw error("sampling", "top_k", std::to_string(o.top_k), "must not be negative");
  if (!(o.top_p > 0 && o.top_p <= 1))
    throw error("sampling", "top_p", std::to_string(o.top_p), "must be in (0, 1]");
}

std::int32_t token_sampler::next(std::span<const float> logits) {
  const std::size_t best = checked_largest(logits);
  if (options_.temperature == 0) return static_cast<std::int32_t>(best);

  kept_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) kept_.emplace_back(logits[i], i);
  const auto k = static_cast<std::size_t>(options_.top_k);
  if (k > 0 && k < kept_.size()) {
    std::nth_element(kept_.begin(), kept_.begin() + options_.top_k - 1, kept_.end(), before);
    kept_.resize(k);
    std::ranges::sort(kept_, before);  // sums below run in one order, whatever nth_element left
  }
  double total = 0;
  const double largest = logits[best];
  for (auto& [value, index] : kept_) {
    value = std::exp((value - largest) / options_.temperature);
    total += value;
  }

  if (options_.top_p < 1) {
    // Popping from a heap costs n + m log n for the m tokens kept; m is small where n is 100,000.
    auto after = [](const candidate& a, const candidate& b) { return before(b, a); };
    std::make_heap(kept_.begin(), kept_.end(), after);
    const double enough = options_.top_p * total;
    total = 0;
    auto heap_end = kept_.end();
    do {
      std::pop_heap(kept_.begin(), heap_end, after);
      total += (--heap_end)->first;
    } while (total < enough && heap_end != kept_.begin());
    kept_.erase(kept_.begin(), heap_end);
    std::reverse(kept_.begin(), kept_.end());  // the most likely first
  }

  double left = rng_.uniform() * total;
  std::int32_t chosen = 0;
  for (const auto& [weight, index] : kept_) {
    if (weight == 0) continue;
    chosen = index;  // rounding may leave a rest after the last: that one is it
    if ((left -= weight) < 0) break;
  }
  return chosen;
}

}  // namespace ropewalk
