// Programs of bools, ties, masked rows and dropout.
#pragma once
#include <ropewalk/ops.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr auto relations = program<"relations">([] {
  auto a = x<9>;
  auto b = y<9>;
  return outputs(
      output<"less">(cast<f32>(a < b)), output<"less_equal">(cast<f32>(a <= b)),
      output<"greater">(cast<f32>(a > b)), output<"greater_equal">(cast<f32>(a >= b)),
      output<"equal">(cast<f32>(equal(a, b))), output<"not_equal">(cast<f32>(not_equal(a, b))),
      output<"and">(cast<f32>(a < b && constant<0.0> < a)),
      output<"or">(cast<f32>(a < b || constant<0.0> < a)), output<"not">(cast<f32>(!(a < b))));
});

inline constexpr auto masked = program<"masked">([] {
  auto all = x<3, 4>;
  return outputs(output<"softmax">(softmax(all)), output<"log_softmax">(log_softmax(all)),
                 output<"logsumexp">(logsumexp<axes{-1}>(all)),
                 output<"d_softmax">(vector_jacobian(softmax(all), y<3, 4>, all)),
                 output<"d_logsumexp">(vector_jacobian(logsumexp<axes{-1}>(all), z<3>, all)));
});

inline constexpr auto tied = program<"tied">([] {
  return outputs(output<"max">(max<axes{1}>(x<2, 4>)), output<"min">(min(x<2, 4>)),
                 output<"argmax">(argmax(x<2, 4>)),
                 output<"d_max">(vector_jacobian(max<axes{1}>(x<2, 4>), y<2>, x<2, 4>)),
                 output<"d_min">(vector_jacobian(min(x<2, 4>), z<>, x<2, 4>)));
});

// Two layers of one block, and a second dropout beside: three places, three masks.
inline constexpr auto layer = module<"layer">([](auto x) { return dropout<"drop", 0.25>(x); });
inline constexpr auto dropped = program<"dropped">([] {
  auto first = call<"l0">(layer)(x<40, 50>);
  auto second = call<"l1">(layer)(x<40, 50>);
  auto third = dropout<"other", 0.25>(x<40, 50>);
  return outputs(output<"first">(first), output<"second">(second), output<"third">(third),
                 output<"again">(call<"l0">(layer)(x<40, 50>) * constant<2.0>),
                 output<"d_first">(vector_jacobian(first, y<40, 50>, x<40, 50>)))
      .in_training_mode();
});
inline constexpr auto kept = program<"kept">([] {
  auto first = call<"l0">(layer)(x<3, 2>);
  return outputs(output<"out">(first),
                 output<"d_x">(vector_jacobian(first, input<"d_out", f32, 3, 2>, x<3, 2>)));
});
inline constexpr auto deep_dropout = program<"deep_dropout">([] {
  auto deep = repeat<3, "h">(layer)(x<40, 50>);
  return outputs(output<"out">(deep), output<"d_x">(vector_jacobian(deep, y<40, 50>, x<40, 50>)))
      .in_training_mode();
});

}  // namespace cases
