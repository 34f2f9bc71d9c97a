// Programs that compose modules in every way: scopes, patterns, states, modes.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace modules {
using namespace ropewalk;

inline constexpr dim C{"C", 2}, L{"L"};
inline constexpr auto x = input<"x", f32, C>;

inline constexpr auto scale =
    module<"scale">([](auto v) { return v * param<"s", init_ones(), C>; });
inline constexpr auto shift =
    module<"shift">([](auto v) { return v + param<"t", init_ones(), C>; });
inline constexpr auto outer = module<"outer">(
    [](auto v) { return call<"in">(scale)(shift(v)) * param<"own", init_ones(), C>; });

inline constexpr auto scopes =
    program<"scopes">([] { return outputs(output<"y">(call<"b">(outer)(call<"a">(outer)(x)))); });
inline constexpr auto shared = program<"shared">(
    [] { return outputs(output<"y">(call<"w">(shift)(call<"w">(scale)(call<"w">(scale)(x))))); });
inline constexpr auto pattern =
    program<"pattern">([] { return outputs(output<"y">(repeat<2, "h">(scale, scale, shift)(x))); });

template <dim N>
inline constexpr auto depth = program<"depth">([] {
  return outputs(output<"y">(repeat<N, "h">(outer)(x)),
                 parameter_gradients(sum(repeat<N, "h">(outer)(x))));
});

// Counts its calls in a state, and gives what the count was before.
inline constexpr auto counting = module<"counting">([](auto v) {
  constexpr auto n = state<"n", init_zeros()>;
  return with_update(n, v * (n + constant<1.0>), n + constant<1.0>);
});
inline constexpr auto states = program<"states">(
    [] { return outputs(output<"y">(repeat<2, "h">(counting)(call<"first">(counting)(x)))); });
inline constexpr auto twice = program<"twice">(
    [] { return outputs(output<"y">(call<"c">(counting)(call<"c">(counting)(x)))); });
inline constexpr auto mode = outputs(output<"y">(in_training(x * constant<2.0>, x* constant<3.0>)));
inline constexpr auto evaluating = program<"evaluating">([] { return mode; });
inline constexpr auto training_mode =
    program<"training_mode">([] { return mode.in_training_mode(); });

// The same expression, named or not, is one node.
inline constexpr auto named_once = let([] { return x * x; });
inline constexpr auto lets =
    program<"lets">([] { return outputs(output<"a">(named_once + x), output<"b">(x * x + x)); });
}  // namespace modules
