// a - b, elementwise.
// Shapes: NumPy broadcasting. Gradients are summed over the broadcast axes.
#pragma once
#include "ropewalk/ops/neg.hpp"
#include "ropewalk/ops/support/elementwise.hpp"
#include "ropewalk/ops/sum_to.hpp"

namespace ropewalk {

namespace op {
struct sub : elementwise<sub> {
  static constexpr const char* name = "sub";
  static scalar lower(lowering& l) { return l.arg(0) - l.arg(1); }
  static double value(const attrs&, const double* x) { return x[0] - x[1]; }
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    [[maybe_unused]] auto a = s.template in<0>();
    [[maybe_unused]] auto b = s.template in<1>();
    if constexpr (J == 0) return sum_to(g, a);
    else return sum_to(-g, b);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(sub);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto operator-(const A&, const B&) {
  return detail::binary_node<op::sub, A, B>{};
}
template <expression A, expression B, class Error = pair_mistake<"sub", A, B>>
  requires(!pairable<A, B>)
Error operator-(const A&, const B&);

}  // namespace ropewalk
