// stop_gradient: x, through which no gradient flows.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct stop_gradient : elementwise<stop_gradient> {
  static constexpr const char* name = "stop_gradient";
  static scalar lower(lowering& l) { return l.arg(0); }
  static double value(const attrs&, const double* x) { return x[0]; }
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(stop_gradient);

template <expression X>
constexpr auto stop_gradient(const X&) {
  return node<op::stop_gradient, X>{};
}

}  // namespace ropewalk
