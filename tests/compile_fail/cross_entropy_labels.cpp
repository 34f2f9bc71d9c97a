// Labels that are not integers.
// expect: dtype_not_supported<
// expect: "cross_entropy"
// expect: [B, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto logits = input<"logits", f32, B, T, 65>;
inline constexpr auto labels = input<"labels", f32, B, T>;
inline constexpr auto loss = cross_entropy(logits, labels);  // here
