// Parameters: how they start, that it depends on seed and path alone, and the store's faults.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <thread>

#include <ropewalk/runtime/parameters.hpp>
#include <ropewalk/runtime/pool.hpp>

#include "build.hpp"

using namespace testing;

namespace {

graph_node leaf(const std::string& path, initializer i, const op_info& kind = param_info,
                dtype d = f32) {
  return {&kind, detail::leaf_attrs(i), {d, {}}, {}, path};
}

std::vector<double> start(parameter_store& s, const std::string& path, initializer i,
                          std::int64_t n, pool& threads) {
  const std::int64_t extent[] = {n};
  return s.require(leaf(path, i), extent, threads).values();
}

}  // namespace

TEST_CASE("a start depends on seed and path, not on order, threads or size") {
  pool one(1), three(3);
  parameter_store a(7), b(7), c(8);
  const initializer normal = init_normal(0.02), uniform = init_uniform(-1, 1);
  const auto w = start(a, "w", normal, 50000, one), u = start(a, "u", uniform, 50000, one);
  CHECK(start(b, "u", uniform, 50000, three) == u);
  CHECK(start(b, "w", normal, 50000, three) == w);
  CHECK(start(c, "w", normal, 50000, one) != w);
  CHECK(start(a, "w2", normal, 50000, one) != w);
  parameter_store small(7);
  const auto head = start(small, "w", normal, 100, one);
  CHECK(head == std::vector<double>(w.begin(), w.begin() + 100));
  c.reset(7, three);
  CHECK(c.at("w").values() == w);
  CHECK(c.seed() == 7);
}

TEST_CASE(
    "values are drawn when they are first read, in whatever order, and not where they are set") {
  pool two(2);
  const initializer normal = init_normal(0.5);
  const std::int64_t extent[] = {40000};
  parameter_store eager(3);
  std::map<std::string, std::vector<double>> want;
  for (const char* path : {"a", "b", "c"}) want[path] = start(eager, path, normal, 40000, two);
  for (int way = 0; way < 3; ++way) {
    parameter_store lazy(3);
    for (const char* path : {"c", "a", "b"}) lazy.reserve(leaf(path, normal), extent);
    const std::vector<float> given(40000, 7.0f);
    if (way == 1) CHECK(lazy.at("b").values() == want.at("b"));
    if (way == 2) {
      CHECK(contains(error_of([&] { lazy.set("b", std::vector<float>(3)); }), "elements = 3"));
      lazy.set("b", given);
    }
    const void* before = lazy.reserve(leaf("a", normal), extent).ref().data;
    lazy.draw(two);
    lazy.draw(two);
    CHECK(lazy.at("a").ref().data == before);
    CHECK(lazy.at("a").values() == want.at("a"));
    CHECK(lazy.at("c").values() == want.at("c"));
    CHECK((lazy.at("b").values() == want.at("b")) == (way < 2));
    if (way == 2) CHECK(lazy.at("b").values() == std::vector<double>(given.begin(), given.end()));
    lazy.reset(4, two);
    CHECK(lazy.at("b").values() != want.at("b"));
    lazy.reset(3, two);
    CHECK(lazy.at("b").values() == want.at("b"));
  }
}

TEST_CASE("sessions that run side by side draw once") {
  parameter_store s(5), alone(5);
  pool one(1);
  const std::int64_t extent[] = {100000};
  for (const char* path : {"a", "b", "c", "d"}) s.reserve(leaf(path, init_normal(1)), extent);
  std::thread other([&] {
    pool own(1);
    s.draw(own);
    CHECK(s.at("d").values() == start(alone, "d", init_normal(1), 100000, own));
  });
  s.draw(one);
  const std::vector<double> a = s.at("a").values();
  other.join();
  CHECK(a == start(alone, "a", init_normal(1), 100000, one));
}

TEST_CASE("the distributions are what they say") {
  pool two(2);
  parameter_store s(1);
  const std::int64_t n = 200000;
  const auto moments = [&](const std::vector<double>& v) {
    double mean = 0, square = 0;
    for (const double x : v) mean += x / n;
    for (const double x : v) square += (x - mean) * (x - mean) / n;
    return std::pair(mean, std::sqrt(square));
  };
  const auto [nm, ns] = moments(start(s, "n", init_normal(0.5, 2), n, two));
  CHECK(std::fabs(nm - 2) < 5 * 0.5 / std::sqrt(n));
  CHECK(std::fabs(ns - 0.5) < 5 * 0.5 / std::sqrt(2.0 * n));
  const auto u = start(s, "u", init_uniform(-3, 1), n, two);
  const auto [um, us] = moments(u);
  CHECK(std::fabs(um + 1) < 5 * 4 / std::sqrt(12.0 * n));
  CHECK(std::fabs(us - 4 / std::sqrt(12.0)) < 0.01);
  for (const double x : u) REQUIRE((x >= -3 && x <= 1));
  CHECK(start(s, "z", init_zeros(), 5, two) == std::vector<double>(5, 0.0));
  CHECK(start(s, "o", init_ones(), 5, two) == std::vector<double>(5, 1.0));
  CHECK(start(s, "c", init_constant(0.25), 5, two) == std::vector<double>(5, 0.25));
}

TEST_CASE("entries and faults") {
  pool one(1);
  parameter_store s;
  const std::int64_t extent[] = {2, 3}, other[] = {6};
  CHECK(error_of([&] { s.at("w"); }) == "[parameters] path = w: the store is empty");
  s.require(leaf("h.0.attn.weight", init_normal(1)), extent, one);
  s.require(leaf("h.0.attn.scale", frozen(init_ones())), other, one);
  s.require(leaf("step", init_zeros(), state_info, i32), {}, one);
  CHECK(error_of([&] { s.at("h.0.atn.weight"); }) ==
        "[parameters] path = h.0.atn.weight: is not there; the nearest is h.0.attn.weight");
  CHECK(error_of([&] { s.require(leaf("h.0.attn.weight", init_zeros()), other, one); }) ==
        "[parameters] param h.0.attn.weight = f32[6]: another session has it as param f32[2, 3]");
  CHECK(error_of([&] { s.require(leaf("step", init_zeros(), param_info, i32), {}, one); }) ==
        "[parameters] param step = i32[]: another session has it as state i32[]");
  CHECK(contains(
      error_of([&] { s.require(leaf("bad", {static_cast<initializer::kind_t>(9)}), other, one); }),
      "[bad] initializer = 9"));
  CHECK(!s.has("bad"));
  CHECK(contains(error_of([&] { s.set("step", std::vector<float>(1)); }), "[step] element type"));
  s.set("step", std::vector<std::int32_t>{41});
  CHECK(s.at("step").item() == 41);
  const auto e = s.entries();
  REQUIRE(e.size() == 3);
  CHECK((e[0].path == "h.0.attn.scale" && !e[0].state && !e[0].trainable));
  CHECK((e[1].path == "h.0.attn.weight" && !e[1].state && e[1].trainable));
  CHECK(e[1].extent == std::vector<std::int64_t>{2, 3});
  CHECK((e[1].type == f32 && e[2].type == i32 && e[2].extent.empty()));
  CHECK(contains(error_of([&] {
                   const std::int64_t wide[] = {std::int64_t{1} << 40, std::int64_t{1} << 22};
                   s.reserve(leaf("wide", init_zeros()), wide);
                 }),
                 "more than 2^63 bytes"));
  CHECK((e[2].path == "step" && e[2].state && !e[2].trainable));
}
