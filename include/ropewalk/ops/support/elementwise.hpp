// What elementwise ops share: NumPy broadcasting, the float64 reference loop, and the rules on
// element types. An op derives from elementwise<Self> and gives name, lower, value and grad.
#pragma once
#include "ropewalk/core/leaf.hpp"
#include "ropewalk/core/mistake.hpp"

namespace ropewalk {

template <class E>
concept floating_expr = expression<E> && is_floating(std::remove_cvref_t<E>::type.d);

namespace op {

// Position of a broadcast operand's element for row-major element `at` of the result.
inline std::size_t broadcast_position(const std::vector<std::int64_t>& out,
                                      const std::vector<std::int64_t>& in, std::int64_t at) {
  std::int64_t position = 0, stride = 1;
  for (std::size_t a = 0; a < out.size(); ++a) {
    const std::size_t axis = out.size() - 1 - a;
    const std::int64_t i = at % out[axis];
    at /= out[axis];
    if (a < in.size()) {
      const std::int64_t extent = in[in.size() - 1 - a];
      if (extent != 1) position += i * stride;
      stride *= extent;
    }
  }
  return static_cast<std::size_t>(position);
}

template <class Self>
struct elementwise {
  using family = Self;
  static constexpr op_class kind = op_class::pull;
  static constexpr attrs attributes{};
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int n, int) {
    tensor_type t = in[0];
    for (int i = 1; i < n; ++i) t.s = broadcast(t.s, in[i].s).s;
    return t;
  }
  static void reference(const reference_call& c) {
    dense& out = c.out[0];
    for (std::size_t e = 0; e < out.v.size(); ++e) {
      double x[4] = {};
      for (std::size_t k = 0; k < c.in.size(); ++k)
        x[k] = c.in[k]->v[broadcast_position(out.extent, c.in[k]->extent,
                                             static_cast<std::int64_t>(e))];
      out.v[e] = Self::value(c.a, x);
    }
  }
};

// The same with a bool result (comparisons).
template <class Self>
struct comparison : elementwise<Self> {
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int n, int k) {
    tensor_type t = elementwise<Self>::result(a, in, n, k);
    t.d = dtype::boolean;
    return t;
  }
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};

}  // namespace op

namespace detail {

template <class E>
inline constexpr bool is_constant = false;
template <number V, dtype D>
inline constexpr bool is_constant<constant_t<V, D>> = true;

// A constant beside an expression takes the expression's element type.
template <class E, dtype D>
struct typed {
  using type = E;
};
template <number V, dtype D, dtype To>
struct typed<constant_t<V, D>, To> {
  using type = constant_t<V, To>;
};
template <class A, class B>
using left_of = std::conditional_t<is_constant<A> && !is_constant<B>,
                                   typename typed<A, B::type.d>::type, A>;
template <class A, class B>
using right_of = std::conditional_t<is_constant<B>, typename typed<B, A::type.d>::type, B>;

template <class A, class B>
inline constexpr bool same_dtype = false;
template <expression A, expression B>
inline constexpr bool same_dtype<A, B> = left_of<A, B>::type.d == right_of<A, B>::type.d;
template <class A, class B>
inline constexpr bool broadcasts = broadcast(A::type.s, B::type.s).ok;

template <class Op, class A, class B>
using binary_node = node<Op, left_of<A, B>, right_of<A, B>>;

}  // namespace detail

// Expressions that an elementwise op of two can take.
template <class A, class B>
concept pairable = expression<A> && expression<B> && detail::same_dtype<A, B> &&
                   detail::broadcasts<A, B>;

namespace detail {
template <text Op, class A, class B, bool SameDtype>
struct pair_mistake {};
template <text Op, expression A, expression B>
struct pair_mistake<Op, A, B, true> {
  using type = shapes_do_not_broadcast<Op, shp_of<A>, shp_of<B>>;
};
template <text Op, expression A, expression B>
struct pair_mistake<Op, A, B, false> {
  using type = dtypes_differ<Op, A::type.d, B::type.d>;
};
}  // namespace detail

// The mistake of a pair that is not pairable.
template <text Op, class A, class B>
using pair_mistake = typename detail::pair_mistake<Op, A, B, detail::same_dtype<A, B>>::type;

}  // namespace ropewalk
