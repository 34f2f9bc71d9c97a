// Learning-rate schedules against golden values, their laws, and their rules.
#include "ropewalk/train/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"
#include "ropewalk/io/safetensors.hpp"
#include "ropewalk/train/rng.hpp"

using namespace ropewalk;

TEST_CASE("golden rates, steps 0 to 19") {
  const std::pair<const char*, lr_schedule> cases[] = {
      {"constant", constant_rate(0.3)},
      {"warmup-cosine", warmup_cosine({.base = 0.3, .warmup = 4, .total = 18})},
      {"one-cycle", one_cycle({.max = 0.3, .total = 20, .pct_start = 0.3})},
      {"step", step_decay({.base = 0.3, .every = 6, .factor = 0.5})},
      {"exponential", exponential_decay(0.3, 0.9)},
  };
  for (const auto& [name, s] : cases) {
    tensor_file file("data/goldens/ops/lr_schedule-" + std::string(name) + ".safetensors");
    double expected[20];
    std::memcpy(expected, file.require("lr", f64, {20}).bytes.data(), sizeof expected);
    for (long t = 0; t < 20; ++t)
      CHECK_MESSAGE(std::abs(s.at(t) - expected[t]) < 0.3e-10, name, " step ", t);
  }
}

TEST_CASE("warm-up rises to base, decay never rises, ends at min and stays") {
  rng r(1);
  for (int round = 0; round < 200; ++round) {
    const long total = 2 + static_cast<long>(r.below(60));
    const warmup_options o{.base = r.uniform(),
                           .warmup = static_cast<long>(r.below(static_cast<unsigned>(total))),
                           .total = total,
                           .min_ratio = r.uniform()};
    const lr_schedule both[] = {warmup_cosine(o), warmup_linear(o)};
    for (const lr_schedule& s : both) {
      for (long t = 0; t < o.warmup; ++t)
        CHECK(s.at(t) == doctest::Approx(o.base * double(t) / double(o.warmup)));
      CHECK(s.at(o.warmup) == doctest::Approx(o.base));
      for (long t = o.warmup; t < o.total; ++t) CHECK(s.at(t + 1) <= s.at(t) * (1 + 1e-15));
      for (long t : {o.total, o.total + 1, 100 * o.total})
        CHECK(s.at(t) == doctest::Approx(o.base * o.min_ratio));
    }
    // Half way both decays stand half way between base and min.
    if ((o.total - o.warmup) % 2 == 0)
      for (const lr_schedule& s : both)
        CHECK(s.at((o.total + o.warmup) / 2) == doctest::Approx(o.base * (1 + o.min_ratio) / 2));
    // Linear: equal differences.
    for (long t = o.warmup; t + 2 <= o.total; ++t)
      CHECK(both[1].at(t) - both[1].at(t + 1) ==
            doctest::Approx(both[1].at(t + 1) - both[1].at(t + 2)).epsilon(1e-6));
  }
}

TEST_CASE("one cycle: highest at its top, both ends as given, flat beyond") {
  for (long total : {4l, 20l, 1000l})
    for (double pct : {0.25, 0.5}) {
      one_cycle s({.max = 2, .total = total, .pct_start = pct, .div = 10, .final_div = 100});
      const long top = static_cast<long>(pct * double(total)) - 1;
      CHECK(s.at(top) == doctest::Approx(2));
      if (top > 0) CHECK(s.at(0) == doctest::Approx(0.2));
      for (long t = 0; t < total; ++t) CHECK((t < top) == (s.at(t + 1) > s.at(t)));
      for (long t : {total - 1, total, 9 * total}) CHECK(s.at(t) == doctest::Approx(0.002));
    }
}

TEST_CASE("a schedule holds any, copies, and takes the user's own") {
  struct mine {
    double at(long t) const { return 1.0 / double(1 + t); }
  };
  lr_schedule s = mine{};
  lr_schedule copy = s;
  s = step_decay({.base = 1, .every = 2, .factor = 0.5});
  CHECK(copy.at(3) == 0.25);
  CHECK(s.at(5) == 0.25);
  s = copy;
  CHECK(s.at(1) == 0.5);
}

TEST_CASE("each broken rule is an error that says which") {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  auto cosine = [](warmup_options o) { return message_of([&] { warmup_cosine{o}; }); };
  auto linear = [](warmup_options o) { return message_of([&] { warmup_linear{o}; }); };
  auto steps = [](step_options o) { return message_of([&] { step_decay{o}; }); };
  auto cycle = [](one_cycle_options o) { return message_of([&] { one_cycle{o}; }); };
  const std::pair<std::string, std::string> cases[] = {
      {message_of([&] { constant_rate(-1); }), "[constant_rate] base = -1: must be finite"},
      {message_of([&] { constant_rate{nan}; }), "[constant_rate] base = "},
      {message_of([&] { constant_rate{inf}; }), "[constant_rate] base = inf"},
      {message_of([&] { constant_rate(1).at(-1); }), "step = -1: must not be negative"},
      {cosine({.base = -1, .total = 9}), "[warmup_cosine] base = -1"},
      {cosine({.base = 1}), "total = 0: must be at least 1"},
      {cosine({.base = 1, .warmup = -1, .total = 9}), "warmup = -1: must not be negative"},
      {linear({.base = 1, .warmup = 9, .total = 9}), "[warmup_linear] warmup = 9: must be below"},
      {linear({.base = 1, .warmup = 10, .total = 9}), "must be below total, 9"},
      {linear({.base = 1, .total = 9, .min_ratio = 1.5}), "min_ratio = 1.5: must be in [0, 1]"},
      {linear({.base = 1, .total = 9, .min_ratio = nan}), "min_ratio = "},
      {message_of([&] { warmup_linear({.base = 1, .total = 9}).at(-3); }), "step = -3"},
      {steps({.base = 1, .every = 0}), "[step_decay] every = 0"},
      {steps({.base = nan}), "base = "},
      {steps({.base = 1, .factor = 0}), "factor = 0: must be in (0, 1]"},
      {message_of([&] { exponential_decay(1, 1.5); }), "[exponential_decay] factor = 1.5"},
      {message_of([&] { exponential_decay(-1, 0.5); }), "base = -1"},
      {cycle({.max = 1, .total = 1}), "[one_cycle] total = 1"},
      {cycle({.max = 1, .total = 9, .pct_start = 1}), "pct_start = 1: must be in (0, 1)"},
      {cycle({.max = 1, .total = 9, .pct_start = 0.1}), "times total must be at least 1"},
      {cycle({.max = 1, .total = 9, .div = 0.5}), "div = 0.5"},
      {cycle({.max = 1, .total = 9, .final_div = nan}), "final_div = "},
      {cycle({.max = nan, .total = 9}), "max = "},
  };
  for (const auto& [message, expected] : cases)
    CHECK_MESSAGE(has(message, expected), message, " / ", expected);
}
