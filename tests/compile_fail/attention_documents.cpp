// Starts of documents per batch item.
// expect: attention_option_does_not_fit<
// expect: documents
// expect: [B, 4]
// expect: [n+1]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto n = input<"n", i32, B, 4>;
inline constexpr auto y = attention(q, k, v, documents(n));  // here
