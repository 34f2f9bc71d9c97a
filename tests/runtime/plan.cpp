// The memory plan: laws over random schedules, and its faults.
#include <doctest/doctest.h>

#include <ropewalk/graph/plan.hpp>

#include "build.hpp"

using namespace testing;

namespace {

const dim B{"B"};
void no_kernel(const kernel_call&) {}
const op_info some{.name = "some", .kind = op_class::kernel, .kernel = no_kernel};

view whole(int b, dim n) {
  view v;
  v.buffer = b;
  v.rank = 1;
  v.extent[0] = n;
  v.stride[0] = 1;
  return v;
}

// A chain of steps, each writing a new buffer (sometimes again into the one it reads) from up to
// three earlier ones.
schedule random_schedule(std::mt19937& r) {
  schedule s;
  const dtype types[] = {f32, f64, u8, bf16};
  s.buffers.push_back({buffer_kind::param, f32, 100, "w", -1});
  const int steps = static_cast<int>(r() % 40 + 1);
  for (int k = 0; k < steps; ++k) {
    step x;
    const auto n = static_cast<int>(s.buffers.size());
    for (unsigned i = r() % 4; i-- > 0;) {
      const int near = n - 1 - static_cast<int>(r() % 6);
      x.buffers.push_back(near < 0 ? 0 : near);
    }
    const bool in_place = r() % 8 == 0 && !x.buffers.empty() && x.buffers[0] != 0;
    if (in_place) {
      x.writes = {x.buffers[0]};
    } else {
      s.buffers.push_back({buffer_kind::temporary, types[r() % 4], (r() % 300 + 1) * B, "", k});
      x.buffers.push_back(n);
      x.writes = {n};
    }
    s.steps.push_back(x);
  }
  const int last = static_cast<int>(s.buffers.size()) - 1;
  if (last > 0) s.outputs.push_back({"y", {f32, {1}}, whole(last, 1)});
  return s;
}

}  // namespace

TEST_CASE("no two live blocks overlap, and the arena is no smaller than the live set") {
  std::mt19937 r(4);
  double worst = 1, total = 0;
  const int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    const schedule s = random_schedule(r);
    std::vector<std::size_t> workspace(s.steps.size());
    for (std::size_t& w : workspace) w = r() % 3 == 0 ? r() % 2000 : 0;
    const dim_binding bound[] = {{B, static_cast<std::int64_t>(r() % 4 + 1)}};
    const plan p = make_plan(s, bound, workspace);
    for (std::size_t a = 0; a < p.blocks.size(); ++a) {
      const arena_block& x = p.blocks[a];
      CHECK(x.offset % arena_alignment == 0);
      CHECK(x.offset + x.bytes <= p.arena_bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const arena_block& y = p.blocks[b];
        if (x.first > y.last || y.first > x.last) continue;
        CHECK((x.offset + x.bytes <= y.offset || y.offset + y.bytes <= x.offset));
      }
    }
    // Lifetimes, by what the steps touch.
    for (std::size_t k = 0; k < s.steps.size(); ++k) {
      for (const int b : s.steps[k].buffers) {
        const int block = p.buffer_block[static_cast<std::size_t>(b)];
        CHECK((block < 0) == (s.buffers[static_cast<std::size_t>(b)].kind == buffer_kind::param));
        if (block < 0) continue;
        CHECK(p.blocks[static_cast<std::size_t>(block)].first <= static_cast<int>(k));
        CHECK(p.blocks[static_cast<std::size_t>(block)].last >= static_cast<int>(k));
      }
      CHECK((p.workspace_block[k] >= 0) == (workspace[k] > 0));
    }
    if (!s.outputs.empty()) {
      const int block = p.buffer_block[static_cast<std::size_t>(s.outputs[0].where.buffer)];
      CHECK(p.blocks[static_cast<std::size_t>(block)].last == static_cast<int>(s.steps.size()));
    }
    CHECK(p.arena_bytes >= p.live_bytes);
    if (p.live_bytes == 0) continue;
    const double ratio = static_cast<double>(p.arena_bytes) / static_cast<double>(p.live_bytes);
    total += ratio;
    worst = std::max(worst, ratio);
  }
  MESSAGE("arena / live set: mean " << total / rounds << ", worst " << worst);
  CHECK(total / rounds < 1.05);
}

TEST_CASE("a chain of equal buffers takes two places") {
  schedule s;
  for (int k = 0; k < 10; ++k) {
    s.buffers.push_back({buffer_kind::temporary, f32, B, "", k});
    step x;
    x.buffers = k > 0 ? std::vector<int>{k - 1, k} : std::vector<int>{k};
    x.writes = {k};
    s.steps.push_back(x);
  }
  const dim_binding bound[] = {{B, 16}};
  const plan p = make_plan(s, bound, std::vector<std::size_t>(10));
  CHECK(p.arena_bytes == 128);
  CHECK(p.live_bytes == 128);
  CHECK(contains(print(p, s), "arena 128 bytes, largest live set 128, leaves 0\n"));
  CHECK(contains(print(p, s), " 64 3-4 buffer 3 f32[16] of %3\n"));
}

TEST_CASE("plan faults") {
  schedule s;
  s.buffers = {{buffer_kind::input, f32, 8, "x", 0}, {buffer_kind::temporary, f32, 8, "", 1}};
  const std::vector<std::size_t> none(1);
  const auto said = [&](step x) {
    s.steps = {std::move(x)};
    return error_of([&] { make_plan(s, {}, none); });
  };
  const auto kernel = [&](std::vector<view> in, std::vector<view> out) {
    step x;
    x.what = step::kind::kernel;
    x.op = &some;
    x.in = std::move(in);
    x.out = std::move(out);
    return said(x);
  };
  step x;
  x.buffers = {0, 1};
  x.writes = {1};
  CHECK(said(x) == "");
  x.writes = {};
  CHECK(said(x) == "[plan: step 0] buffer = 1: is read before any step writes it");
  x.writes = {0};
  x.buffers = {0};
  CHECK(said(x) == "[plan: step 0] write of buffer = 0: is the input x");
  x.writes = {1};
  CHECK(said(x) == "[plan: step 0] write of buffer = 1: is not among its operands");
  x.buffers = {7};
  CHECK(contains(said(x), "buffer = 7: is not in the schedule"));
  CHECK(kernel({whole(0, 8)}, {whole(1, 8)}) == "");
  CHECK(kernel({whole(0, 8)}, {whole(1, 9)}) ==
        "[plan: step 0] result 0 of some = elements 0 to 8: buffer 1 has 8");
  view back = whole(0, 4);
  back.stride[0] = -1;
  back.offset = 2;
  CHECK(kernel({back}, {whole(1, 8)}) ==
        "[plan: step 0] input 0 of some = elements -1 to 2: buffer 0 has 8");
  back.offset = 3;
  CHECK(kernel({back}, {whole(1, 8), view{}}) == "");
  CHECK(error_of([&] { make_plan(s, {}, {}); }) ==
        "[plan] workspace = 0 sizes: one for each of the 1 steps");
}
