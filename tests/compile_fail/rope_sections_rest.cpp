// Interleaved sections whose remaining pairs take a stream that is not given.
// expect: rope_sections_do_not_fit<
// expect: 12, 8, 8, 0
// expect: [3, B, T]
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto at = input<"at", i32, 3, B, T>;
inline constexpr auto y = rope(q, at, interleaved_mrope<12, 8, 8>);  // here
