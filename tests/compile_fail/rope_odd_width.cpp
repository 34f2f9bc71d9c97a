// An odd width cannot be rotated in pairs.
// expect: rope_window_does_not_fit<
// expect: [B, 6, T, 63]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 63>;
inline constexpr auto y = rope(q, half_split);  // here
