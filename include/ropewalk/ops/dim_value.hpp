// dim_value<D, Type>(): the number that a dim stands for, as a scalar; a constant where it is fixed.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {
struct dim_value_family {
  using family = dim_value_family;
  static constexpr const char* name = "dim_value";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type*, int, int) {
    return {static_cast<dtype>(a.i[0]), shape{}};
  }
  static scalar lower(lowering& l) { return l.cast(l.extent(l.options().d[0]), l.type().d); }
  static void reference(const reference_call& c) {
    c.out[0].v[0] = static_cast<double>(c.a.d[0].n);
  }
};
template <dim D, dtype Type>
struct dim_value : dim_value_family {
  static constexpr attrs attributes{.i = {static_cast<std::int64_t>(Type)}, .d = {D}};
};
}  // namespace op
ROPEWALK_LIBRARY_OP(dim_value_family);

template <dim D, dtype Type = dtype::f32>
constexpr auto dim_value() {
  if constexpr (D.fixed()) return constant_t<number(static_cast<double>(D.n)), Type>{};
  else return node<op::dim_value<D, Type>>{};
}

}  // namespace ropewalk
