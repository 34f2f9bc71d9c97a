// Twelve residuals at one level without let: each doubles the printed type.
// expect: use_let_for_what_is_used_twice<
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, C{"C", 384};
inline constexpr auto f = module<"f">([](auto x) { return gelu(linear<"mix", C>(x)); });
inline constexpr auto stream = module<"stream">([](auto x0) {
  auto x1 = x0 + call<"h1">(f)(x0);
  auto x2 = x1 + call<"h2">(f)(x1);
  auto x3 = x2 + call<"h3">(f)(x2);
  auto x4 = x3 + call<"h4">(f)(x3);
  auto x5 = x4 + call<"h5">(f)(x4);
  auto x6 = x5 + call<"h6">(f)(x5);
  auto x7 = x6 + call<"h7">(f)(x6);
  auto x8 = x7 + call<"h8">(f)(x7);  // here
  auto x9 = x8 + call<"h9">(f)(x8);
  auto x10 = x9 + call<"h10">(f)(x9);
  auto x11 = x10 + call<"h11">(f)(x10);
  auto x12 = x11 + call<"h12">(f)(x11);
  return x12;
});
inline constexpr auto y = stream(input<"x", f32, B, C>);
