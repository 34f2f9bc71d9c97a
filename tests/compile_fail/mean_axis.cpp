// A mean over an axis that is not there.
// expect: axis_out_of_range<
// expect: "mean"
// expect: -3
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = mean<axes{-3}>(x);  // here
