// One attention problem for the kernels: tensors of any stored type and layout, and what is written
// for it by a naive double implementation of the definition, forward and backward.
#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <ropewalk/runtime/cpu_kernels.hpp>

namespace attention_case {

using namespace ropewalk;
using std::size_t;

struct generator {
  std::mt19937 bits;
  long any(long low, long high) { return std::uniform_int_distribution<long>(low, high)(bits); }
  bool chance(double p) { return std::bernoulli_distribution(p)(bits); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(bits);
  }
  double normal() { return std::normal_distribution<double>()(bits); }
};

// A value of a stored type, and the nearest one to a double.
double read_element(dtype type, const std::byte* p);
void write_element(dtype type, double x, std::byte* p);
// Half a unit in the last place, relative.
double rounding(dtype type);

// [batch, heads, rows, columns] of a stored type, with gaps, heads or rows outermost. An axis that
// is broadcast has stride 0 and holds one element.
struct tensor {
  dtype type = f32;
  long extent[4] = {}, stride[4] = {};
  std::vector<std::byte> bytes;
  tensor() = default;
  tensor(generator& g, dtype t, long b, long h, long r, long c, bool gaps = true);
  std::byte* at(long b, long h, long r, long c) {
    return bytes.data() +
           static_cast<size_t>((b * stride[0] + h * stride[1] + r * stride[2] + c * stride[3]) *
                               static_cast<long>(dtype_size(type)));
  }
  double get(long b, long h, long r, long c) { return read_element(type, at(b, h, r, c)); }
  void set(long b, long h, long r, long c, double x) { write_element(type, x, at(b, h, r, c)); }
  void fill(const std::function<double()>& f);
  template <class P>
  head_rows<P> rows() {
    return {bytes.data(), stride[0], stride[1], stride[2]};
  }
  template <class P>
  score_mask<P> mask() {
    return {bytes.data(), type, stride[0], stride[1], stride[2], stride[3]};
  }
};

// A double for every element of [batch, heads, rows, columns], with the sum of the sizes of the
// terms it was summed from: what rounding errors are relative to.
struct exact {
  long extent[4] = {};
  std::vector<double> value, size;
  exact() = default;
  exact(long b, long h, long r, long c);
  size_t index(long b, long h, long r, long c) const {
    return static_cast<size_t>(((b * extent[1] + h) * extent[2] + r) * extent[3] + c);
  }
  void add(long b, long h, long r, long c, double x, double terms) {
    value[index(b, h, r, c)] += x;
    size[index(b, h, r, c)] += terms;
  }
};

struct instance {
  attention_args a;
  dtype type = f32, computed = f32;  // of q; that the kernel computes in
  std::vector<std::int32_t> start, lengths, documents;
  tensor q, k, v, out, lse, d_out, d_q, d_k, d_v, mask, d_mask, slopes, sinks, d_slopes, d_sinks,
      d_scale, cosine, sine;

  // Allocates everything for the sizes, types and options of `a`, with random contents. mask and
  // d_mask: which axes are not broadcast.
  void fill(generator& g, dtype q_type, dtype kv_type);
  void with_mask(generator& g, dtype mask_type, bool b, bool h, bool r, bool c, bool hide);
  void with_slopes(generator& g);
  void with_sinks(generator& g);
  void with_rope(generator& g, long width, long offset, bool interleaved);
  void ask_all(generator& g, bool b, bool h, bool r, bool c);  // d_slopes, d_sinks, d_scale, d_mask

  void bind();
  void run(pool& p, isa set);
  bool same_results(instance& o);

  // --- the definition ---
  bool structure_sees(long b, long j, long n) const;
  bool sees(long b, long h, long j, long n);  // the mask too
  long position(long b, long j) const;
  // NaN in every key and value that no row sees, and in q and d_out of rows that see nothing.
  void poison();
  // The largest error of any result, in roundings of its type relative to the sizes of its terms.
  double error();
  std::string text() const;

 private:
  std::vector<tensor*> results();
};

}  // namespace attention_case
