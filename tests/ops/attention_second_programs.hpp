// Gradients of attention's gradients.
#pragma once
#include "attention_programs.hpp"

namespace cases {

// Pulled back once, as a function of every operand.
inline constexpr auto attention_second = program<"attention_second">([] {
  constexpr auto a = q<1, 2, 3, 2>;
  constexpr auto b = k<1, 1, 4, 2>;
  constexpr auto c = v<1, 1, 4, 2>;
  constexpr auto g = input<"g", f32, 1, 2, 3, 2>;
  auto pulled = let([=] {
    auto z = attention(a, b, c, causal, soft_cap<2.0>, mask(bias<3, 4>), sinks(sink<2>));
    return sum(vector_jacobian(z, g, a) * w<1, 2, 3, 2>) +
           sum(vector_jacobian(z, g, bias<3, 4>) * input<"u", f32, 3, 4>);
  });
  return outputs(output<"out">(pulled), output<"d_q">(grad(pulled, a)),
                 output<"d_k">(grad(pulled, b)), output<"d_v">(grad(pulled, c)),
                 output<"d_mask">(grad(pulled, bias<3, 4>)), output<"d_g">(grad(pulled, g)),
                 output<"d_sinks">(grad(pulled, sink<2>)));
});

inline constexpr auto attention_second_structure = program<"attention_second_structure">([] {
  constexpr auto a = q<1, 2, 3, 4>;
  constexpr auto b = k<1, 1, 5, 4>;
  constexpr auto c = v<1, 1, 5, 2>;
  constexpr auto g = input<"g", f32, 1, 2, 3, 2>;
  auto pulled = let([=] {
    auto z = attention(a, b, c, sliding_window<3>, slopes(slope<2>), scaled_by(scale),
                       documents(input<"documents", i32, 3>), start(input<"start", i32, 1>),
                       fused_rope(half_split), attention_dropout<"drop", 0.3>);
    return sum(vector_jacobian(z, g, b) * w<1, 1, 5, 4>) +
           sum(vector_jacobian(z, g, slope<2>) * input<"u", f32, 2>) +
           sum(vector_jacobian(z, g, scale));
  });
  return outputs(output<"out">(pulled), output<"d_q">(grad(pulled, a)),
                 output<"d_k">(grad(pulled, b)), output<"d_v">(grad(pulled, c)),
                 output<"d_g">(grad(pulled, g)), output<"d_slopes">(grad(pulled, slope<2>)),
                 output<"d_scale">(grad(pulled, scale)))
      .in_training_mode();
});

inline constexpr auto attention_everything_twice = program<"attention_everything_twice">([] {
  constexpr auto a = q<1, 2, 5, 4>;
  constexpr auto b = k<1, 1, 6, 4>;
  constexpr auto c = v<1, 1, 6, 2>;
  constexpr auto g = input<"g", f32, 1, 2, 5, 2>;
  auto pulled = vector_jacobian(everything(a, b, c), g, b);
  return differentiated(pulled, a, b, c, g, bias<5, 6>, slope<2>, sink<2>, scale)
      .in_training_mode();
});

}  // namespace cases
