// YaRN: beta_fast must exceed beta_slow.
// expect: rope_schedule_refuses<
// expect: rope_yarn
// expect: beta_fast
// expect: must exceed beta_slow
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_yarn{.factor = 4, .beta_fast = 1}>);  // here
