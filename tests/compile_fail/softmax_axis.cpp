// A softmax over an axis that is not there.
// expect: axis_out_of_range<
// expect: "softmax"
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = softmax<axes{2}>(x);  // here
