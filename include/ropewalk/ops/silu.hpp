// silu(x) = x sigmoid(x), elementwise (also called swish).
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sigmoid.hpp"
#include "ropewalk/ops/support/composed.hpp"

namespace ropewalk {
namespace composed {
struct silu {
  static constexpr const char* name = "silu";
  static constexpr auto apply(auto x) { return x * ropewalk::sigmoid(x); }
};
}  // namespace composed

template <floating_expr X>
constexpr auto silu(const X& x) {
  return detail::call_body<composed::silu>(x);
}
template <expression X, class Error = dtype_not_supported<"silu", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error silu(const X&);

}  // namespace ropewalk
