// Attention with every option, mixed at random, against its definition in double.
#include <doctest/doctest.h>

#include <algorithm>

#include "attention_case.hpp"

using namespace attention_case;

namespace {

// Options and contents of an instance whose sizes are set.
void choose_options(instance& x, generator& g) {
  attention_args& a = x.a;
  a.scale = g.chance(0.5) ? 1 / std::sqrt(double(a.dk)) : g.real(-0.8, 0.8);
  a.causal = g.chance(0.5);
  if (g.chance(0.3)) a.soft_cap = g.real(0.3, 4);
  if (g.chance(0.4)) a.window = g.any(1, a.tk + 2);
  if (g.chance(0.3) && a.tq <= a.tk)
    for (long i = g.chance(0.5) ? a.batch : 1; i > 0; --i)
      x.start.push_back(std::int32_t(g.any(0, a.tk - a.tq)));
  if (g.chance(0.3))
    for (long i = g.chance(0.7) ? a.batch : 1; i > 0; --i)
      x.lengths.push_back(std::int32_t(g.any(0, a.tk)));
  if (g.chance(0.3)) {
    x.documents.push_back(0);
    for (long i = g.any(1, 4); i > 0; --i)
      x.documents.push_back(std::int32_t(g.any(x.documents.back(), a.tk)));
  }
  if (g.chance(0.3)) a.dropout = g.real(0.05, 0.7), a.dropout_key = g.bits() * 0x100000001ull;
  const dtype q_types[] = {f32, f32, f32, f16, bf16}, kv_types[] = {f32, f32, f16, bf16};
  const bool f64_run = x.computed == f64;
  x.fill(g, f64_run ? f64 : q_types[g.any(0, 4)],
         f64_run ? (g.chance(0.2) ? f32 : f64) : kv_types[g.any(0, 3)]);
  const auto yes = [&] { return g.chance(0.6); };
  if (g.chance(0.5)) {
    const dtype types[] = {f32, f16, bf16, f64};
    x.with_mask(g, types[g.any(0, f64_run ? 3 : 2)], yes(), yes(), yes(), yes(), yes());
  } else {
    a.distance_bias = g.chance(0.4);
  }
  if (yes()) x.with_slopes(g);
  if (g.chance(0.4)) x.with_sinks(g);
  if (g.chance(0.3) && a.dk >= 2 && a.tq <= a.tk) {
    const long width = 2 * g.any(1, a.dk / 2);
    x.with_rope(g, width, g.any(0, a.dk - width), g.chance(0.5));
  }
  if (yes()) x.ask_all(g, yes(), yes(), yes(), yes());
  if (yes()) x.poison();
}

// Runs x with every instruction set: right, and bitwise the same with 1, 2 and 3 threads.
void check(instance& x) {
  static pool one(1), two(2), three(3);
  for (const isa set : supported_isas()) {
    CAPTURE(std::string(isa_name(set)));
    CAPTURE(x.text());
    x.run(two, set);
    CHECK(x.error() <= 24);
    instance y = x, z = x;
    y.run(one, set), z.run(three, set);
    CHECK(x.same_results(y));
    CHECK(x.same_results(z));
  }
}

void random_instances(unsigned seed, dtype computed, int count, long longest) {
  generator g{std::mt19937(seed)};
  for (int i = 0; i < count; ++i) {
    instance x;
    x.computed = computed;
    attention_args& a = x.a;
    a.batch = g.any(1, 2), a.kv_heads = g.any(1, 2), a.heads = a.kv_heads * g.any(1, 3);
    a.tq = g.chance(0.2) ? g.any(1, 3) : g.any(1, longest), a.tk = g.any(1, longest);
    a.dk = g.chance(0.3) ? 32 : g.any(1, 40), a.dv = g.chance(0.3) ? 32 : g.any(1, 40);
    choose_options(x, g);
    check(x);
  }
}

}  // namespace

TEST_CASE("all options at random, f32, f16 and bf16: short") { random_instances(1, f32, 160, 24); }
TEST_CASE("all options at random, f64: short") { random_instances(2, f64, 80, 24); }
TEST_CASE("all options at random, over several blocks") {
  random_instances(3, f32, 16, 300);
  random_instances(4, f64, 8, 300);
}
