// An op on floats, given integers.
// expect: dtype_not_supported<
// expect: "exp"
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto ids = input<"ids", i32, B, T>;
inline constexpr auto y = exp(ids);  // here
