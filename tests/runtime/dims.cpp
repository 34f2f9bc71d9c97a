// Dims under bindings: agreement with plain arithmetic, and what every wrong binding says.
#include <doctest/doctest.h>

#include <ropewalk/graph/bindings.hpp>

#include "build.hpp"

using namespace testing;

namespace {

const dim B{"B"}, T{"T"}, C{"C"};

// A random dim and its value, computed beside it in plain integers.
struct pair {
  dim d;
  std::int64_t v;
};
pair random_dim(std::mt19937& r, int depth, const std::int64_t (&value)[3]) {
  if (depth == 0 || r() % 4 == 0) {
    const dim names[3] = {B, T, C};
    if (const auto k = r() % 4; k < 3) return {names[k], value[k]};
    const auto n = static_cast<std::int64_t>(r() % 5 + 1);
    return {dim(n), n};
  }
  const pair a = random_dim(r, depth - 1, value), b = random_dim(r, depth - 1, value);
  switch (r() % 3) {
    case 0:
      return {a.d + b.d, a.v + b.v};
    case 1:
      return {a.d - b.d, a.v - b.v};
    default:
      return {a.d * b.d, a.v * b.v};
  }
}

}  // namespace

TEST_CASE("evaluate agrees with integer arithmetic") {
  std::mt19937 r(1);
  int tried = 0;
  for (int k = 0; k < 2000; ++k) {
    std::int64_t value[3];
    for (std::int64_t& v : value) v = r() % 50 + 1;
    const dim_binding bound[] = {{B, value[0]}, {T, value[1]}, {C, value[2]}};
    try {
      const pair p = random_dim(r, 2, value);
      CHECK(evaluate(p.d, bound) == p.v);
      CHECK(evaluate(p.d * 6 / 3, bound) == 2 * p.v);
      ++tried;
    } catch (const ropewalk::error& e) {
      CHECK(contains(e.what(), "at most"));  // too many terms, factors or characters
    }
  }
  CHECK(tried > 1500);
}

TEST_CASE("a quotient is exact as a whole") {
  const dim half = (T + 1) / 2;
  const dim_binding odd[] = {{T, 7}}, even[] = {{T, 8}};
  CHECK(evaluate(half, odd) == 4);
  CHECK(error_of([&] { evaluate(half, even); }) ==
        "[dim] T/2+1/2 = T = 8: must divide without remainder");
  const dim_binding both[] = {{T, 12}, {C, 5}};
  CHECK(error_of([&] { evaluate(T / C, both); }) ==
        "[dim] T/C = C = 5, T = 12: must divide without remainder");
}

TEST_CASE("evaluation faults") {
  const dim_binding t[] = {{T, 4}};
  CHECK(error_of([&] { evaluate(B * T, t); }) == "[dim] B*T = unbound: dim B has no value");
  CHECK(error_of([&] { evaluate_size(T - 4, t); }) ==
        "[dim] T-4 = 0: a size is at least 1 (T = 4)");
  const dim_binding huge[] = {{T, std::int64_t{1} << 40}};
  CHECK(error_of([&] { evaluate(T * T, huge); }) ==
        "[dim] T*T = T = 1099511627776: is beyond 64 bits");
  CHECK(error_of([&] { evaluate(T * T * dim("X"), huge); }) ==
        "[dim] T*T*X = T = 1099511627776, X = unbound: is beyond 64 bits");
}

TEST_CASE("check_bindings names the dim and the value") {
  builder b;
  b.output("y", b.tanh(b.input("x", {B, T, 8})));
  const auto said = [&](std::vector<dim_binding> d) {
    return error_of([&] { check_bindings(b.p, d); });
  };
  CHECK(symbols(b.p) == std::vector<std::string>{"B", "T"});
  CHECK(said({{B, 2}, {T, 3}}) == "");
  CHECK(said({{B, 2}, {T, 3}, {B, 2}}) == "");
  CHECK(said({{B, 0}, {T, 3}}) == "[program toy] dim B = 0: a size is at least 1");
  CHECK(said({{B, 2}, {T, -3}}) == "[program toy] dim T = -3: a size is at least 1");
  CHECK(said({{B, 2}, {T, 3}, {B, 4}}) == "[program toy] dim B = 4: is already bound to 2");
  CHECK(said({{B, 2}, {T, 3}, {C, 4}}) ==
        "[program toy] dim C = 4: the program's symbolic dims are B, T");
  CHECK(said({{B, 2}}) ==
        "[program toy] dim T = unbound: every symbolic dim of a program needs a value");
  CHECK(said({{B, 2}, {T, 3}, {dim("F", 4), 4}}) ==
        "[program toy] binding 3, of a dim fixed at 4 = 4: only a symbolic dim takes a value; the "
        "program's symbolic dims are B, T");
  builder half;
  half.output("y", half.tanh(half.input("x", {T / 2})));
  CHECK(error_of([&] { check_bindings(half.p, std::vector<dim_binding>{{T, 3}}); }) ==
        "[dim] T/2 = T = 3: must divide without remainder");
}
