// -x, elementwise.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct neg : elementwise<neg> {
  static constexpr const char* name = "neg";
  static scalar lower(lowering& l) { return -l.arg(0); }
  static double value(const attrs&, const double* x) { return -x[0]; }
  template <int J>
  static constexpr auto grad(auto s) {
    return -s.cotangent();
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(neg);

template <expression X>
constexpr auto operator-(const X&) {
  return node<op::neg, X>{};
}

}  // namespace ropewalk
