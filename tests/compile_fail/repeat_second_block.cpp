// So must every block of a pattern.
// expect: repeat_changes_shape<
// expect: [B, T, 384]
// expect: [B, T, 512]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, C{"C", 384};
inline constexpr auto keep = module<"keep">([](auto x) { return linear<"mix", C>(x); });
inline constexpr auto widen = module<"widen">([](auto x) { return linear<"up", 512>(x); });
inline constexpr auto x = input<"x", f32, B, T, C>;
inline constexpr auto y = repeat<4, "h">(keep, widen)(x);  // here
