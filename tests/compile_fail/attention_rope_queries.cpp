// More queries than keys, in a fused rope.
// expect: fused_rope_needs_queries_among_keys<
// expect: [B, 6, 9, 64]
// expect: [B, 2, 8, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto q9 = input<"q", f32, B, 6, 9, 64>;
inline constexpr auto k8 = input<"k", f32, B, 2, 8, 64>;
inline constexpr auto v8 = input<"v", f32, B, 2, 8, 64>;
inline constexpr auto y = attention(q9, k8, v8, fused_rope(half_split));  // here
