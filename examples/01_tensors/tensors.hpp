// Expressions: inputs, arithmetic with broadcasting, a product, a loss, and its gradient.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace tensors {
using namespace ropewalk;

// An expression is an empty constexpr object; its type is the graph. Nothing is computed here.
inline constexpr auto a = input<"a", f32, 2, 3>;
inline constexpr auto b = input<"b", f32, 3>;
inline constexpr auto w = input<"w", f32, 3, 2>;

inline constexpr auto total = a + b;                      // b is repeated: [2, 3]
inline constexpr auto product = matmul(a, w);             // [2, 3] x [3, 2] -> [2, 2]
inline constexpr auto loss = sum(square(tanh(product)));  // a number

// A gradient is an expression like any other: it can be printed, used, differentiated again.
inline constexpr auto gradient = grad(loss, a);  // [2, 3]

// What is compiled and run: the named results.
inline constexpr auto arithmetic = program<"arithmetic">([] {
  return outputs(output<"total">(total), output<"product">(product), output<"loss">(loss),
                 output<"gradient">(gradient));
});

}  // namespace tensors
