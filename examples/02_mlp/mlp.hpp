// A multi-layer perceptron with two hidden layers, fitted to a function of two variables.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace mlp {
using namespace ropewalk;

inline constexpr dim N{"N"};      // points: bound when a session opens
inline constexpr dim C{"C", 64};  // width of the hidden layers

inline constexpr auto x = input<"x", f32, N, 2>;
inline constexpr auto y = input<"y", f32, N, 1>;

// linear<"name", width>(x) owns the parameters name.weight and name.bias. Small weights would keep
// the hidden layers close to linear: these start wider than the default.
inline constexpr linear_options wide{.weight = init_normal(0.5)};
inline constexpr auto hidden1 = tanh(linear<"in", C, wide>(x));  // [N, C]
inline constexpr linear_options even{.weight = init_normal(0.125)};
inline constexpr auto hidden2 = tanh(linear<"middle", C, even>(hidden1));
inline constexpr auto prediction = linear<"out", 1>(hidden2);  // [N, 1]
inline constexpr auto loss = mse(prediction, y);

// One step of training: the loss, its gradient in every parameter, and the update by Adam.
inline constexpr auto train = program<"train">([] { return minimize(loss, adam{}); });
inline constexpr auto predict =
    program<"predict">([] { return outputs(output<"prediction">(prediction)); });

}  // namespace mlp
