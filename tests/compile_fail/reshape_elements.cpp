// A reshape to another number of elements.
// expect: reshape_changes_element_count<
// expect: [B, T, 384]
// expect: [B, T, 6, 60]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T, 384>;
inline constexpr auto y = reshape<B, T, 6, 60>(x);  // here
