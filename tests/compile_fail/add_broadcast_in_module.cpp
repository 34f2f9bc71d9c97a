// A residual of another width, in a module's body.
// expect: shapes_do_not_broadcast<
// expect: "add"
// expect: [B, T, 384]
// expect: [B, T, 512]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, C{"C", 384};
inline constexpr auto block = module<"block">([](auto x) {
  auto h = gelu(linear<"up", 4 * C>(layer_norm<"ln">(x)));
  return x + linear<"down", 512>(h);  // here
});
inline constexpr auto x = input<"x", f32, B, T, C>;
inline constexpr auto y = repeat<6, "h">(block)(x);
