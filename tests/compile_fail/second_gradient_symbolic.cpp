// A second gradient through a repeat of symbolic count.
// expect: second_gradient_needs_fixed_repeats<
// expect: [B, 16]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, L{"L"}, C{"C", 16};
inline constexpr auto block = module<"block">([](auto x) { return tanh(linear<"mix", C>(x)); });
inline constexpr auto x = input<"x", f32, B, C>;
inline constexpr auto loss = mean(repeat<L, "h">(block)(x));
inline constexpr auto g = let([] { return grad(loss, x); });
inline constexpr auto h = grad(sum(square(g)), x);  // here
