// Laws of the attention kernels' options: decoding, caches, conversions, memory, refusals.
#include <doctest/doctest.h>

#include <algorithm>

#include <ropewalk/core/error.hpp>

#include "attention_case.hpp"

using namespace attention_case;

namespace {

pool& threads() {
  static pool p(2);
  return p;
}

instance sized(generator& g, long heads, long kv_heads, long tq, long tk, long d, dtype kv = f32) {
  instance x;
  x.a.batch = 1, x.a.heads = heads, x.a.kv_heads = kv_heads, x.a.tq = tq, x.a.tk = tk;
  x.a.dk = x.a.dv = d;
  x.a.scale = 1 / std::sqrt(double(d));
  x.fill(g, f32, kv);
  return x;
}

// Products of q and k that f32 holds exactly in whatever order they are summed, and values that do
// not cancel: what is left are the errors of splitting and of summing.
void make_exact(instance& x, generator& g) {
  x.a.scale = 0.125;
  for (tensor* t : {&x.q, &x.k}) t->fill([&] { return double(g.any(-8, 8)) / 4; });
  x.v.fill([&] { return g.real(0.5, 1.5); });
}

void forward(instance& x, isa set) {
  x.bind();
  std::vector<std::byte> room(attention_forward_workspace(2, set, x.type, x.a));
  attention_forward(threads(), set, x.type, x.a, room);
}

// The same instance with q, mask, sinks … of the same values in f64.
instance in_f64(instance& x, generator& g) {
  instance y = x;
  y.type = y.computed = f64;
  for (tensor instance::* t :
       {&instance::q, &instance::k, &instance::v, &instance::out, &instance::lse, &instance::mask,
        &instance::slopes, &instance::sinks}) {
    tensor &from = x.*t, &to = y.*t;
    if (from.bytes.empty()) continue;
    to = tensor(g, f64, from.extent[0], from.extent[1], from.extent[2], from.extent[3], false);
    for (int i = 0; i < 4; ++i)
      if (from.stride[i] == 0) to.stride[i] = 0;
    for (long b = 0; b < to.extent[0]; ++b)
      for (long h = 0; h < to.extent[1]; ++h)
        for (long r = 0; r < to.extent[2]; ++r)
          for (long c = 0; c < to.extent[3]; ++c) to.set(b, h, r, c, from.get(b, h, r, c));
  }
  y.a.kv_type = f64;
  return y;
}

// The largest difference of a row of `out`, in units in the last place of an f32 in [1, 2): where
// the values of v lie.
double ulp_between(instance& x, long h, long j, instance& y, long other_h, long other_j) {
  double worst = 0;
  for (long d = 0; d < x.a.dv; ++d) {
    const double off = std::abs(x.out.get(0, h, j, d) - y.out.get(0, other_h, other_j, d));
    worst = std::isnan(off) ? HUGE_VAL : std::max(worst, off / 0x1p-23);
  }
  return worst;
}

// The option sets of the laws below.
enum class mixed { plain, capped, masked, windowed, sinks, distance, all };
void set_options(instance& x, generator& g, mixed m) {
  const bool all = m == mixed::all;
  x.a.causal = true;
  if (m == mixed::capped || all) x.a.soft_cap = 3;
  if (m == mixed::masked) x.with_mask(g, f16, true, false, false, true, true);
  if (m == mixed::windowed || all) x.a.window = 70;
  if (m == mixed::sinks || all) x.with_sinks(g);
  if (m == mixed::distance || all) {
    x.a.distance_bias = true;
    x.with_slopes(g);
    x.slopes.fill([&] { return g.real(0.001, 0.1); });
  }
}
constexpr mixed every[] = {mixed::plain, mixed::capped,   mixed::masked, mixed::windowed,
                           mixed::sinks, mixed::distance, mixed::all};

}  // namespace

TEST_CASE("decoding split over the keys loses at most 2 ulp more than the unsplit attention") {
  generator g{std::mt19937(21)};
  for (const isa set : supported_isas())
    for (const mixed m : every)
      for (const dtype kv : {f32, f16, bf16}) {
        instance x = sized(g, 1, 1, 1, 1900, 32, kv);
        make_exact(x, g);
        set_options(x, g, m);
        // 17 equal heads of one key head are too many rows to be split.
        instance y = x;
        y.a.heads = 17;
        y.q = tensor(g, f32, 1, 17, 1, 32), y.out = y.q, y.lse = tensor(g, f32, 1, 17, 1, 1);
        for (long h = 0; h < 17; ++h)
          for (long d = 0; d < 32; ++d) y.q.set(0, h, 0, d, x.q.get(0, 0, 0, d));
        for (tensor instance::* t : {&instance::slopes, &instance::sinks})
          if (!(x.*t).bytes.empty()) {
            y.*t = tensor(g, f32, 1, 1, 1, 17, false);
            (y.*t).fill([&] { return (x.*t).get(0, 0, 0, 0); });
          }
        instance z = in_f64(x, g);
        forward(x, set), forward(y, set), forward(z, set);
        CAPTURE(std::string(isa_name(set)));
        CAPTURE(x.text());
        const double split = ulp_between(x, 0, 0, z, 0, 0), unsplit = ulp_between(y, 0, 0, z, 0, 0);
        CHECK(split <= unsplit + 2);
        CHECK(split <= 6);
        CHECK(ulp_between(y, 0, 0, y, 16, 0) == 0);
        CHECK(std::abs(x.lse.get(0, 0, 0, 0) - y.lse.get(0, 0, 0, 0)) <=
              0x1p-22 * std::max(1.0, std::abs(y.lse.get(0, 0, 0, 0))));
      }
}

TEST_CASE("a prompt in chunks or token by token is the prompt at once; unused slots hold NaN") {
  generator g{std::mt19937(22)};
  constexpr long prompt = 150, slots = 400;
  for (const isa set : supported_isas())
    for (const mixed m : every) {
      if (m == mixed::masked) continue;  // its rows would have to be cut too
      instance whole = sized(g, 4, 2, prompt, slots, 32, f16);
      make_exact(whole, g);
      set_options(whole, g, m);
      whole.start = {0};
      whole.poison();
      instance exact_whole = in_f64(whole, g);
      forward(whole, set), forward(exact_whole, set);
      double loss = 0;
      for (long h = 0; h < 4; ++h)
        for (long j = 0; j < prompt; ++j)
          loss = std::max(loss, ulp_between(whole, h, j, exact_whole, h, j));
      for (const long chunk : {1l, 3l, 37l, 64l}) {
        double worst = 0;
        for (long first = 0, rows; first < prompt; first += rows) {
          rows = std::min(chunk, prompt - first);
          instance part = whole;
          part.a.tq = rows;
          part.start = {std::int32_t(first)};
          part.q = tensor(g, f32, 1, 4, rows, 32), part.out = part.q;
          part.lse = tensor(g, f32, 1, 4, rows, 1);
          for (long h = 0; h < 4; ++h)
            for (long j = 0; j < rows; ++j)
              for (long d = 0; d < 32; ++d) part.q.set(0, h, j, d, whole.q.get(0, h, first + j, d));
          forward(part, set);
          for (long h = 0; h < 4; ++h)
            for (long j = 0; j < rows; ++j)
              worst = std::max(worst, ulp_between(part, h, j, exact_whole, h, first + j));
        }
        CAPTURE(std::string(isa_name(set)));
        CAPTURE(whole.text());
        CAPTURE(chunk);
        CHECK(worst <= loss + 2);
        CHECK(worst <= 8);
      }
    }
}

TEST_CASE("what nobody sees changes no bit of any result") {
  generator g{std::mt19937(23)};
  for (const isa set : supported_isas())
    for (const long tq : {2l, 130l})
      for (int round = 0; round < 6; ++round) {
        instance x = sized(g, 4, 2, tq, 300, 40);
        x.a.causal = round % 2 == 0;
        x.lengths = {std::int32_t(g.any(1, 299))};
        if (round >= 2) x.a.window = g.any(1, 200);
        if (round >= 4) x.with_mask(g, f32, false, false, false, true, true);
        instance y = x;
        y.poison();
        x.run(threads(), set), y.run(threads(), set);
        CAPTURE(x.text());
        CHECK(x.same_results(y));
      }
}

TEST_CASE("a window as wide as the sequence is causal; one document is none") {
  generator g{std::mt19937(24)};
  for (const isa set : supported_isas()) {
    instance x = sized(g, 2, 1, 140, 140, 16);
    x.a.causal = true;
    instance wide = x, one = x;
    wide.a.window = 140;
    one.documents = {0, 140};
    x.run(threads(), set), wide.run(threads(), set), one.run(threads(), set);
    CHECK(x.same_results(wide));
    CHECK(x.same_results(one));
  }
}

TEST_CASE("packed documents are the documents alone") {
  generator g{std::mt19937(25)};
  for (const isa set : supported_isas()) {
    instance packed = sized(g, 2, 1, 260, 260, 24);
    packed.a.causal = true;
    packed.documents = {0, 40, 40, 197, 260};
    packed.run(threads(), set);
    for (size_t d = 0; d + 1 < packed.documents.size(); ++d) {
      const long first = packed.documents[d], rows = packed.documents[d + 1] - first;
      if (rows == 0) continue;
      instance one = sized(g, 2, 1, rows, rows, 24);
      one.a.causal = true;
      for (tensor instance::* t : {&instance::q, &instance::k, &instance::v, &instance::d_out})
        for (long h = 0; h < (one.*t).extent[1]; ++h)
          for (long j = 0; j < rows; ++j)
            for (long c = 0; c < 24; ++c)
              (one.*t).set(0, h, j, c, (packed.*t).get(0, h, first + j, c));
      one.run(threads(), set);
      double worst = 0;
      for (tensor instance::* t : {&instance::out, &instance::d_q, &instance::d_k, &instance::d_v})
        for (long h = 0; h < (one.*t).extent[1]; ++h)
          for (long j = 0; j < rows; ++j)
            for (long c = 0; c < 24; ++c)
              worst = std::max(
                  worst, std::abs((one.*t).get(0, h, j, c) - (packed.*t).get(0, h, first + j, c)));
      CHECK(worst <= 4e-6);
    }
  }
}

TEST_CASE("documents that do not ascend are read within bounds") {
  generator g{std::mt19937(26)};
  for (const isa set : supported_isas())
    for (int round = 0; round < 20; ++round) {
      instance x = sized(g, 2, 1, round % 2 == 0 ? 150 : 3, 200, 16);
      for (long i = g.any(1, 6); i >= 0; --i) x.documents.push_back(std::int32_t(g.any(-300, 500)));
      x.a.causal = g.chance(0.5);
      x.run(threads(), set);
      bool finite = true;
      for (long h = 0; h < 2; ++h)
        for (long j = 0; j < x.a.tq; ++j) finite = finite && std::isfinite(x.out.get(0, h, j, 5));
      for (long n = 0; n < 200; ++n) finite = finite && std::isfinite(x.d_k.get(0, 0, n, 5));
      CHECK(finite);
    }
}

TEST_CASE("f16 and bf16 are read exactly, every value, and rounded to nearest even") {
  generator g{std::mt19937(27)};
  for (const isa set : supported_isas())
    for (const dtype half : {f16, bf16})
      for (const long copies : {1l, 9l}) {  // 9 rows of 2 heads: not split
        // One key: out is its value.
        instance x;
        x.a.batch = 256, x.a.heads = 2, x.a.kv_heads = 1, x.a.tq = copies, x.a.tk = 1;
        x.a.dk = 1, x.a.dv = 256;
        x.fill(g, f32, half);
        for (long b = 0; b < 256; ++b)
          for (long d = 0; d < 256; ++d) {
            const auto bits = static_cast<std::uint16_t>(b * 256 + d);
            std::memcpy(x.v.at(b, 0, 0, d), &bits, 2);
          }
        forward(x, set);
        long wrong = 0;
        for (long b = 0; b < 256; ++b)
          for (long d = 0; d < 256; ++d) {
            const double want = x.v.get(b, 0, 0, d), got = x.out.get(b, 1, copies - 1, d);
            // Blocks of a value that is not finite are read by exact_row: inf and NaN stay.
            wrong += std::isnan(want) ? !std::isnan(got) : got != want;
          }
        CHECK(wrong == 0);
        // Values between two of the half type, and beyond it.
        instance y;
        y.a = x.a;
        y.fill(g, half, f32);
        y.v.fill([&] {
          const double m = g.chance(0.3) ? 1 + double(g.any(0, 4095)) / 4096 : g.real(1, 2);
          return (g.chance(0.5) ? -1 : 1) * std::ldexp(m, int(g.any(-28, 16)));
        });
        forward(y, set);
        std::byte room[2];
        for (long b = wrong = 0; b < 256; ++b)
          for (long d = 0; d < 256; ++d) {
            write_element(half, y.v.get(b, 0, 0, d), room);
            wrong += std::memcmp(room, y.out.at(b, 1, copies - 1, d), 2) != 0;
          }
        CHECK(wrong == 0);
      }
}

TEST_CASE("the soft cap is L tanh(s / L) within 4 ulp") {
  generator g{std::mt19937(28)};
  for (const isa set : supported_isas())
    for (const dtype type : {f32, f64}) {
      instance x;
      x.a.batch = 1, x.a.heads = x.a.kv_heads = 1, x.a.tq = 20000, x.a.tk = 1;
      x.a.dk = x.a.dv = 1, x.a.scale = 1, x.a.soft_cap = 0.5;
      x.fill(g, type, type);
      x.k.set(0, 0, 0, 0, 1);
      x.q.fill([&] { return (g.chance(0.5) ? -1 : 1) * std::exp(g.real(-20, 4)); });
      forward(x, set);  // one key: lse is its score
      double worst = 0;
      for (long j = 0; j < x.a.tq; ++j) {
        const long double want =
            0.5l * std::tanh(2 * static_cast<long double>(x.q.get(0, 0, j, 0)));
        const auto got = static_cast<long double>(x.lse.get(0, 0, j, 0));
        worst = std::max(worst, static_cast<double>(std::abs((got - want) / want)));
      }
      CHECK(worst / (2 * rounding(type)) <= 4);
    }
}

TEST_CASE("memory is linear: forward and backward at T = 512 to 16384, one head of 64") {
  for (const isa set : supported_isas())
    for (const int workers : {1, 2}) {
      std::vector<double> bytes;
      for (long t = 512; t <= 16384; t *= 2) {
        attention_args a;
        a.tq = a.tk = t, a.dk = a.dv = 64;
        a.causal = true;
        bytes.push_back(double(attention_forward_workspace(workers, set, f32, a) +
                               attention_backward_workspace(workers, set, f32, a)));
      }
      MESSAGE(std::string(isa_name(set))
              << ", " << workers << " threads, T 16384: " << bytes.back() << " bytes, "
              << bytes.back() / (16384.0 * 64) << " a value of q");
      CHECK(bytes.back() <= 20.0 * 16384 * 64);
      for (size_t i = 2; i < bytes.size(); ++i)  // each doubling adds twice what the last one did
        CHECK(bytes[i] - bytes[i - 1] <= 2.05 * (bytes[i - 1] - bytes[i - 2]));
    }
}

TEST_CASE("without queries the gradients of keys are 0; without keys, all of the queries'") {
  generator g{std::mt19937(30)};
  for (const isa set : supported_isas()) {
    instance x = sized(g, 2, 1, 0, 150, 16), y = sized(g, 2, 1, 130, 0, 16);
    x.ask_all(g, true, true, true, true), y.with_sinks(g), y.ask_all(g, true, true, true, true);
    x.run(threads(), set), y.run(threads(), set);
    long wrong = 0;
    for (long n = 0; n < 150; ++n)
      for (long d = 0; d < 16; ++d)
        wrong += x.d_k.get(0, 0, n, d) != 0 || x.d_v.get(0, 0, n, d) != 0;
    for (long h = 0; h < 2; ++h)
      for (long j = 0; j < 130; ++j) {
        wrong += y.lse.get(0, h, j, 0) != y.sinks.get(0, 0, 0, h);
        for (long d = 0; d < 16; ++d)
          wrong += y.out.get(0, h, j, d) != 0 || y.d_q.get(0, h, j, d) != 0;
      }
    CHECK(wrong == 0);
    CHECK(x.d_scale.get(0, 0, 0, 0) == 0);
    CHECK(y.d_sinks.get(0, 0, 0, 1) == 0);
  }
}

TEST_CASE("what cannot be is refused by name") {
  generator g{std::mt19937(29)};
  instance x = sized(g, 2, 1, 4, 6, 8);
  x.bind();
  const auto refused = [&](auto change, const char* message) {
    instance y = x;
    y.bind();
    change(y.a);
    std::vector<std::byte> room(1 << 24);
    std::string said;
    try {
      attention_backward(threads(), isa::portable, f32, y.a, room);
    } catch (const error& e) {
      said = e.what();
    }
    CHECK(said == "[attention] " + std::string(message));
  };
  using args = attention_args&;
  refused([](args a) { a.window = -1; }, "window = -1: must be at least 0");
  refused([](args a) { a.soft_cap = -2; },
          "soft_cap = -2: must be 0 (none), or from 1e-30 to 1e30");
  refused([](args a) { a.soft_cap = HUGE_VAL; },
          "soft_cap = inf: must be 0 (none), or from 1e-30 to 1e30");
  refused([](args a) { a.soft_cap = std::nan(""); },
          "soft_cap = nan: must be 0 (none), or from 1e-30 to 1e30");
  refused([](args a) { a.scale = std::nan(""); }, "scale = nan: must be finite");
  refused([](args a) { a.dropout = 1; }, "dropout = 1: must be at least 0 and below 1");
  refused([](args a) { a.dropout = -0.5; }, "dropout = -0.5: must be at least 0 and below 1");
  static const std::int32_t minus[] = {-1}, seven[] = {7}, three[] = {3};
  refused([](args a) { a.lengths = minus; }, "lengths[0] = -1: must be from 0 to 6");
  refused([](args a) { a.lengths = seven; }, "lengths[0] = 7: must be from 0 to 6");
  refused([](args a) { a.start = minus; }, "start[0] = -1: must be from 0 to 2");
  refused([](args a) { a.start = three; }, "start[0] = 3: must be from 0 to 2");
  refused([](args a) { a.start = three, a.tq = 7; }, "tq = 7: must be at most 6");
  refused([](args a) { a.document_count = -1; }, "document_count = -1: must be at least 0");
  refused([](args a) { a.q.data = nullptr; }, "q = null: must be given");
  refused([](args a) { a.k.data = nullptr; }, "k = null: must be given");
  refused([](args a) { a.lse.data = nullptr; }, "lse = null: must be given");
  refused([](args a) { a.d_v.data = nullptr; }, "d_v = null: must be given");
  refused([](args a) { a.kv_type = i32; },
          "kv_type = i32: must be f32, f16 or bf16 where q is not f64");
  refused([](args a) { a.kv_type = f64; },
          "kv_type = f64: must be f32, f16 or bf16 where q is not f64");
  refused([](args a) { a.mask.data = a.q.data, a.mask.type = i32; },
          "mask.type = i32: must be f32, f16, bf16, or f64 where q is f64");
  refused([](args a) { a.mask.data = a.q.data, a.distance_bias = true; },
          "distance_bias = true: is a mask of its own: give one of both");
  refused([](args a) { a.d_mask.data = a.d_q.data; },
          "mask = null: must be given where d_mask is asked for");
  refused([](args a) { a.mask.data = a.q.data, a.d_mask.data = a.d_q.data, a.d_mask.type = f16; },
          "d_mask.type = f16: must be the type computed in");
  refused([](args a) { a.d_sinks = a.d_q.data; },
          "sinks = null: must be given where d_sinks are asked for");
  refused([](args a) { a.rope.width = 3; }, "rope.width = 3: must be even");
  refused([](args a) { a.rope.width = 4, a.rope.offset = 6; },
          "rope.offset + width = 10: must be at most 8");
  refused([](args a) { a.rope.width = 4; }, "rope.cosine = null: must be given with a width");
  refused([](args a) { a.rope.cosine = a.q.data; },
          "rope.width = 0: must not be 0 where tables are given");
  refused([](args a) { a.rope.width = 4, a.rope.cosine = a.rope.sine = a.q.data, a.tq = 7; },
          "tq = 7: must be at most 6");
  CHECK_THROWS_WITH_AS(attention_forward_workspace(1, isa::portable, i32, x.a),
                       "[attention] dtype = i32: q must be f64, f32, f16 or bf16", error);
}
