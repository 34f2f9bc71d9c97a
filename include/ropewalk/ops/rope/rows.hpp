// half_split_rows<H>(w), interleaved_rows<H>(w): a q or k projection of H heads, w [H * D, in] (or
// its bias [H * D]), whose rows pair the one way, for rope that pairs the other way: rows (2 i, 2 i
// + 1) of a head become (i, i + D/2), and back. Each is the other's inverse and gradient.
#pragma once
#include "ropewalk/ops/permute.hpp"
#include "ropewalk/ops/reshape.hpp"

namespace ropewalk {

// The rows of w [H * D, ...] are not an even number for each of H heads.
template <dim Heads, class W>
struct rope_rows_do_not_fit : mistake<W> {
  static_assert(never<W>, "rope rows do not fit");
};

namespace detail {
template <dim H, class W>
constexpr bool rope_rows_fit() {
  constexpr shape s = W::type.s;
  if (s.rank != 1 && s.rank != 2) return false;
  return !s[0].fixed() || !H.fixed() || (H.n > 0 && s[0].n % (2 * H.n) == 0);
}
// The rows of each head as a matrix [A, B], transposed.
template <dim H, dim A, dim B, class W>
constexpr auto transpose_rows(const W& w) {
  constexpr shape s = W::type.s;
  if constexpr (s.rank == 1)
    return reshape_to<shp_of<W>>(permute<0, 2, 1>(reshape<H, A, B>(w)));
  else
    return reshape_to<shp_of<W>>(permute<0, 2, 1, 3>(reshape<H, A, B, s[1]>(w)));
}
}  // namespace detail

template <dim H, expression W>
  requires(detail::rope_rows_fit<H, W>())
constexpr auto half_split_rows(const W& w) {
  return detail::transpose_rows<H, W::type.s[0] / (dim(2) * H), 2>(w);
}
template <dim H, expression W, class Error = rope_rows_do_not_fit<H, shp_of<W>>>
  requires(!detail::rope_rows_fit<H, W>())
Error half_split_rows(const W&);

template <dim H, expression W>
  requires(detail::rope_rows_fit<H, W>())
constexpr auto interleaved_rows(const W& w) {
  return detail::transpose_rows<H, 2, W::type.s[0] / (dim(2) * H)>(w);
}
template <dim H, expression W, class Error = rope_rows_do_not_fit<H, shp_of<W>>>
  requires(!detail::rope_rows_fit<H, W>())
Error interleaved_rows(const W&);

}  // namespace ropewalk
