// A module called with one operand too many.
// expect-g++: candidate expects 1 argument, 2 provided
// expect-clang: requires single argument 'x', but 2 arguments were provided
// expect: [B, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, C{"C", 384};
inline constexpr auto mix = module<"mix">([](auto x) { return linear<"mix", C>(x); });
inline constexpr auto x = input<"x", f32, B, C>;
inline constexpr auto y = call<"h0">(mix)(x, x);  // here
