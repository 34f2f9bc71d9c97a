// Programs that train: one parameter whose gradient is given, and a small layer on batches.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace training_steps {
using namespace ropewalk;

// d(sum(p * g)) / dp = g.
inline constexpr auto p = param<"p", init_zeros(), 3, 4>;
inline constexpr auto g = input<"g", f32, 3, 4>;
inline constexpr auto given = sum(p * g);
template <class... Option>
constexpr auto with(const optimizer& rule, const Option&... option) {
  return minimize(given, rule, option...);
}
inline constexpr auto sgd_plain = program<"sgd-plain">([] { return with(sgd{}); });
inline constexpr auto sgd_momentum =
    program<"sgd-momentum">([] { return with(sgd{.momentum = 0.9}); });
inline constexpr auto sgd_nesterov =
    program<"sgd-nesterov">([] { return with(sgd{.momentum = 0.8, .nesterov = true}); });
inline constexpr auto sgd_decay =
    program<"sgd-weight-decay">([] { return with(sgd{.weight_decay = 0.1}); });
inline constexpr auto sgd_all = program<"sgd-all">(
    [] { return with(sgd{.momentum = 0.9, .nesterov = true, .weight_decay = 0.05}); });
inline constexpr auto adam_plain = program<"adam-plain">([] { return with(adam{}); });
inline constexpr auto adam_l2 =
    program<"adam-l2">([] { return with(adam{.beta2 = 0.99, .eps = 1e-6, .weight_decay = 0.1}); });
inline constexpr auto adamw_plain =
    program<"adamw-plain">([] { return with(adamw{.beta2 = 0.95, .weight_decay = 0.1}); });
inline constexpr auto adamw_no_decay = program<"adamw-no-decay">(
    [] { return with(adamw{.beta1 = 0.8, .eps = 1e-3, .weight_decay = 0}); });

// Three parameters of given gradients.
inline constexpr auto three = sum(param<"p0", init_zeros(), 3, 4> * input<"g0", f32, 3, 4>) +
                              sum(param<"p1", init_zeros(), 5> * input<"g1", f32, 5>) +
                              sum(param<"p2", init_zeros(), 2, 1, 3> * input<"g2", f32, 2, 1, 3>);
inline constexpr auto clipped =
    program<"clip-active">([] { return minimize(three, sgd{}, clip_by_global_norm(1.0)); });
inline constexpr auto unclipped =
    program<"clip-inactive">([] { return minimize(three, sgd{}, clip_by_global_norm(50.0)); });

inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 4>;
inline constexpr auto y = input<"y", f32, B, 2>;
inline constexpr auto layers_loss =
    mse(linear<"b", 2>(tanh(linear<"a", 3>(x))) + param<"fixed", frozen(init_ones()), 2>, y);
inline constexpr auto big = program<"big_batch">([] { return minimize(layers_loss, adam{}); });
inline constexpr auto parts =
    program<"three_parts">([] { return minimize(layers_loss, adam{}, accumulate(3)); });
inline constexpr auto part_frozen =
    program<"part_frozen">([] { return minimize(layers_loss, sgd{}, freeze("a")); });
}  // namespace training_steps
