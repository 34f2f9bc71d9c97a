// The only way to the loss leads through argmax.
// expect: no_differentiable_path_to_the_loss<
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T>;
inline constexpr auto loss = mean(embedding<"wte", 65, 384>(argmax(x)));
inline constexpr auto g = grad(loss, x);  // here
