// What the attention ops' kernels and references share: sizes and options of a call, and the checks
// of values that are known at run time only.
#pragma once
#include <cmath>
#include <string>

#include "ropewalk/ops/attention.hpp"

namespace ropewalk::op {

struct attention_sizes {
  std::int64_t batch, heads, groups, tq, tk, dk, dv;
  // E: extents of q, k, v.
  template <class E>
  attention_sizes(const E& q, const E& k, const E& v, std::size_t rank)
      : batch(rank == 4 ? q[0] : 1),
        heads(q[rank - 3]),
        groups(k[rank - 3]),
        tq(q[rank - 2]),
        tk(k[rank - 2]),
        dk(q[rank - 1]),
        dv(v[rank - 1]) {}
};

// The window; 0: none.
inline std::int64_t attention_window(const attrs& a) {
  if ((a.i[0] & attention_has_window) == 0) return 0;
  if (a.d[0].n < 1)
    throw error("attention", "sliding_window", std::to_string(a.d[0].n), "must be at least 1");
  return a.d[0].n;
}

// value(i) is element i of the option's operand.
template <class F>
void check_attention_lengths(std::int64_t n, std::int64_t tk, F value) {
  for (std::int64_t i = 0; i < n; ++i)
    if (const auto x = static_cast<std::int64_t>(value(i)); x < 0 || x > tk)
      throw error("attention", "lengths[" + std::to_string(i) + "]", std::to_string(x),
                  "must be from 0 to the number of keys, " + std::to_string(tk));
}
template <class F>
void check_attention_start(std::int64_t n, std::int64_t tq, std::int64_t tk, F value) {
  for (std::int64_t i = 0; i < n; ++i)
    if (const auto x = static_cast<std::int64_t>(value(i)); x < 0 || x > tk - tq)
      throw error("attention", "start[" + std::to_string(i) + "]", std::to_string(x),
                  "must be from 0 to keys - queries, " + std::to_string(tk - tq));
}
template <class F>
void check_attention_documents(std::int64_t n, std::int64_t tk, F value) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<std::int64_t>(value(i));
    const std::string field = "documents[" + std::to_string(i) + "]";
    if (i == 0 && x != 0) throw error("attention", field, std::to_string(x), "must be 0");
    if (x < last || x > tk)
      throw error(
          "attention", field, std::to_string(x),
          "must be from " + std::to_string(last) + " to the number of keys, " + std::to_string(tk));
    last = x;
  }
}

inline void check_attention_rope(std::int64_t tq, std::int64_t tk) {
  if (tq > tk)
    throw error("attention", "queries", std::to_string(tq),
                "fused_rope has tables of the keys' positions, so at most " + std::to_string(tk));
}

// The factor of the probability of key n in row (b H + h) Tq + j, with dropout p.
inline double attention_keep_factor(std::uint64_t key, double p, std::int64_t row, std::int64_t n) {
  const philox_block b =
      philox(key, {{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(n), 0, 0}});
  return static_cast<double>(b.word[0] >> 8) < p * 0x1p24 ? 0 : 1 / (1 - p);
}

}  // namespace ropewalk::op
