// How a mistake in a model becomes a short compiler message.
//
// Every public function that can be misused has a second overload, taken when its rule is broken:
// declared only, its result a class NAMED AFTER THE MISTAKE whose destructor is private. The compiler
// then reports at the user's call, with the class's name and both shapes, and nothing below it:
//   matmul_inner_dims_differ<shp<"[B, T, 512]">, shp<"[1376, 512]">>
// The class is an expression (of the first operand's type), so later lines do not complain too.
#pragma once
#include "ropewalk/core/expr.hpp"

namespace ropewalk {

template <class Shp, dtype D = dtype::f32>
struct mistake : expr_tag {
  using inputs = list<>;
  static constexpr tensor_type type{D, Shp::value};
  static constexpr record make_record() { return {}; }
};

// An elementwise op on shapes that NumPy broadcasting cannot pair.
template <text Op, class A, class B>
class shapes_do_not_broadcast : public mistake<A> {
  ~shapes_do_not_broadcast() = default;
};
// An op on element types it does not take (D: those given).
template <text Op, dtype D, class A>
class dtype_not_supported : public mistake<A> {
  ~dtype_not_supported() = default;
};
// Operands of different element types: cast one.
template <text Op, dtype A, dtype B>
class dtypes_differ : public mistake<shp<"[]">> {
  ~dtypes_differ() = default;
};
// An axis beyond the operand's rank.
template <text Op, int Axis, class A>
class axis_out_of_range : public mistake<A> {
  ~axis_out_of_range() = default;
};

}  // namespace ropewalk
