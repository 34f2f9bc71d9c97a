// Features that are integers.
// expect: dtype_not_supported<
// expect: [B, T, 8]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto ids = input<"ids", i32, B, T, 8>;
inline constexpr auto y = rope(ids, half_split);  // here
