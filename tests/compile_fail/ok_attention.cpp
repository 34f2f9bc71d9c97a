// The calls of docs/attention.md.
#include <ropewalk/ropewalk.hpp>
using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, S{"S"}, H{"H", 8}, G{"G", 2}, D{"D", 64};
inline constexpr auto q = input<"q", f32, B, H, T, D>;
inline constexpr auto k = input<"k", f32, B, G, S, D>;
inline constexpr auto v = input<"v", f32, B, G, S, D>;
inline constexpr auto keep = input<"keep", boolean, B, 1, T, S>;
inline constexpr auto used = input<"used", i32, B>;
inline constexpr auto a1 = attention(q, k, v, causal);
inline constexpr auto a2 = attention(q, k, v, causal, sliding_window<128>, sinks(param<"sinks", init_zeros(), H>));
inline constexpr auto a3 = attention(q, k, v, mask(where(keep, constant<0.0>, constant<-__builtin_inf()>)));
inline constexpr auto a4 = attention(q, cast<bf16>(k), cast<bf16>(v), causal, start(used), soft_cap<50.0>, scaled<0.0625>);
inline constexpr auto a5 = attention(q, k, v, causal, fused_rope(half_split, rope_base<500000.0>));
inline constexpr auto a6 = attention(q, k, v, alibi<8.0>, causal, attention_dropout<"drop", 0.1>);
