// matmul(a, b): a [..., M, K] x b [..., K, N] -> [..., M, N]; leading axes broadcast.
// matmul<true, false> and so on read the last two axes of a or b transposed.
// Gradient: two products of the same kind, summed over broadcast axes.
#pragma once
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/sum_to.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {

// i[0], i[1]: whether a, b are read transposed.
struct matmul_family {
  using family = matmul_family;
  static constexpr const char* name = "matmul";
  static constexpr op_class kind = op_class::kernel;
  static constexpr bool strided_inputs = true;
  static constexpr shape leading(const shape& s) {
    shape r;
    for (int i = 0; i + 2 < s.rank; ++i) r.push(s[i]);
    return r;
  }
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    shape s = broadcast(leading(in[0].s), leading(in[1].s)).s;
    s.push(in[0].s[a.i[0] ? -1 : -2]);
    s.push(in[1].s[a.i[1] ? -2 : -1]);
    return {in[0].d, s};
  }
  static void kernel(const kernel_call& c);  // codegen/cpu/ops/matmul.cpp
  static std::size_t workspace(const kernel_call& c);
  static double flops(const kernel_call& c);
  static void reference(const reference_call& c) {
    const dense &a = *c.in[0], &b = *c.in[1];
    dense& out = c.out[0];
    const bool ta = c.a.i[0] != 0, tb = c.a.i[1] != 0;
    const std::int64_t m = out.extent[out.extent.size() - 2], n = out.extent.back();
    const std::int64_t k = ta ? a.extent[a.extent.size() - 2] : a.extent.back();
    const std::vector<std::int64_t> lead(out.extent.begin(), out.extent.end() - 2);
    const std::vector<std::int64_t> la(a.extent.begin(), a.extent.end() - 2);
    const std::vector<std::int64_t> lb(b.extent.begin(), b.extent.end() - 2);
    const std::int64_t batches = static_cast<std::int64_t>(out.v.size()) / (m * n > 0 ? m * n : 1);
    for (std::int64_t e = 0; e < batches; ++e) {
      const double* x = a.v.data() + broadcast_position(lead, la, e) * static_cast<std::size_t>(m * k);
      const double* y = b.v.data() + broadcast_position(lead, lb, e) * static_cast<std::size_t>(k * n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double s = 0;
          for (std::int64_t p = 0; p < k; ++p)
            s += (ta ? x[p * m + i] : x[i * k + p]) * (tb ? y[j * k + p] : y[p * n + j]);
          out.v[static_cast<std::size_t>((e * m + i) * n + j)] = s;
        }
    }
  }
};

template <bool TransA, bool TransB>
struct matmul : matmul_family {
  static constexpr attrs attributes{.i = {TransA, TransB}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto a = s.template in<0>();
    auto b = s.template in<1>();
    auto g = s.cotangent();
    if constexpr (J == 0 && !TransA) return sum_to(make<matmul<false, !TransB>>(g, b), a);
    else if constexpr (J == 0) return sum_to(make<matmul<TransB, true>>(b, g), a);
    else if constexpr (!TransB) return sum_to(make<matmul<!TransA, false>>(a, g), b);
    else return sum_to(make<matmul<true, TransA>>(g, a), b);
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(matmul_family);

// The inner dims differ; shapes as the operands have them.
template <class A, class B>
struct matmul_inner_dims_differ : mistake<A> {
  static_assert(never<A>, "matmul inner dims differ");
};
template <class A, class B>
struct matmul_batch_dims_differ : mistake<A> {
  static_assert(never<A>, "matmul batch dims differ");
};
template <class A, class B>
struct matmul_needs_matrices : mistake<A> {
  static_assert(never<A>, "matmul needs matrices");
};

namespace detail {
// 0: fine; otherwise which rule is broken.
template <bool TA, bool TB, class A, class B>
constexpr int matmul_problem() {
  constexpr shape a = A::type.s, b = B::type.s;
  if (a.rank < 2 || b.rank < 2) return 1;
  if (A::type.d != B::type.d || !is_floating(A::type.d)) return 2;
  if (!(a[TA ? -2 : -1] == b[TB ? -1 : -2])) return 3;
  if (!broadcast(op::matmul_family::leading(a), op::matmul_family::leading(b)).ok) return 4;
  return 0;
}
template <int Problem, class A, class B>
struct matmul_mistake {
  using type = matmul_needs_matrices<shp_of<A>, shp_of<B>>;
};
template <class A, class B>
struct matmul_mistake<2, A, B> {
  using type = dtypes_differ<"matmul", A::type.d, B::type.d>;
};
template <class A, class B>
struct matmul_mistake<3, A, B> {
  using type = matmul_inner_dims_differ<shp_of<A>, shp_of<B>>;
};
template <class A, class B>
struct matmul_mistake<4, A, B> {
  using type = matmul_batch_dims_differ<shp_of<A>, shp_of<B>>;
};
template <class Node>
using node_shape = shp_for<expr_shape<Node>>;
}  // namespace detail

template <bool TransA = false, bool TransB = false, expression A, expression B>
  requires(detail::matmul_problem<TransA, TransB, A, B>() == 0)
constexpr auto matmul(const A& a, const B&) {
  constexpr shape s = A::type.s;
  if constexpr (B::type.s.rank == 2 && s.rank > 2 && !TransA) {
    // One large product instead of a batch of small ones: the rows of a are independent.
    constexpr dim rows = s.elements() / s[-1];
    using flat = node<op::matmul<TransA, TransB>, decltype(reshape<rows, s[-1]>(a)), B>;
    return reshape_to<detail::node_shape<node<op::matmul<TransA, TransB>, A, B>>>(flat{});
  } else {
    return node<op::matmul<TransA, TransB>, A, B>{};
  }
}
template <bool TransA = false, bool TransB = false, expression A, expression B,
          int Problem = detail::matmul_problem<TransA, TransB, A, B>(),
          class Error = typename detail::matmul_mistake<Problem, A, B>::type>
  requires(Problem != 0)
Error matmul(const A&, const B&);

}  // namespace ropewalk
