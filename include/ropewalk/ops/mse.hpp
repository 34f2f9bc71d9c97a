// mse(x, y): the mean of (x - y)^2 over all elements.
#pragma once
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/square.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/loss.hpp"

namespace ropewalk {

template <floating_expr X, floating_expr Y>
  requires same_type<X, Y>
constexpr auto mse(const X& x, const Y& y) {
  return mean(square(x - y));
}
template <expression X, expression Y, class Error = loss_mistake<"mse", X, Y>>
  requires(!(floating_expr<X> && same_type<X, Y>))
Error mse(const X&, const Y&);

}  // namespace ropewalk
