// Ids that are not integers.
// expect: dtype_not_supported<
// expect: "embedding"
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto ids = input<"ids", f32, B, T>;
inline constexpr auto y = embedding<"wte", 65, 384>(ids);  // here
