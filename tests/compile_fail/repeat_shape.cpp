// Repeated blocks must give back the shape they take.
// expect: repeat_changes_shape<
// expect: [B, T, 384]
// expect: [B, T, 512]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto widen = module<"widen">([](auto x) { return linear<"up", 512>(x); });
inline constexpr auto x = input<"x", f32, B, T, 384>;
inline constexpr auto y = repeat<4, "h">(widen)(x);  // here
