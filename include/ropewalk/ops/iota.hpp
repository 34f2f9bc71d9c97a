// iota<N, D>: 0, 1, ..., N - 1 as [N]; no gradient.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {
struct iota_family {
  using family = iota_family;
  static constexpr const char* name = "iota";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type*, int, int) {
    return {static_cast<dtype>(a.i[0]), shape{a.d[0]}};
  }
  static scalar lower(lowering& l) { return l.cast(l.index(0), l.type().d); }
  static void reference(const reference_call& c) {
    for (std::size_t i = 0; i < c.out[0].v.size(); ++i) c.out[0].v[i] = static_cast<double>(i);
  }
};
template <dtype D, dim N>
struct iota : iota_family {
  static constexpr attrs attributes{.i = {static_cast<std::int64_t>(D)}, .d = {N}};
};
}  // namespace op
ROPEWALK_LIBRARY_OP(iota_family);

template <dim N, dtype D = dtype::i32>
inline constexpr node<op::iota<D, N>> iota{};

}  // namespace ropewalk
