// A loss to minimize that is not a scalar.
// expect: loss_is_not_a_scalar<
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T, 384>;
inline constexpr auto labels = input<"labels", i32, B, T>;
inline constexpr auto loss = token_cross_entropy(linear<"head", 65>(x), labels);
inline constexpr auto train = program<"train">([] { return minimize(loss, adamw{}); });  // here
