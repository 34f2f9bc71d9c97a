// An output that the program does not have.
// expect: not_an_output_of_the_program<
// expect: [B, T, 65]
#include <ropewalk/ropewalk.hpp>
#include <ropewalk/session.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T, 384>;
inline constexpr auto logits = linear<"head", 65>(x);
inline constexpr auto eval = program<"eval">([] { return outputs(output<"mean">(mean(logits))); });
void f(const session<eval>& s) {
  s.get(logits);  // here
}
