// mae(x, y): the mean of |x - y| over all elements; gradient 0 where they are equal.
#pragma once
#include "ropewalk/ops/abs.hpp"
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/loss.hpp"

namespace ropewalk {

template <floating_expr X, floating_expr Y>
  requires same_type<X, Y>
constexpr auto mae(const X& x, const Y& y) {
  return mean(ropewalk::abs(x - y));
}
template <expression X, expression Y, class Error = loss_mistake<"mae", X, Y>>
  requires(!(floating_expr<X> && same_type<X, Y>))
Error mae(const X&, const Y&);

}  // namespace ropewalk
