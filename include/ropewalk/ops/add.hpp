// a + b, elementwise.
// Shapes: NumPy broadcasting. Gradients are summed over the broadcast axes.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"
#include "ropewalk/ops/sum_to.hpp"

namespace ropewalk {

namespace op {
struct add : elementwise<add> {
  static constexpr const char* name = "add";
  static scalar lower(lowering& l) { return l.arg(0) + l.arg(1); }
  static double value(const attrs&, const double* x) { return x[0] + x[1]; }
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    [[maybe_unused]] auto a = s.template in<0>();
    [[maybe_unused]] auto b = s.template in<1>();
    if constexpr (J == 0) return sum_to(g, a);
    else return sum_to(g, b);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(add);

// Residuals are where types double, so sums watch for it.
template <class A, class B>
inline constexpr bool short_sum = weight<A> + weight<B> <= max_weight;

template <expression A, expression B>
  requires(pairable<A, B> && short_sum<A, B>)
constexpr auto operator+(const A&, const B&) {
  return detail::binary_node<op::add, A, B>{};
}
template <expression A, expression B, class Error = pair_mistake<"add", A, B>>
  requires(!pairable<A, B>)
Error operator+(const A&, const B&);
template <expression A, expression B,
          class Error = use_let_for_what_is_used_twice<
              "add", shp_of<node<op::add, detail::left_of<A, B>, detail::right_of<A, B>>>>>
  requires(pairable<A, B> && !short_sum<A, B>)
Error operator+(const A&, const B&);

}  // namespace ropewalk
