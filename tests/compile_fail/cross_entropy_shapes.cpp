// Labels that do not fit the logits.
// expect: cross_entropy_shapes_differ<
// expect: [B, T, 65]
// expect: [B, 65]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto logits = input<"logits", f32, B, T, 65>;
inline constexpr auto labels = input<"labels", i32, B, 65>;
inline constexpr auto loss = cross_entropy(logits, labels);  // here
