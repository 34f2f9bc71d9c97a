// An expansion that would have to cut.
// expect: cannot_expand<
// expect: [B, 384]
// expect: [B, T, 512]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = expand<B, T, 512>(x);  // here
