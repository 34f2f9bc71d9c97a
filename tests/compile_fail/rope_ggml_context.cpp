// ggml: the ramp needs the original context.
// expect: rope_schedule_refuses<
// expect: rope_ggml
// expect: n_ctx_orig
// expect: must be positive and finite
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_ggml{.freq_scale = 0.25, .ext_factor = 1}>);  // here
