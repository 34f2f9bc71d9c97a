// linear_cross_entropy(x, w, labels): cross_entropy(x W^T, labels) without the logits.
//   x [..., C], w [V, C], labels i32 [...]  ->  the mean over counted tokens (a scalar)
// The vocabulary is worked through in chunks: forward keeps a running log-sum-exp, backward makes a
// chunk's logits again and hands its gradient to the two products of the head. No buffer has tokens x
// V elements. Options, ignored labels and smoothing as in cross_entropy.
#pragma once
#include "ropewalk/grad/vjp.hpp"
#include "ropewalk/ops/cross_entropy.hpp"
#include "ropewalk/ops/matmul.hpp"

namespace ropewalk {

namespace op {

// x [N, C], w [V, C], labels [N] -> loss [N], lse [N]. i[0]: the ignored label; f[0]: smoothing.
struct linear_cross_entropy_family {
  using family = linear_cross_entropy_family;
  static constexpr const char* name = "linear_cross_entropy";
  static constexpr op_class kind = op_class::kernel;
  static constexpr int results = 2;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return {in[0].d, in[2].s};
  }
  static void kernel(const kernel_call& c);  // codegen/cpu/ops/linear_cross_entropy.cpp
  static std::size_t workspace(const kernel_call& c);
  static double flops(const kernel_call& c);
  static void reference(const reference_call& c);
};
// x, w, labels, lse, d_loss [N] -> d_x, d_w.
struct linear_cross_entropy_backward_family {
  using family = linear_cross_entropy_backward_family;
  static constexpr const char* name = "linear_cross_entropy_backward";
  static constexpr op_class kind = op_class::kernel;
  static constexpr int results = 2;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int k) {
    return in[k];
  }
  static void kernel(const kernel_call& c);
  static std::size_t workspace(const kernel_call& c);
  static double flops(const kernel_call& c);
  static void reference(const reference_call& c);
};

template <int Ignore, number Smoothing>
struct linear_cross_entropy_backward;

template <int Ignore, number Smoothing>
struct linear_cross_entropy : linear_cross_entropy_family {
  static constexpr attrs attributes{.i = {Ignore}, .f = {Smoothing.v}};
  template <int J>
  static constexpr auto grad(auto s) {
    if constexpr (J == 2) {
      return no_gradient{};
    } else {
      auto x = s.template in<0>();
      auto w = s.template in<1>();
      auto labels = s.template in<2>();
      auto lse = s.template out<1>();
      auto g = s.template cotangent<0>();
      using backward =
          decltype(make<linear_cross_entropy_backward<Ignore, Smoothing>>(x, w, labels, lse, g));
      return pick<J, backward>{};
    }
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(linear_cross_entropy_family);
ROPEWALK_LIBRARY_OP(linear_cross_entropy_backward_family);

// The same as a composition, from which a gradient of the gradient is derived.
template <int Ignore, number Smoothing>
inline constexpr auto linear_cross_entropy_composed =
    module<"linear_cross_entropy_composed">([](auto x, auto w, auto labels) {
      return token_cross_entropy_module<Ignore, Smoothing>(matmul<false, true>(x, w), labels);
    });

namespace op {

template <int Ignore, number Smoothing>
struct linear_cross_entropy_backward : linear_cross_entropy_backward_family {
  static constexpr attrs attributes{.i = {Ignore}, .f = {Smoothing.v}};
  // As a function of x, w and d_loss; lse follows from x and w.
  template <int J>
  static constexpr auto grad(auto s) {
    if constexpr (J == 2 || J == 3) return no_gradient{};
    else return term<0, (J == 4 ? 3 : J)>(s) + term<1, (J == 4 ? 3 : J)>(s);
  }
  template <int K, int Argument>
  static constexpr auto term(auto s) {
    auto x = s.template in<0>();
    auto w = s.template in<1>();
    auto labels = s.template in<2>();
    auto g = s.template in<4>();
    auto c = s.template cotangent<K>();
    using composed = std::remove_cvref_t<decltype(linear_cross_entropy_composed<Ignore, Smoothing>)>;
    return call_t<vjp<vjp<composed, 3, K>, 4, Argument>, "", decltype(x), decltype(w),
                  decltype(labels), decltype(g), decltype(c)>{};
  }
};

}  // namespace op

// x is not labels' shape with the columns of w behind, or labels are not i32.
template <class X, class W, class Labels>
struct linear_cross_entropy_shapes_differ : mistake<shp<"[]">> {
  static_assert(never<X>, "linear cross entropy shapes differ");
};
namespace detail {
template <class X, class W, class L>
constexpr bool head_fits() {
  return W::type.s.rank == 2 && X::type.d == W::type.d && labels_fit<X, L>() &&
         X::type.s[-1] == W::type.s[-1];
}
}  // namespace detail

template <int Ignore = -100, number Smoothing = 0.0, expression X, expression W, expression L>
  requires(detail::head_fits<X, W, L>())
constexpr auto linear_cross_entropy(const X& x, const W&, const L& labels) {
  constexpr dim n = L::type.s.elements(), c = X::type.s[-1];
  auto rows = reshape<n, c>(x);
  auto ids = reshape<n>(labels);
  using losses =
      pick<0, node<op::linear_cross_entropy<Ignore, Smoothing>, decltype(rows), W, decltype(ids)>>;
  constexpr dtype d = X::type.d;
  auto counted = where(equal(ids, constant<double(Ignore)>), constant<0.0, d>, constant<1.0, d>);
  return sum(losses{}) / maximum(sum(counted), constant<1.0>);
}
template <int Ignore = -100, number Smoothing = 0.0, expression X, expression W, expression L,
          class Error = linear_cross_entropy_shapes_differ<shp_of<X>, shp_of<W>, shp_of<L>>>
  requires(!detail::head_fits<X, W, L>())
Error linear_cross_entropy(const X&, const W&, const L&);

}  // namespace ropewalk
