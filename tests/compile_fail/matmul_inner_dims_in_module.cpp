// Inner dims of a product differ in a module's body, behind attention.
// expect: matmul_inner_dims_differ<
// expect: [B, 256, 384]
// expect: [512, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T", 256}, C{"C", 384}, H{"H", 6};
inline constexpr auto block = module<"block">([](auto x) {
  auto [q, k, v] = split<3, H>(linear<"qkv", 3 * C>(layer_norm<"ln1">(x)));
  auto a = attention(rope(q, half_split), rope(k, half_split), v, causal);
  auto y = let([=] { return x + linear<"out", C>(merge_heads(a)); });
  return matmul(y, param<"w", init_normal(0.02), 512, C>);  // here
});
inline constexpr auto x = input<"x", f32, B, T, C>;
inline constexpr auto y = call<"h0">(block)(x);
