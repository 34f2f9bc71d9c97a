// attention without a program: an instance is attrs and tensors, run by the reference or by the CPU
// kernels, forward and backward. So that laws hold over combinations of options drawn at run time.
#pragma once
#include <random>
#include <string>
#include <vector>

#include <ropewalk/ops/attention.hpp>
#include <ropewalk/runtime/cpu_kernels.hpp>

#include "check.hpp"

namespace cases {

using ropewalk::attention_operand;
using ropewalk::dense;
using ropewalk::dtype;

// What forward and backward make; d: d_q, d_k, d_v, d_mask, d_slopes, d_sinks, d_scale (one zero
// for what is not there).
struct attention_results {
  dense out, lse;
  std::vector<dense> d;
};

struct attention_instance {
  ropewalk::attrs a;
  dense q, k, v;                // [B, H, Tq, Dk], [B, Hkv, Tk, Dk], [B, Hkv, Tk, Dv]
  std::vector<dense> operands;  // by attention_operand; no elements: not there
  dense d_out;

  attention_instance();
  dense& operand(attention_operand o) { return operands[static_cast<std::size_t>(o)]; }
  const dense& operand(attention_operand o) const { return operands[static_cast<std::size_t>(o)]; }
  bool has(attention_operand o) const { return !operand(o).v.empty(); }
  void set(attention_operand o, dense x);
  void remove(attention_operand o);
  void flag(std::int64_t f, bool on);
  bool flag(std::int64_t f) const { return (a.i[0] & f) != 0; }
  void window(std::int64_t w);

  std::int64_t batch() const { return q.extent[0]; }
  std::int64_t heads() const { return q.extent[1]; }
  std::int64_t groups() const { return k.extent[1]; }
  std::int64_t tq() const { return q.extent[2]; }
  std::int64_t tk() const { return k.extent[2]; }
  std::int64_t dk() const { return q.extent[3]; }
  std::int64_t dv() const { return v.extent[3]; }

  // q, k, v and the operands there are: the inputs of the forward node.
  std::vector<dense> inputs() const;
  dtype mask_type = dtype::f64;  // beside f32 and 16-bit q; f64: f32
  std::int64_t wanted = 127;     // results of backward, by bits
  // Element types of these with q in `d`, k and v in `kv`.
  std::vector<dtype> types(dtype d, dtype kv) const;
  dtype type_of(attention_operand o, dtype d) const;
  // Every value rounded to what these types hold.
  void round(dtype d, dtype kv);

  dense forward() const;  // out, by the reference
  attention_results reference() const;
  // Backward by the reference, from the out and lse given.
  attention_results backward_from(const attention_results& forward) const;
  attention_results kernel(ropewalk::pool& p, ropewalk::isa set, dtype d, dtype kv) const;
  std::string text() const;  // the options, for messages
};

// A random instance: sizes from 1, every option in or out.
attention_instance random_attention(std::mt19937& r);

dense random_dense(std::vector<std::int64_t> extent, std::mt19937& r, double low = -1.5,
                   double high = 1.5);

}  // namespace cases
