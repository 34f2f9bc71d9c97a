// Programs whose gradients pass through every way of composing modules.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace first_order {
using namespace ropewalk;

inline constexpr dim B{"B", 3}, C{"C", 4};
inline constexpr auto x = input<"x", f32, B, C>;
inline constexpr auto z = input<"z", f32, B, C>;

inline constexpr auto dense_tanh =
    module<"dense_tanh">([](auto v) { return tanh(linear<"w", C>(v)); });
inline constexpr auto residual =
    module<"residual">([](auto v) { return v + call<"inner">(dense_tanh)(layer_norm<"ln">(v)); });
inline constexpr auto gated =
    module<"gated">([](auto v, auto g) { return v * sigmoid(linear<"gate", C>(g)) + g; });
// Two results, the second also from what the first is made of.
inline constexpr auto two = module<"two">([](auto v) {
  auto h = let([=] { return tanh(linear<"a", C>(v)); });
  return results{h * h, h + linear<"b", C>(v)};
});
// Two carried values.
inline constexpr auto swap_mix = module<"swap_mix">(
    [](auto a, auto b) { return results{b + tanh(linear<"p", C>(a)), a * constant<0.5>}; });

template <class Loss>
constexpr auto all(const Loss& loss) {
  return outputs(parameter_gradients(loss), output<"grad.x">(grad(loss, x)));
}

inline constexpr auto calls = mean(square(call<"h1">(residual)(call<"h0">(residual)(x))));
inline constexpr auto repeated = mean(square(repeat<3, "h">(residual)(x)));
inline constexpr auto pattern = mean(square(repeat<2, "h">(residual, dense_tanh)(x)));
inline constexpr auto invariant = mean(square(repeat<3, "h">(gated)(x, tanh(linear<"z", C>(z)))));
inline constexpr auto tied =
    mean(square(call<"shared">(residual)(tanh(call<"shared">(residual)(x)))));
inline constexpr auto used_both = [] {
  auto [a, b] = call<"t">(two)(x);
  return mean(square(a * b));
}();
inline constexpr auto used_second = [] {
  auto [a, b] = call<"t">(two)(x);
  return mean(square(b));
}();
inline constexpr auto carried = [] {
  auto [a, b] = repeat<3, "h">(swap_mix)(x, square(x));
  return mean(a * b);
}();
inline constexpr auto stopped =
    mean(square(call<"h0">(residual)(x)) * stop_gradient(call<"h1">(residual)(x)));

inline constexpr auto p_calls = program<"fo_calls">([] { return all(calls); });
inline constexpr auto p_repeated = program<"fo_repeated">([] { return all(repeated); });
inline constexpr auto p_pattern = program<"fo_pattern">([] { return all(pattern); });
inline constexpr auto p_invariant = program<"fo_invariant">([] {
  return outputs(parameter_gradients(invariant), output<"grad.x">(grad(invariant, x)),
                 output<"grad.z">(grad(invariant, z)));
});
inline constexpr auto p_tied = program<"fo_tied">([] { return all(tied); });
inline constexpr auto p_both = program<"fo_both">([] { return all(used_both); });
inline constexpr auto p_second = program<"fo_second">([] { return all(used_second); });
inline constexpr auto p_carried = program<"fo_carried">([] { return all(carried); });
inline constexpr auto p_stopped = program<"fo_stopped">([] { return all(stopped); });
}  // namespace first_order
