// The leaves and shapes of programs that are tests of one expression: the expression as output
// "out", an input "d_out" as its cotangent, and the cotangent of every named input as output
// "d_<name>". The names are those of the golden files.
#pragma once
#include <ropewalk/core/program.hpp>

namespace cases {

using namespace ropewalk;

template <dim... D>
inline constexpr auto x = input<"x", f32, D...>;
template <dim... D>
inline constexpr auto y = input<"y", f32, D...>;
template <dim... D>
inline constexpr auto z = input<"z", f32, D...>;
template <dim... D>
inline constexpr auto w = input<"w", f32, D...>;
template <dim... D>
inline constexpr auto b = input<"b", f32, D...>;

namespace detail {
template <class Y, text N, class S, dtype D>
constexpr auto pulled_back(const Y& y, const input_t<N, S, D>& in) {
  constexpr input_t<"d_out", shp_of<Y>, Y::type.d> ct{};
  return output<join_text<text("d_"), N>()>(vector_jacobian(y, ct, in));
}
}  // namespace detail

// The expression and its gradients in the inputs named.
template <class Y, class... In>
constexpr auto differentiated(const Y& y, const In&... in) {
  return outputs(output<"out">(y), detail::pulled_back(y, in)...);
}

}  // namespace cases
