// Programs that the golden files have values for: ops that move elements, gathers and running sums.
#pragma once
#include <ropewalk/ops/concat.hpp>
#include <ropewalk/ops/cumsum.hpp>
#include <ropewalk/ops/expand.hpp>
#include <ropewalk/ops/gather_rows.hpp>
#include <ropewalk/ops/pad.hpp>
#include <ropewalk/ops/permute.hpp>
#include <ropewalk/ops/reshape.hpp>
#include <ropewalk/ops/slice.hpp>
#include <ropewalk/ops/split.hpp>
#include <ropewalk/ops/tile.hpp>

#include "leaves.hpp"

namespace cases {

template <dim... D>
inline constexpr auto table = input<"table", f32, D...>;
template <dim... D>
inline constexpr auto base = input<"base", f32, D...>;
template <dim... D>
inline constexpr auto src = input<"src", f32, D...>;
template <dim... D>
inline constexpr auto ids = input<"ids", i32, D...>;

inline constexpr auto reshape_flatten =
    program<"reshape_flatten">([] { return differentiated(reshape<24>(x<2, 3, 4>), x<2, 3, 4>); });
inline constexpr auto reshape_split =
    program<"reshape_split">([] { return differentiated(reshape<6, 4>(x<2, 3, 4>), x<2, 3, 4>); });
inline constexpr auto transpose_2d =
    program<"transpose_2d">([] { return differentiated(transpose(x<3, 5>), x<3, 5>); });
inline constexpr auto permute_021 =
    program<"permute_021">([] { return differentiated(permute<0, 2, 1>(x<2, 3, 4>), x<2, 3, 4>); });
inline constexpr auto permute_201 =
    program<"permute_201">([] { return differentiated(permute<2, 0, 1>(x<2, 3, 4>), x<2, 3, 4>); });
inline constexpr auto permute_102 =
    program<"permute_102">([] { return differentiated(permute<1, 0, 2>(x<2, 3, 4>), x<2, 3, 4>); });
inline constexpr auto concat_axis0 = program<"concat_axis0">([] {
  return differentiated(concat<0>(x<1, 3, 4>, y<3, 3, 4>, z<2, 3, 4>), x<1, 3, 4>, y<3, 3, 4>,
                        z<2, 3, 4>);
});
inline constexpr auto concat_axis1 = program<"concat_axis1">([] {
  return differentiated(concat<1>(x<2, 1, 4>, y<2, 3, 4>, z<2, 2, 4>), x<2, 1, 4>, y<2, 3, 4>,
                        z<2, 2, 4>);
});
inline constexpr auto concat_axis2 = program<"concat_axis2">([] {
  return differentiated(concat<2>(x<2, 3, 1>, y<2, 3, 3>, z<2, 3, 2>), x<2, 3, 1>, y<2, 3, 3>,
                        z<2, 3, 2>);
});
inline constexpr auto slice_step =
    program<"slice_step">([] { return differentiated(slice<1, 1, 3, 3>(x<3, 9>), x<3, 9>); });
inline constexpr auto slice_plain = program<"slice_plain">(
    [] { return differentiated(slice<1, 2, 3>(slice<0, 1, 2>(x<4, 5>)), x<4, 5>); });
inline constexpr auto pad_constant = program<"pad_constant">(
    [] { return differentiated(pad<-1, 1, 2, 0.5>(pad<-2, 0, 1, 0.5>(x<2, 3, 4>)), x<2, 3, 4>); });
inline constexpr auto repeat_axis1 =
    program<"repeat_axis1">([] { return differentiated(tile<1, 3>(x<2, 2, 3>), x<2, 2, 3>); });
inline constexpr auto expand_ones =
    program<"expand_ones">([] { return differentiated(expand<4, 3, 5>(x<3, 1>), x<3, 1>); });
inline constexpr auto gather_rows_embedding = program<"gather_rows_embedding">(
    [] { return differentiated(gather_rows(table<7, 5>, ids<2, 4>), table<7, 5>); });
inline constexpr auto scatter_add_rows = program<"scatter_add_rows">([] {
  return differentiated(scatter_add(base<5, 3>, ids<6>, src<6, 3>), base<5, 3>, src<6, 3>);
});
inline constexpr auto cumsum_last =
    program<"cumsum_last">([] { return differentiated(cumsum<-1>(x<3, 6>), x<3, 6>); });
inline constexpr auto cumsum_first =
    program<"cumsum_first">([] { return differentiated(cumsum<0>(x<4, 3, 2>), x<4, 3, 2>); });
inline constexpr auto split_axis1 = program<"split_axis1">([] {
  auto [a, b, c] = split_axis<1, 1, 2, 3>(x<2, 6>);
  // All three cotangents at once: that of the concatenation is theirs, one behind the other.
  auto whole = concat<1>(a, b, c);
  auto ct =
      concat<1>(input<"d_out0", f32, 2, 1>, input<"d_out1", f32, 2, 2>, input<"d_out2", f32, 2, 3>);
  return outputs(output<"out0">(a), output<"out1">(b), output<"out2">(c),
                 output<"d_x">(vector_jacobian(whole, ct, x<2, 6>)));
});

}  // namespace cases
