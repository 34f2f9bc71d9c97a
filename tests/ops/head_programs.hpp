// The chunked head beside its composition, with more classes than a chunk holds.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace head {
using namespace ropewalk;

inline constexpr dim N{"N"}, C{"C", 12}, V{"V", 4500};
inline constexpr auto x = input<"x", f32, N, C>;
inline constexpr auto w = input<"w", f32, V, C>;
inline constexpr auto labels = input<"labels", i32, N>;

template <number Smoothing>
constexpr auto chunked() {
  return linear_cross_entropy<-1, Smoothing>(x, w, labels);
}
template <number Smoothing>
constexpr auto composed() {
  return cross_entropy<-1, Smoothing>(matmul<false, true>(x, w), labels);
}
template <class Loss>
constexpr auto with_gradients(Loss loss) {
  return outputs(output<"loss">(loss), output<"d_x">(grad(loss, x)), output<"d_w">(grad(loss, w)));
}
inline constexpr auto plain = program<"plain">([] { return with_gradients(chunked<0.0>()); });
inline constexpr auto plain_composed =
    program<"plain_composed">([] { return with_gradients(composed<0.0>()); });
inline constexpr auto smooth = program<"smooth">([] { return with_gradients(chunked<0.1>()); });
inline constexpr auto smooth_composed =
    program<"smooth_composed">([] { return with_gradients(composed<0.1>()); });
// A gradient of the gradient, in x.
inline constexpr auto second = program<"second">([] {
  constexpr auto g = grad(linear_cross_entropy<-1>(x, w, labels), x);
  return outputs(output<"d_x">(grad(sum(g * g), x)));
});
inline constexpr auto second_composed = program<"second_composed">([] {
  constexpr auto g = grad(composed<0.0>(), x);
  return outputs(output<"d_x">(grad(sum(g * g), x)));
});
}  // namespace head
