// grad(loss, x): the gradient of a scalar loss in x, an expression like any other.
//
//   auto g = grad(loss, x);            // x: an input, a param or a state that loss mentions
//   auto h = grad(sum(g * v), x);      // ... differentiable again
//   auto d = vector_jacobian(y, ct, x) // the cotangent ct of any y, pulled back to x
#pragma once
#include "ropewalk/grad/vjp.hpp"
#include "ropewalk/ops/expand.hpp"

namespace ropewalk {

// The gradient of an integer or bool value does not exist.
template <dtype D, class Shp>
struct gradient_of_integer : mistake<Shp> {
  static_assert(never<Shp>, "gradient of integer");
};
// The loss does not mention what the gradient is asked for.
template <class Shp>
struct loss_does_not_depend_on_this : mistake<Shp> {
  static_assert(never<Shp>, "loss does not depend on this");
};
// The only ways from the value to the loss lead through ops without a gradient (argmax, a
// comparison, a cast to an integer, stop_gradient).
template <class Shp>
struct no_differentiable_path_to_the_loss : mistake<Shp> {
  static_assert(never<Shp>, "no differentiable path to the loss");
};
// A gradient of a gradient through repeat<N> with N symbolic: its layers cannot be unrolled.
template <class Shp>
struct second_gradient_needs_fixed_repeats : mistake<Shp> {
  static_assert(never<Shp>, "second gradient needs fixed repeats");
};
// A gradient is taken of a scalar: reduce the loss (sum, mean) or give a cotangent.
template <class Shp>
struct loss_is_not_a_scalar : mistake<Shp> {
  static_assert(never<Shp>, "loss is not a scalar");
};

namespace detail {

template <class Y, class G, class X>
constexpr bool path_exists() {
  using D = deriv<root<Y>, G>;
  return !std::is_same_v<typename adjoint_definition<D, index_of<root<Y>, X>>::type, no_gradient>;
}
template <class Y, class G, class X, bool Mentioned = (index_of<root<Y>, X> >= 0)>
inline constexpr bool has_path = false;
template <class Y, class G, class X>
inline constexpr bool has_path<Y, G, X, true> = path_exists<Y, G, X>();

// Whether E is the gradient of a repeat whose count is symbolic, in terms of X.
template <class E, class X>
inline constexpr bool symbolic_repeat_of = false;
template <class P, dim N, text S, int Args, int J, class... In, class X>
inline constexpr bool symbolic_repeat_of<repeat_vjp_t<P, N, S, Args, J, In...>, X> =
    !N.fixed() && (... || (index_of<root<In>, X> >= 0));
template <class X, class Nodes>
inline constexpr bool has_symbolic_repeat = false;
template <class X, class... E>
inline constexpr bool has_symbolic_repeat<X, list<E...>> = (... || symbolic_repeat_of<E, X>);

// 0: fine; otherwise which rule is broken.
template <class Y, class G, class X>
constexpr int gradient_problem() {
  if constexpr (!is_floating(X::type.d)) return 1;
  else if constexpr (Y::type.s.rank != 0) return 2;
  else if constexpr (index_of<root<Y>, X> < 0) return 3;
  else if constexpr (has_symbolic_repeat<X, nodes_of<root<Y>>>) return 5;
  else if constexpr (!has_path<Y, G, X>) return 4;
  else return 0;
}
template <class X, class Y, int Problem>
struct gradient_mistake;
template <class X, class Y>
struct gradient_mistake<X, Y, 1> {
  using type = gradient_of_integer<X::type.d, shp_of<X>>;
};
template <class X, class Y>
struct gradient_mistake<X, Y, 2> {
  using type = loss_is_not_a_scalar<shp_of<Y>>;
};
template <class X, class Y>
struct gradient_mistake<X, Y, 3> {
  using type = loss_does_not_depend_on_this<shp_of<X>>;
};
template <class X, class Y>
struct gradient_mistake<X, Y, 4> {
  using type = no_differentiable_path_to_the_loss<shp_of<X>>;
};
template <class X, class Y>
struct gradient_mistake<X, Y, 5> {
  using type = second_gradient_needs_fixed_repeats<shp_of<X>>;
};
template <class Y>
using unit_seed = constant_t<1.0, Y::type.d>;

}  // namespace detail

template <expression Y, expression X>
  requires(detail::gradient_problem<Y, detail::unit_seed<Y>, X>() == 0)
constexpr auto grad(const Y&, const X&) {
  return adj<deriv<detail::root<Y>, detail::unit_seed<Y>>, detail::index_of<detail::root<Y>, X>>{};
}
template <expression Y, expression X,
          int Problem = detail::gradient_problem<Y, detail::unit_seed<Y>, X>(),
          class Error = typename detail::gradient_mistake<X, Y, Problem>::type>
  requires(Problem != 0)
Error grad(const Y&, const X&);

// A cotangent has the type of its value.
template <class Y, class Cotangent>
struct cotangent_does_not_fit : mistake<Y> {
  static_assert(never<Y>, "cotangent does not fit");
};

// The cotangent of y pulled back to x; zeros where y does not depend on x.
template <expression Y, expression G, expression X>
  requires(G::type == Y::type && is_floating(X::type.d))
constexpr auto vector_jacobian(const Y&, const G&, const X&) {
  constexpr int i = detail::index_of<detail::root<Y>, X>;
  if constexpr (i < 0) return detail::zeros_like(X{});
  else return adj<deriv<detail::root<Y>, G>, i>{};
}
template <expression Y, expression G, expression X,
          class Error = std::conditional_t<is_floating(X::type.d),
                                           cotangent_does_not_fit<shp_of<Y>, shp_of<G>>,
                                           gradient_of_integer<X::type.d, shp_of<X>>>>
  requires(!(G::type == Y::type && is_floating(X::type.d)))
Error vector_jacobian(const Y&, const G&, const X&);

}  // namespace ropewalk
