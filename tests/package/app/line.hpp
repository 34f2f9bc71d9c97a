// The model of a program of somebody else: a small network fitted to a function.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace line {
using namespace ropewalk;

inline constexpr dim N{"N"};
inline constexpr auto x = input<"x", f32, N, 1>;
inline constexpr auto y = input<"y", f32, N, 1>;
inline constexpr auto guess =
    linear<"out", 1, linear_options{.weight = init_normal(0.3)}>(
        tanh(linear<"in", 16, linear_options{.weight = init_normal(1)}>(x)));
inline constexpr auto loss = mse(guess, y);
inline constexpr auto train = program<"train">([] { return minimize(loss, adam{}); });
}  // namespace line
