// Weight rows that are no pairs of each head.
// expect: rope_rows_do_not_fit<
// expect: [18, 5]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto w = input<"w", f32, 18, 5>;
inline constexpr auto y = half_split_rows<6>(w);  // here
