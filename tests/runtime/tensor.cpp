// Numbers of every element type, and views.
#include <doctest/doctest.h>

#include <cmath>

#include <ropewalk/runtime/tensor.hpp>

#include "build.hpp"

using namespace testing;

TEST_CASE("16-bit floats: every pattern comes back, and rounding is to the nearest, ties to even") {
  std::mt19937 r(5);
  for (const dtype d : {f16, bf16}) {
    const unsigned top = d == f16 ? 0x7c00 : 0x7f80;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const auto p = static_cast<std::uint16_t>(bits);
      std::uint16_t back = 0;
      const double v = load_number(d, &p, 0);
      store_number(d, &back, 0, v);
      if (std::isnan(v))
        CHECK(std::isnan(load_number(d, &back, 0)));
      else
        REQUIRE(back == p);
      if ((bits & 0x7fff) + 1 >= top || std::isnan(v)) continue;
      const auto q = static_cast<std::uint16_t>(bits + 1);  // away from zero
      const double w = load_number(d, &q, 0), middle = (v + w) / 2;
      store_number(d, &back, 0, middle);
      CHECK(back == (bits % 2 == 0 ? p : q));
      store_number(d, &back, 0, middle + (v - middle) * 0.01);
      CHECK(back == p);
      store_number(d, &back, 0, middle + (w - middle) * 0.01);
      CHECK(back == q);
    }
    std::uint16_t big = 0;
    store_number(d, &big, 0, d == f16 ? 65520.0 : 3.4e38 * 1.01);
    CHECK(big == top);
    store_number(d, &big, 0, -1e300);
    CHECK(big == (top | 0x8000));
  }
}

TEST_CASE("views: strides, types and faults") {
  float data[12];
  for (int k = 0; k < 12; ++k) data[k] = static_cast<float>(k);
  tensor_ref t{.data = data, .type = f32, .rank = 2, .extent = {3, 4}, .stride = {4, 1}};
  const tensor_view v("x", t);
  CHECK(v.dense());
  CHECK(v.as<float>()[5] == 5);
  CHECK(v.extent(-1) == 4);
  CHECK(type_text(t) == "f32[3, 4]");
  tensor_ref turned{.data = data, .type = f32, .rank = 2, .extent = {4, 3}, .stride = {1, 4}};
  const tensor_view w("xt", turned);
  CHECK(!w.dense());
  CHECK(w.values() == std::vector<double>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(error_of([&] { v.as<double>(); }) == "[x] element type = f64: is f32[3, 4]");
  CHECK(error_of([&] { w.as<float>(); }) ==
        "[xt] f32[4, 3] is not dense row-major: read its values()");
  CHECK(error_of([&] { v.item(); }) == "[x] type = f32[3, 4]: item() wants one element");
  CHECK(error_of([&] { v.assign(std::vector<float>(11)); }) ==
        "[x] elements = 11: must be 12, of f32[3, 4]");
  CHECK(error_of([&] { v.assign(std::vector<std::int32_t>(12)); }) ==
        "[x] element type = i32: is f32[3, 4]");
  v.assign(std::vector<float>(12, 7.0f));
  CHECK(data[11] == 7);
}
