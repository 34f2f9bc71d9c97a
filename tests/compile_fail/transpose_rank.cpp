// A transpose of a vector.
// expect: axis_out_of_range<
// expect: "transpose"
// expect: [384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr auto x = input<"x", f32, 384>;
inline constexpr auto y = transpose(x);  // here
