// A width that the heads do not divide.
// expect: cannot_split_into_heads<
// expect: [B, T, 1000]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, H{"H", 6};
inline constexpr auto x = input<"x", f32, B, T, 1000>;
inline constexpr auto y = split<3, H>(x);  // here
