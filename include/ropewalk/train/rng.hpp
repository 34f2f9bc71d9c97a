// Random numbers that are the same on every platform, and whose whole state is two integers.
//
// Philox 4x32-10 of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011):
// the bits are a function of key and counter, so any of them can be had in any order, from any
// thread, and from a kernel that knows only the seed and the element's index.
#pragma once
#include <cstdint>
#include <string>

namespace ropewalk {

struct philox_block {
  std::uint32_t word[4];
  bool operator==(const philox_block&) const = default;
};

// 128 random bits of a 64-bit key (low word first) and a 128-bit counter (word 0 lowest).
constexpr philox_block philox(std::uint64_t key, philox_block counter) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * counter.word[0], b = 0xCD9E8D57ull * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ k0,
                static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ k1,
                static_cast<std::uint32_t>(a)}};
    k0 += 0x9E3779B9u;  // golden ratio
    k1 += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

// A seed for one purpose (weights, data order, dropout, ...) from the seed of the whole run:
// streams of different numbers are independent.
constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t stream) {
  const philox_block b = philox(seed, {{static_cast<std::uint32_t>(stream),
                                        static_cast<std::uint32_t>(stream >> 32), 0, 0xFFFFFFFFu}});
  return b.word[0] | static_cast<std::uint64_t>(b.word[1]) << 32;
}

// Where a generator stands: `position` counts the 32-bit words drawn.
struct rng_state {
  std::uint64_t seed = 0, position = 0;
  bool operator==(const rng_state&) const = default;
};

// The words of philox(seed, 0), philox(seed, 1), ... in order. A copy continues independently with
// the same numbers. rng(r.state()) goes on exactly as r does.
class rng {
 public:
  explicit rng(std::uint64_t seed) : rng(rng_state{seed, 0}) {}
  explicit rng(rng_state state) : state_(state) {}
  const rng_state& state() const { return state_; }

  std::uint32_t bits32() {
    const std::uint64_t index = state_.position / 4;
    if (!cached_ || index != index_) {
      block_ = philox(state_.seed, {{static_cast<std::uint32_t>(index),
                                     static_cast<std::uint32_t>(index >> 32), 0, 0}});
      index_ = index;
      cached_ = true;
    }
    return block_.word[state_.position++ % 4];
  }
  std::uint64_t bits64() {
    const std::uint64_t low = bits32();
    return low | static_cast<std::uint64_t>(bits32()) << 32;
  }

  // Uniform in [0, 1): multiples of 2^-24 (one word) and of 2^-53 (two words).
  float uniform_float() { return static_cast<float>(bits32() >> 8) * 0x1p-24f; }
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

  // An integer in [0, n), each equally likely (draws above the last multiple of n are repeated).
  // Error: n = 0.
  std::uint64_t below(std::uint64_t n);

  // Normal with mean 0 and variance 1 (Box-Muller, four words a value). Computed with + - * / and
  // sqrt alone, which IEEE 754 rounds alike everywhere: the same bits from every compiler and libm.
  double normal();

 private:
  rng_state state_;
  std::uint64_t index_ = 0;
  philox_block block_{};
  bool cached_ = false;
};

// "seed:position" in decimal, for checkpoints. Error: text of any other form.
std::string to_text(const rng_state& state);
rng_state rng_state_from(const std::string& text);

}  // namespace ropewalk
