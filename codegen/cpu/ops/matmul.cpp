// matmul on the CPU: the op's strided operands handed to the blocked product.
#include "ropewalk/ops/matmul.hpp"

#include <algorithm>

#include "ropewalk/runtime/cpu_kernels.hpp"
#include "ropewalk/runtime/tensor.hpp"

namespace ropewalk::op {
namespace {

// The leading axes of operand `t` as batch strides aligned with the result's.
void batch_strides(const tensor_ref& t, const tensor_ref& out, long* strides) {
  for (int b = 0; b + 2 < out.rank; ++b) {
    const int axis = b - (out.rank - t.rank);
    strides[b] = axis < 0 || t.extent[axis] == 1 ? 0 : static_cast<long>(t.stride[axis]);
  }
}

gemm_args arguments(const kernel_call& c) {
  const tensor_ref &a = c.in[0], &b = c.in[1], &out = c.out[0];
  const bool ta = c.a.i[0] != 0, tb = c.a.i[1] != 0;
  gemm_args g;
  g.m = static_cast<long>(out.extent[out.rank - 2]);
  g.n = static_cast<long>(out.extent[out.rank - 1]);
  g.k = static_cast<long>(a.extent[a.rank - (ta ? 2 : 1)]);
  g.a = a.data, g.b = b.data, g.c = out.data;
  g.a_row = static_cast<long>(a.stride[a.rank - (ta ? 1 : 2)]);
  g.a_col = static_cast<long>(a.stride[a.rank - (ta ? 2 : 1)]);
  g.b_row = static_cast<long>(b.stride[b.rank - (tb ? 1 : 2)]);
  g.b_col = static_cast<long>(b.stride[b.rank - (tb ? 2 : 1)]);
  g.c_row = static_cast<long>(out.stride[out.rank - 2]);
  g.batch_dims = std::max(0, out.rank - 2);
  for (int i = 0; i + 2 < out.rank; ++i) g.batch_extent[i] = static_cast<long>(out.extent[i]);
  batch_strides(a, out, g.a_batch);
  batch_strides(b, out, g.b_batch);
  batch_strides(out, out, g.c_batch);
  return g;
}

}  // namespace

void matmul_family::kernel(const kernel_call& c) {
  gemm(*c.threads, c.level, c.out[0].type, arguments(c), c.workspace);
}

std::size_t matmul_family::workspace(const kernel_call& c) {
  return gemm_workspace(c.threads->threads(), c.level, c.out[0].type, arguments(c));
}

double matmul_family::flops(const kernel_call& c) {
  return 2 * static_cast<double>(tensor_view("", c.out[0]).elements()) *
         static_cast<double>(arguments(c).k);
}

}  // namespace ropewalk::op
