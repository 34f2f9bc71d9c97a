// A dim that does not divide.
// expect: a dim must divide without remainder
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim C{"C", 384};
inline constexpr dim D = C / 5;  // here
