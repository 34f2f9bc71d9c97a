// A slice beyond the axis.
// expect: slice_out_of_range<
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = slice<1, 380, 8>(x);  // here
