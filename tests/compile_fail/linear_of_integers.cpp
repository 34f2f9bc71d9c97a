// A linear layer of token ids that were not embedded.
// expect: dtype_not_supported<
// expect: "linear"
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto ids = input<"ids", i32, B, T>;
inline constexpr auto y = linear<"head", 65>(ids);  // here
