// Programs that differentiate gradients: "loss" is itself made of a gradient.
#pragma once
#include <ropewalk/grad/custom.hpp>
#include <ropewalk/ropewalk.hpp>

namespace second_order {
using namespace ropewalk;

inline constexpr dim B{"B", 2}, C{"C", 4};
inline constexpr auto x = input<"x", f32, B, C>;
inline constexpr auto v = input<"v", f32, B, C>;

// sum(grad(loss, x) * v): its gradient in x is the Hessian times v.
template <class Loss>
constexpr auto product(const Loss& loss) {
  return sum(grad(loss, x) * v);
}
template <class Loss>
constexpr auto hessian(const Loss& loss) {
  return outputs(output<"loss">(product(loss)), output<"grad.x">(grad(product(loss), x)));
}

inline constexpr auto layer =
    module<"layer">([](auto a) { return a + tanh(linear<"w", C>(a)) * sigmoid(a); });
inline constexpr auto nested =
    module<"nested">([](auto a) { return call<"in">(layer)(rms_norm<"n">(a)); });

inline constexpr auto plain =
    program<"so_plain">([] { return hessian(sum(exp(tanh(x)) * x * x)); });
inline constexpr auto called =
    program<"so_called">([] { return hessian(mean(square(call<"h0">(nested)(x)))); });
inline constexpr auto repeated =
    program<"so_repeated">([] { return hessian(mean(square(repeat<2, "h">(layer)(x)))); });
// Parameter gradients of a loss that contains a gradient (a gradient penalty).
inline constexpr auto penalty = program<"so_penalty">([] {
  constexpr auto inner = mean(square(call<"h0">(layer)(x)));
  return outputs(parameter_gradients(inner + sum(square(grad(inner, x)))));
});
inline constexpr auto repeated_penalty = program<"so_repeated_penalty">([] {
  constexpr auto inner = mean(square(repeat<2, "h">(layer)(x)));
  return outputs(parameter_gradients(inner + sum(square(grad(inner, x)))));
});

// Attention and rope: x as [B, 1, C, 1] heads of width 4 over B positions.
inline constexpr auto heads = module<"heads">([](auto a) {
  auto h = reshape<1, 1, B, C>(a);
  auto q = rope(h, half_split);
  return sum(square(attention(q, h * constant<0.5>, h, causal)));
});
inline constexpr auto attended =
    program<"so_attended">([] { return hessian(call<"a">(heads)(x)); });

// The straight-through estimator, and a rule with two operands.
inline constexpr auto rounded =
    with_gradient<"rounded">([](auto a) { return sign(a); }, [](auto, auto ct) { return ct; });
inline constexpr auto product_rule = with_gradient<"product">(
    [](auto a, auto b) { return a * b; },
    [](auto a, auto b, auto ct) { return results{ct * b, ct * a * constant<3.0>}; });
inline constexpr auto custom = program<"so_custom">([] {
  constexpr auto one = sum(rounded(x) * v);
  constexpr auto two = sum(product_rule(x, v));
  return outputs(output<"one">(grad(one, x)), output<"a">(grad(two, x)), output<"b">(grad(two, v)),
                 output<"again">(grad(sum(square(grad(sum(product_rule(x, v)), x))), v)));
});

// Linearity of the pullback in the cotangent.
inline constexpr auto c1 = input<"c1", f32, B, C>;
inline constexpr auto c2 = input<"c2", f32, B, C>;
inline constexpr auto linear_laws = program<"so_linear">([] {
  constexpr auto y = call<"h0">(nested)(x);
  return outputs(output<"a">(vector_jacobian(y, c1, x)), output<"b">(vector_jacobian(y, c2, x)),
                 output<"both">(vector_jacobian(y, c1 * constant<2.0> - c2, x)),
                 output<"none">(vector_jacobian(y, c1, v)));
});
}  // namespace second_order
