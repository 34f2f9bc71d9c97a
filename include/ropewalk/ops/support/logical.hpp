// What ops on bools share: which operands they take, and the mistake of others.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

template <class E>
concept bool_expr = expression<E> && std::remove_cvref_t<E>::type.d == dtype::boolean;

template <class A, class B>
concept bool_pair = bool_expr<A> && bool_expr<B> && detail::broadcasts<A, B>;

template <text Op, class A, class B>
using bool_pair_mistake = std::conditional_t<
    !bool_expr<A>, dtype_not_supported<Op, A::type.d, shp_of<A>>,
    std::conditional_t<!bool_expr<B>, dtype_not_supported<Op, B::type.d, shp_of<B>>,
                       shapes_do_not_broadcast<Op, shp_of<A>, shp_of<B>>>>;

}  // namespace ropewalk
