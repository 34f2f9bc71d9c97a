// attention on the CPU: strided operands handed to the block-wise kernels; and the reference.
#include "ropewalk/ops/attention.hpp"

#include <cmath>
#include <limits>

#include "ropewalk/runtime/cpu_kernels.hpp"

namespace ropewalk::op {
namespace {

// [batch, head, row, last]; a tensor without the batch axis has one batch item. `trailing`: axes
// behind the rows (1, or 0 for the log-sum-exp).
template <class Pointer>
head_rows<Pointer> rows(const tensor_ref& t, int trailing) {
  const int row = t.rank - 1 - trailing;
  head_rows<Pointer> r{t.data};
  r.row = static_cast<long>(t.stride[row]);
  r.head = static_cast<long>(t.stride[row - 1]);
  r.batch = row >= 2 ? static_cast<long>(t.stride[row - 2]) : 0;
  return r;
}

attention_args sizes(const kernel_call& c) {
  const tensor_ref &q = c.in[0], &k = c.in[1], &v = c.in[2];
  attention_args a;
  a.batch = q.rank == 4 ? static_cast<long>(q.extent[0]) : 1;
  a.heads = static_cast<long>(q.extent[q.rank - 3]);
  a.kv_heads = static_cast<long>(k.extent[k.rank - 3]);
  a.tq = static_cast<long>(q.extent[q.rank - 2]);
  a.tk = static_cast<long>(k.extent[k.rank - 2]);
  a.dk = static_cast<long>(q.extent[q.rank - 1]);
  a.dv = static_cast<long>(v.extent[v.rank - 1]);
  a.scale = c.a.f[0] != 0 ? c.a.f[0] : 1 / std::sqrt(static_cast<double>(a.dk));
  a.causal = c.a.i[0] != 0;
  a.q = rows<const void*>(q, 1), a.k = rows<const void*>(k, 1), a.v = rows<const void*>(v, 1);
  return a;
}
attention_args forward_args(const kernel_call& c) {
  attention_args a = sizes(c);
  a.out = rows<void*>(c.out[0], 1), a.lse = rows<void*>(c.out[1], 0);
  return a;
}
attention_args backward_args(const kernel_call& c) {
  attention_args a = sizes(c);
  a.out = rows<void*>(c.in[3], 1), a.lse = rows<void*>(c.in[4], 0);
  a.d_out = rows<const void*>(c.in[5], 1);
  a.d_q = rows<void*>(c.out[0], 1), a.d_k = rows<void*>(c.out[1], 1);
  a.d_v = rows<void*>(c.out[2], 1);
  return a;
}

// The reference works on plain loops over dense tensors.
struct dense_attention {
  const reference_call& c;
  std::int64_t batch, heads, groups, tq, tk, dk, dv;
  double scale;
  bool causal;
  explicit dense_attention(const reference_call& call) : c(call) {
    const auto &q = c.in[0]->extent, &k = c.in[1]->extent;
    const std::size_t r = q.size();
    batch = r == 4 ? q[0] : 1, heads = q[r - 3], tq = q[r - 2], dk = q[r - 1];
    groups = k[r - 3], tk = k[r - 2], dv = c.in[2]->extent[r - 1];
    scale = c.a.f[0] != 0 ? c.a.f[0] : 1 / std::sqrt(static_cast<double>(dk));
    causal = c.a.i[0] != 0;
  }
  // Offsets of a row of q (or out, with width dv) and of k or v.
  std::size_t query(std::int64_t b, std::int64_t h, std::int64_t j, std::int64_t width) const {
    return static_cast<std::size_t>(((b * heads + h) * tq + j) * width);
  }
  std::size_t key(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t width) const {
    return static_cast<std::size_t>(((b * groups + h / (heads / groups)) * tk + n) * width);
  }
  double score(std::int64_t b, std::int64_t h, std::int64_t j, std::int64_t n) const {
    if (causal && n > tk - tq + j) return -std::numeric_limits<double>::infinity();
    double s = 0;
    for (std::int64_t d = 0; d < dk; ++d)
      s += c.in[0]->v[query(b, h, j, dk) + static_cast<std::size_t>(d)] *
           c.in[1]->v[key(b, h, n, dk) + static_cast<std::size_t>(d)];
    return scale * s;
  }
  template <class F>  // f(batch, head, query)
  void for_each_row(F f) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t j = 0; j < tq; ++j) f(b, h, j);
  }
};

}  // namespace

void attention_family::kernel(const kernel_call& c) {
  attention_forward(*c.threads, c.level, c.in[0].type, forward_args(c), c.workspace);
}
std::size_t attention_family::workspace(const kernel_call& c) {
  return attention_forward_workspace(c.threads->threads(), c.level, c.in[0].type, forward_args(c));
}
void attention_backward_family::kernel(const kernel_call& c) {
  ropewalk::attention_backward(*c.threads, c.level, c.in[0].type, backward_args(c), c.workspace);
}
std::size_t attention_backward_family::workspace(const kernel_call& c) {
  return attention_backward_workspace(c.threads->threads(), c.level, c.in[0].type,
                                      backward_args(c));
}

void attention_family::reference(const reference_call& c) {
  const dense_attention a(c);
  a.for_each_row([&](std::int64_t b, std::int64_t h, std::int64_t j) {
    double top = -std::numeric_limits<double>::infinity(), total = 0;
    for (std::int64_t n = 0; n < a.tk; ++n) top = std::max(top, a.score(b, h, j, n));
    double& lse = c.out[1].v[a.query(b, h, j, 1)];
    lse = top;
    if (std::isinf(top)) return;
    for (std::int64_t n = 0; n < a.tk; ++n) total += std::exp(a.score(b, h, j, n) - top);
    lse = top + std::log(total);
    for (std::int64_t n = 0; n < a.tk; ++n) {
      const double s = a.score(b, h, j, n);
      if (std::isinf(s)) continue;
      for (std::int64_t d = 0; d < a.dv; ++d)
        c.out[0].v[a.query(b, h, j, a.dv) + static_cast<std::size_t>(d)] +=
            std::exp(s - lse) * c.in[2]->v[a.key(b, h, n, a.dv) + static_cast<std::size_t>(d)];
    }
  });
}

void attention_backward_family::reference(const reference_call& c) {
  const dense_attention a(c);
  const auto &q = c.in[0]->v, &k = c.in[1]->v, &v = c.in[2]->v, &out = c.in[3]->v;
  const auto &lse = c.in[4]->v, &g = c.in[5]->v;
  a.for_each_row([&](std::int64_t b, std::int64_t h, std::int64_t j) {
    const std::size_t row = a.query(b, h, j, a.dv);
    double total = 0;  // rowsum(dO * O)
    for (std::size_t d = 0; d < static_cast<std::size_t>(a.dv); ++d)
      total += g[row + d] * out[row + d];
    for (std::int64_t n = 0; n < a.tk; ++n) {
      const double s = a.score(b, h, j, n);
      if (std::isinf(s)) continue;
      const double p = std::exp(s - lse[a.query(b, h, j, 1)]);
      const std::size_t kr = a.key(b, h, n, a.dk), vr = a.key(b, h, n, a.dv);
      const std::size_t qr = a.query(b, h, j, a.dk);
      double dp = 0;
      for (std::size_t d = 0; d < static_cast<std::size_t>(a.dv); ++d) {
        dp += g[row + d] * v[vr + d];
        c.out[2].v[vr + d] += p * g[row + d];
      }
      const double ds = a.scale * p * (dp - total);
      for (std::size_t d = 0; d < static_cast<std::size_t>(a.dk); ++d) {
        c.out[0].v[qr + d] += ds * k[kr + d];
        c.out[1].v[kr + d] += ds * q[qr + d];
      }
    }
  });
}

}  // namespace ropewalk::op
