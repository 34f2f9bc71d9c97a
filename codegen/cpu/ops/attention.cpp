// attention on the CPU: strided operands and options handed to the block-wise kernels.
#include "ropewalk/ops/attention.hpp"

#include <algorithm>

#include "attention_call.hpp"
#include "ropewalk/runtime/cpu_kernels.hpp"

namespace ropewalk::op {
namespace {

// Where the workspace is asked for, no data is there yet: an address that is never read.
template <class Pointer>
Pointer address(const tensor_ref& t) {
  static std::byte none;
  return t.data != nullptr ? t.data : &none;
}

// [batch, head, row, last]; a tensor without the batch axis has one batch item. `trailing`: axes
// behind the rows (1, or 0 for the log-sum-exp).
template <class Pointer>
head_rows<Pointer> rows(const tensor_ref& t, int trailing) {
  const int row = t.rank - 1 - trailing;
  head_rows<Pointer> r{address<Pointer>(t)};
  r.row = static_cast<long>(t.stride[row]);
  r.head = static_cast<long>(t.stride[row - 1]);
  r.batch = row >= 2 ? static_cast<long>(t.stride[row - 2]) : 0;
  return r;
}

// [.., tq, tk] with leading axes that are 1 or missing.
template <class Pointer>
score_mask<Pointer> mask_of(const tensor_ref& t) {
  const auto stride = [&](int axis) {
    return axis < 0 || t.extent[axis] == 1 ? 0 : static_cast<long>(t.stride[axis]);
  };
  return {address<Pointer>(t),
          t.type,
          stride(t.rank - 4),
          stride(t.rank - 3),
          static_cast<long>(t.stride[t.rank - 2]),
          static_cast<long>(t.stride[t.rank - 1])};
}

// The i32 values of an operand of one axis.
struct integers {
  const std::int32_t* data;
  long stride, count;
  explicit integers(const tensor_ref& t)
      : data(static_cast<const std::int32_t*>(t.data)),
        stride(t.extent[0] == 1 ? 0 : static_cast<long>(t.stride[0])),
        count(static_cast<long>(t.extent[0])) {}
  std::int32_t operator()(long i) const { return data[i * stride]; }
};

double number_at(const tensor_ref& t) {
  return t.type == dtype::f64 ? *static_cast<const double*>(t.data)
                              : static_cast<double>(*static_cast<const float*>(t.data));
}

// `ready`: the data is there; else this is about sizes only.
struct arguments {
  const kernel_call& c;
  attention_args a;
  bool ready;

  explicit arguments(const kernel_call& call) : c(call), ready(call.in[0].data != nullptr) {
    const tensor_ref &q = c.in[0], &k = c.in[1], &v = c.in[2];
    const attention_sizes s(q.extent, k.extent, v.extent, static_cast<std::size_t>(q.rank));
    a.batch = static_cast<long>(s.batch), a.heads = static_cast<long>(s.heads);
    a.kv_heads = static_cast<long>(s.groups);
    a.tq = static_cast<long>(s.tq), a.tk = static_cast<long>(s.tk);
    a.dk = static_cast<long>(s.dk), a.dv = static_cast<long>(s.dv);
    a.kv_type = k.type;
    a.q = rows<const void*>(q, 1), a.k = rows<const void*>(k, 1), a.v = rows<const void*>(v, 1);
    scores(s);
    structure(s);
    dropout();
    rope();
  }

  const tensor_ref* input(attention_operand k) const {
    const int at = attention_input(c.a, k);
    return at < 0 ? nullptr : &c.in[static_cast<std::size_t>(at)];
  }
  void scores(const attention_sizes& s) {
    const tensor_ref* scale = input(attention_operand::scale);
    a.scale = scale != nullptr                        ? ready ? number_at(*scale) : 1
              : (c.a.i[0] & attention_has_scale) != 0 ? c.a.f[0]
                                                      : 1 / std::sqrt(static_cast<double>(s.dk));
    a.soft_cap = c.a.f[1];
    if (const tensor_ref* t = input(attention_operand::mask)) a.mask = mask_of<const void*>(*t);
    if (const tensor_ref* t = input(attention_operand::slopes)) a.slopes = address<const void*>(*t);
    if (const tensor_ref* t = input(attention_operand::sinks)) a.sinks = address<const void*>(*t);
    a.distance_bias = (c.a.i[0] & attention_distance_bias) != 0;
  }
  void structure(const attention_sizes& s) {
    a.causal = (c.a.i[0] & attention_causal) != 0;
    a.window = static_cast<long>(attention_window(c.a));
    static const std::int32_t none[2] = {};
    if (const tensor_ref* t = input(attention_operand::lengths)) {
      const integers x(*t);
      if (ready) check_attention_lengths(x.count, s.tk, x);
      a.lengths = ready ? x.data : none, a.lengths_stride = x.stride;
    }
    if (const tensor_ref* t = input(attention_operand::start)) {
      const integers x(*t);
      if (ready) check_attention_start(x.count, s.tq, s.tk, x);
      a.start = ready ? x.data : none, a.start_stride = x.stride;
    }
    if (const tensor_ref* t = input(attention_operand::documents)) {
      const integers x(*t);
      if (ready) check_attention_documents(x.count, s.tk, x);
      a.documents = ready ? x.data : none, a.document_count = x.count - 1;
    }
  }
  void dropout() {
    const tensor_ref* t = input(attention_operand::dropout);
    if (t == nullptr) return;
    a.dropout = c.a.f[2];
    if (!ready) return;
    const integers key(*t);
    if (key(2) == 0) a.dropout = 0;
    a.dropout_key = static_cast<std::uint32_t>(key(0)) |
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(key(1))) << 32;
  }
  void rope() {
    const tensor_ref* cosine = input(attention_operand::cosine);
    if (cosine == nullptr) return;
    check_attention_rope(a.tq, a.tk);
    a.rope.cosine = address<const void*>(*cosine);
    a.rope.sine = address<const void*>(*input(attention_operand::sine));
    a.rope.row = static_cast<long>(cosine->stride[0]);
    a.rope.width = 2 * static_cast<long>(cosine->extent[1]);
    a.rope.offset = static_cast<long>(c.a.d[1].n);
    a.rope.interleaved = (c.a.i[0] & attention_interleaved) != 0;
  }
};

attention_args forward_args(const kernel_call& c) {
  attention_args a = arguments(c).a;
  a.out = rows<void*>(c.out[0], 1), a.lse = rows<void*>(c.out[1], 0);
  return a;
}
attention_args backward_args(const kernel_call& c) {
  attention_args a = arguments(c).a;
  const auto out = static_cast<std::size_t>(attention_inputs(c.a));
  a.out = rows<void*>(c.in[out], 1), a.lse = rows<void*>(c.in[out + 1], 0);
  a.d_out = rows<const void*>(c.in[out + 2], 1);
  a.d_q = rows<void*>(c.out[0], 1), a.d_k = rows<void*>(c.out[1], 1);
  a.d_v = rows<void*>(c.out[2], 1);
  const auto wants = [&](int k) { return attention_backward_family::wants(c.a, k); };
  if (wants(3)) a.d_mask = mask_of<void*>(c.out[3]);
  if (wants(4)) a.d_slopes = address<void*>(c.out[4]);
  if (wants(5)) a.d_sinks = address<void*>(c.out[5]);
  if (wants(6)) a.d_scale = address<void*>(c.out[6]);
  return a;
}

// Two operations per feature of a key and of a value, for each pair of a query row and a key that
// `causal` and `sliding_window` let it see, over all heads.
double operations(const kernel_call& c, int of_keys, int of_values) {
  const attention_sizes s(c.in[0].extent, c.in[1].extent, c.in[2].extent,
                          static_cast<std::size_t>(c.in[0].rank));
  const bool causal = (c.a.i[0] & attention_causal) != 0;
  std::int64_t window = attention_window(c.a), pairs = 0;
  if (window == 0) window = std::max(s.tq, s.tk);  // hides nothing
  for (std::int64_t p = s.tk - s.tq; p < s.tk; ++p)
    pairs += std::max<std::int64_t>(
        0, std::min(s.tk, p + (causal ? 1 : window)) - std::max<std::int64_t>(0, p - window + 1));
  return 2 * static_cast<double>(s.batch * s.heads * pairs) *
         static_cast<double>(of_keys * s.dk + of_values * s.dv);
}

}  // namespace

double attention_family::flops(const kernel_call& c) { return operations(c, 1, 1); }
double attention_backward_family::flops(const kernel_call& c) {
  return operations(c, 3, 2);  // scores, d_q, d_k; d_probabilities, d_v
}

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

void attention_keep_family::kernel(const kernel_call& c) {
  const tensor_ref& t = c.out[0];
  const integers key(c.in[0]);
  const std::uint64_t k = static_cast<std::uint32_t>(key(0)) |
                          static_cast<std::uint64_t>(static_cast<std::uint32_t>(key(1))) << 32;
  const double p = key(2) == 0 ? 0 : c.a.f[2];
  const std::int64_t columns = t.extent[3];
  c.threads->run(static_cast<long>(t.extent[0] * t.extent[1] * t.extent[2]), [&](long row, int) {
    for (std::int64_t n = 0; n < columns; ++n) {
      const double v = attention_keep_factor(k, p, row, n);
      const std::int64_t at = row * columns + n;
      if (t.type == dtype::f64)
        static_cast<double*>(t.data)[at] = v;
      else
        static_cast<float*>(t.data)[at] = static_cast<float>(v);
    }
  });
}

}  // namespace ropewalk::op
