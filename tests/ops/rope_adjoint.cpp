// Rope and its gradient are adjoint in float64 for every pairing x schedule x window as they stand
// in a model: schedules are template arguments.
#include <doctest/doctest.h>

#include <random>

#include "check.hpp"
#include "rope_pairings.hpp"

namespace {

using namespace cases;

constexpr int schedules = 12;

// Schedules as template arguments, by number, for P pairs at rotary width D.
template <int K, std::size_t P>
constexpr auto schedule() {
  if constexpr (K == 0)
    return rope_standard{5e5};
  else if constexpr (K == 1) {
    rope_list<P> l;
    for (std::size_t i = 0; i < P; ++i) l.frequency[i] = 1.0 / static_cast<double>(i + 1);
    return l;
  } else if constexpr (K == 2)
    return rope_linear{.factor = 4};
  else if constexpr (K == 3)
    return rope_ntk{.factor = 4};
  else if constexpr (K == 4)
    return rope_dynamic_ntk{.factor = 2, .original_context = 128};
  else if constexpr (K == 5)
    return rope_llama3{};
  else if constexpr (K == 6)
    return rope_yarn{.factor = 4};
  else if constexpr (K == 7)
    return rope_yarn{.factor = 16, .truncate = false, .mscale = 0.7, .mscale_all_dim = 1};
  else if constexpr (K == 8) {
    rope_longrope<P> l{.factor = 4, .original_context = 100};
    for (std::size_t i = 0; i < P; ++i)
      l.short_factors[i] = 1, l.long_factors[i] = 1 + static_cast<double>(i);
    return l;
  } else if constexpr (K == 9)
    return rope_proportional{.share = 0.5};
  else if constexpr (K == 10)
    return rope_ggml{.freq_scale = 0.5, .attn_factor = 1.1};
  else
    return rope_ggml{.freq_scale = 2, .ext_factor = 0.5, .n_ctx_orig = 512};
}
template <int Pairing, int K, dim W, dim Offset>
constexpr auto typed_program = program<"typed">([] {
  constexpr std::size_t pairs = static_cast<std::size_t>(W.n) / (Pairing == 4 ? 4 : 2);
  return differentiated(rope(rows, places<Pairing>(), pairing<Pairing, W>(),
                             rotary_window<W, Offset>, frequencies<schedule<K, pairs>()>),
                        rows);
});

int typed_checked = 0;
template <int Pairing, int K, dim W, dim Offset>
void check_typed() {
  INFO(Pairing, " ", K, " ", W.n, " ", Offset.n);
  const program_table t = typed_program<Pairing, K, W, Offset>.table();
  std::mt19937 r(3);
  dense p = Pairing < 2 ? filled({batch, steps}, 0) : filled({4, batch, steps}, 0);
  for (double& e : p.v) e = std::uniform_int_distribution<int>(0, 300)(r);
  check_adjoint(t, {{"positions", p}});
  ++typed_checked;
}
template <int Pairing, int... K>
void check_pairing(std::integer_sequence<int, K...>) {
  (check_typed<Pairing, K, 24, 0>(), ...);
  (check_typed<Pairing, K, 12, 8>(), ...);
}
template <int... Pairing>
void check_pairings(std::integer_sequence<int, Pairing...>) {
  (check_pairing<Pairing>(std::make_integer_sequence<int, schedules>()), ...);
}

}  // namespace

TEST_CASE("rope and its gradient are adjoint: every pairing x schedule x window") {
  check_pairings(std::make_integer_sequence<int, 5>());
  CHECK(typed_checked == 5 * schedules * 2);
}
