// A rotary window beyond the features, in a fused rope.
// expect: rope_window_does_not_fit<
// expect: [B, 2, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto y = attention(q, k, v, fused_rope(rotary_window<32, 48>));  // here
