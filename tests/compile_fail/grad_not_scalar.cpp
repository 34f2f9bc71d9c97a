// The gradient of a loss that is not a scalar.
// expect: loss_is_not_a_scalar<
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto loss = square(x);
inline constexpr auto g = grad(loss, x);  // here
