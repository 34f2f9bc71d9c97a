// The gradient in token ids.
// expect: gradient_of_integer<
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto ids = input<"ids", i32, B, T>;
inline constexpr auto loss = mean(embedding<"wte", 65, 384>(ids));
inline constexpr auto g = grad(loss, ids);  // here
