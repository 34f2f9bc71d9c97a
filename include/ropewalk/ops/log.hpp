// Natural logarithm, elementwise; log(0) = -inf.
#pragma once
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct log : elementwise<log> {
  static constexpr const char* name = "log";
  static scalar lower(lowering& l) { return l.apply(scalar_op::log, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_log(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() / s.template in<0>();
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(log);

template <floating_expr X>
constexpr auto log(const X&) {
  return node<op::log, X>{};
}
template <expression X, class Error = dtype_not_supported<"log", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error log(const X&);

}  // namespace ropewalk
