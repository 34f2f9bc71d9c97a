// cast<D>(x): x in another element type. Floats to integers truncate; to bool: x != 0. The gradient
// is cast back; casts to and from integers and bools have none.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {
struct cast_family : elementwise<cast_family> {
  static constexpr const char* name = "cast";
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    return {static_cast<dtype>(a.i[0]), in[0].s};
  }
  static scalar lower(lowering& l) { return l.cast(l.arg(0), l.type().d); }
  static double value(const attrs& a, const double* x) {
    const dtype to = static_cast<dtype>(a.i[0]);
    if (to == dtype::boolean) return x[0] != 0 ? 1 : 0;
    return is_floating(to) ? x[0] : __builtin_trunc(x[0]);
  }
};
template <dtype D>
struct cast : cast_family {
  static constexpr attrs attributes{.i = {static_cast<std::int64_t>(D)}};
  template <int J>
  static constexpr auto grad(auto s) {
    constexpr dtype from = decltype(s.template in<0>())::type.d;
    auto g = s.cotangent();
    return node<op::cast<from>, decltype(g)>{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(cast_family);

template <dtype D, expression X>
constexpr auto cast(const X& x) {
  if constexpr (X::type.d == D) return x;
  else return node<op::cast<D>, X>{};
}

}  // namespace ropewalk
