// How a mistake in a model becomes a short compiler message.
//
// Every public function that can be misused has a second overload, taken when its rule is broken:
// its result is a class NAMED AFTER THE MISTAKE, and completing that class fails. The compiler
// completes it where the user calls, so what it prints is that call, the class with both shapes,
//   matmul_inner_dims_differ<shp<"[B, T, 512]">, shp<"[1376, 512]">>
// and the line of the class below; no operand type, no function of the library. The class is an
// expression of the likely type, so later lines do not complain too. Measured on a product in a
// module's body, lines / bytes, g++ | clang: this 11 / 1598 | 18 / 2058; a private destructor
// 34 / 5170 | 53 / 6273 (each copy is an error); a function marked unavailable prints every
// operand.
#pragma once
#include "ropewalk/core/expr.hpp"

namespace ropewalk {

// False, but not before the class that asserts it is completed.
template <class...>
inline constexpr bool never = false;

template <class Shp, dtype D = dtype::f32>
struct mistake : expr_tag {
  using inputs = list<>;
  static constexpr tensor_type type{D, Shp::value};
  static constexpr record make_record() { return {}; }
};

// An elementwise op on shapes that NumPy broadcasting cannot pair.
template <text Op, class A, class B>
struct shapes_do_not_broadcast : mistake<A> {
  static_assert(never<A>, "shapes do not broadcast");
};
// An operand is used twice, again and again, so its type doubles each time:
//   let([=] { return x + f(x); }) names it, and the type starts again.
template <text Op, class A>
struct use_let_for_what_is_used_twice : mistake<A> {
  static_assert(never<A>, "an operand used twice needs a name: let([=] { return x + f(x); })");
};
// An op on element types it does not take (D: those given).
template <text Op, dtype D, class A>
struct dtype_not_supported : mistake<A> {
  static_assert(never<A>, "dtype not supported");
};
// Operands of different element types: cast one.
template <text Op, dtype A, dtype B>
struct dtypes_differ : mistake<shp<"[]">> {
  static_assert(never<std::integral_constant<dtype, A>>, "dtypes differ");
};
// An axis beyond the operand's rank.
template <text Op, int Axis, class A>
struct axis_out_of_range : mistake<A> {
  static_assert(never<A>, "axis out of range");
};

}  // namespace ropewalk
