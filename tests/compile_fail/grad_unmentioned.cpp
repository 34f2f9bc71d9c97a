// The gradient in something that the loss does not mention.
// expect: loss_does_not_depend_on_this<
// expect: [T, 8]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T>;
inline constexpr auto w = input<"w", f32, T, 8>;
inline constexpr auto loss = mean(square(x));
inline constexpr auto g = grad(loss, w);  // here
