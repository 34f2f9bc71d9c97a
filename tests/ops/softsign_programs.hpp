// softsign and its gradient, and the gradient of that.
#pragma once
#include <ropewalk/ops/softsign.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr auto softsign_once =
    program<"softsign_once">([] { return differentiated(softsign(x<3, 5>), x<3, 5>); });
inline constexpr auto softsign_twice = program<"softsign_twice">([] {
  auto pulled = vector_jacobian(softsign(x<3, 5>), y<3, 5>, x<3, 5>);
  return differentiated(pulled, x<3, 5>, y<3, 5>);
});

}  // namespace cases
