// A mode that ggml does not have.
// expect: rope_mode_is_unknown<3
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, ggml_rope_mode<3>);  // here
