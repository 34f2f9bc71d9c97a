// Losses through with_update and in_training: alone, in modules, nested, and inside each other.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace updating {
using namespace ropewalk;

inline constexpr auto x = input<"x", f32, 3, 4>;
inline constexpr auto w = param<"w", init_zeros(), 4>;
inline constexpr auto s = state<"s", init_zeros(), 4>;

// The value depends on the state, on what the state becomes, and on the parameter.
inline constexpr auto effect = with_update(s, x* w + s, mean<axes{0}>(x* w));
inline constexpr auto mode = in_training(square(x * w), sin(x* w) * w);

// Running mean: normalises by the batch where it trains, by the state where it does not.
inline constexpr auto centred = module<"centred">([](auto v) {
  constexpr auto mu = state<"mu", init_zeros(), 4>;
  constexpr auto gain = param<"gain", init_ones(), 4>;
  auto m = mean<axes{0}>(v);
  auto batch = with_update(mu, v - m, mu * constant<0.9> + m * constant<0.1>);
  return in_training(batch, v - mu) * gain;
});
inline constexpr auto stacked = call<"b">(centred)(tanh(call<"a">(centred)(x * w)));
inline constexpr auto layers = repeat<2, "h">(centred)(x * w);

template <class Loss>
constexpr auto with_gradients(const Loss&) {
  return outputs(parameter_gradients(Loss{}), output<"grad.x">(grad(Loss{}, x)));
}
template <class Value>
constexpr auto both(const Value& v) {
  return with_gradients(sum(square(v) + v * x));
}

inline constexpr auto effect_training =
    program<"effect_training">([] { return both(effect).in_training_mode(); });
inline constexpr auto effect_evaluating = program<"effect_evaluating">([] { return both(effect); });
inline constexpr auto mode_training =
    program<"mode_training">([] { return both(mode).in_training_mode(); });
inline constexpr auto mode_evaluating = program<"mode_evaluating">([] { return both(mode); });
inline constexpr auto stacked_training =
    program<"stacked_training">([] { return both(stacked).in_training_mode(); });
inline constexpr auto stacked_evaluating =
    program<"stacked_evaluating">([] { return both(stacked); });
inline constexpr auto layers_training =
    program<"layers_training">([] { return both(layers).in_training_mode(); });
inline constexpr auto layers_evaluating = program<"layers_evaluating">([] { return both(layers); });

}  // namespace updating
