// A cotangent of another shape than its value.
// expect: cotangent_does_not_fit<
// expect: [B, 8]
// expect: [8]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 8>;
inline constexpr auto ct = input<"ct", f32, 8>;
inline constexpr auto g = vector_jacobian(square(x), ct, x);  // here
