// The smaller of a and b, elementwise. Where they are equal each gets half of the gradient. With a
// NaN the result is one of the two. Shapes: NumPy broadcasting. Gradients are summed over the
// broadcast axes.
#pragma once
#include "ropewalk/ops/equal.hpp"
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

namespace op {
struct minimum : elementwise<minimum> {
  static constexpr const char* name = "minimum";
  static scalar lower(lowering& l) { return l.apply(scalar_op::min, {l.arg(0), l.arg(1)}); }
  static double value(const attrs&, const double* x) { return x[1] < x[0] ? x[1] : x[0]; }
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    auto a = s.template in<J>();
    auto b = s.template in<1 - J>();
    auto tied = ropewalk::where(ropewalk::equal(a, b), g * constant<0.5>, constant<0.0>);
    return sum_to(ropewalk::where(a < b, g, tied), a);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(minimum);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto minimum(const A&, const B&) {
  return detail::binary_node<op::minimum, A, B>{};
}
template <expression A, expression B, class Error = pair_mistake<"minimum", A, B>>
  requires(!pairable<A, B>)
Error minimum(const A&, const B&);

}  // namespace ropewalk
