// All gradients of a loss that is not a scalar.
// expect: loss_is_not_a_scalar<
// expect: [B, T, 65]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T, 384>;
inline constexpr auto loss = linear<"head", 65>(x);
inline constexpr auto all = parameter_gradients(loss);  // here
