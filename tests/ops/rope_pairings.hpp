// The pairings of rope by number, on one shape, for tests over all of them.
#pragma once
#include <ropewalk/ops/rope.hpp>

#include "leaves.hpp"

namespace cases {

constexpr std::int64_t batch = 2, heads = 3, steps = 5, features = 24;
inline constexpr auto rows = input<"x", f32, batch, heads, steps, features>;
inline constexpr auto plain = input<"positions", i32, batch, steps>;
inline constexpr auto streams = input<"positions", i32, 4, batch, steps>;

// The pairings, by number.
template <int Pairing, dim W>
constexpr auto pairing() {
  constexpr int p = static_cast<int>(W.n) / 2;
  if constexpr (Pairing == 0)
    return half_split;
  else if constexpr (Pairing == 1)
    return interleaved;
  else if constexpr (Pairing == 2)
    return mrope<p / 4, p / 2 - p / 4, 1, 1>;
  else if constexpr (Pairing == 3)
    return interleaved_mrope<p / 3, p / 4, 1, 2>;
  else
    return vision_rope<p / 2, p - p / 2>;
}
template <int Pairing>
constexpr auto places() {
  if constexpr (Pairing < 2)
    return plain;
  else
    return streams;
}

}  // namespace cases
