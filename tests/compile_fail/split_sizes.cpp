// Sizes that do not add up.
// expect: split_sizes_do_not_add_up<
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = split_axis<-1, 128, 128>(x);  // here
