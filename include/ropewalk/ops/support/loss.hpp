// What losses of a prediction against a target share: both have one type and shape (a target that
// broadcasts is a mistake that nobody notices).
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

template <class X, class Y>
concept same_type = expression<X> && expression<Y> && X::type == Y::type;

// The prediction and the target differ in shape.
template <text Op, class X, class Y>
struct loss_shapes_differ : mistake<shp<"[]">> {
  static_assert(never<X>, "loss shapes differ");
};

template <text Op, class X, class Y>
using loss_mistake = std::conditional_t<
    X::type.d != Y::type.d, dtypes_differ<Op, X::type.d, Y::type.d>,
    std::conditional_t<is_floating(X::type.d), loss_shapes_differ<Op, shp_of<X>, shp_of<Y>>,
                       dtype_not_supported<Op, X::type.d, shp_of<X>>>>;

}  // namespace ropewalk
