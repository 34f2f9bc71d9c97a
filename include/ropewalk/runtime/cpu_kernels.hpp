// The hand-written CPU kernels (matrix product, attention) and the choice of instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ropewalk/core/dtype.hpp>
#include <ropewalk/runtime/pool.hpp>

namespace ropewalk {

// portable: what the compiler targets by default; avx2: with fma; avx512: f, bw, dq and vl.
enum class isa { portable, avx2, avx512 };

const char* isa_name(isa i);

// The sets that this binary has kernels for and this processor can run, worst first.
std::vector<isa> supported_isas();

// The last of supported_isas(), unless the environment variable ROPEWALK_ISA names one of them.
// Throws when it holds anything else.
isa best_isa();

// --- matrix product ---------------------------------------------------------------------------

// Called once for every finished block of c, right after its last write, from the thread that
// computed it: rows [row, row + rows) × columns [column, column + columns) of batch item `batch`
// (row-major index over the batch dims); c points to the block's first element.
using gemm_epilogue = void (*)(void* context, long batch, long row, long rows, long column,
                               long columns, void* c, long c_row);

// c = a · b, or c += a · b, for every batch item. Strides are in elements and may be any for a and
// b (0 broadcasts); fast when one of each pair is 1.
struct gemm_args {
  long m = 0, n = 0, k = 0;
  const void* a = nullptr;         // a    [m, k]; a(i, p) at i · a_row + p · a_col
  long a_row = 0, a_col = 1;
  const void* b = nullptr;         // b    [k, n]; b(p, j) at p · b_row + j · b_col
  long b_row = 0, b_col = 1;
  void* c = nullptr;               // c    [m, n]; c(i, j) at i · c_row + j
  long c_row = 0;
  bool accumulate = false;
  long batch_dims = 0;             // 0 to 4 leading dims
  long batch_extent[4] = {};
  long a_batch[4] = {}, b_batch[4] = {}, c_batch[4] = {};
  gemm_epilogue epilogue = nullptr;
  void* epilogue_context = nullptr;
};

// Bytes of workspace that gemm() needs with a pool of that many threads.
std::size_t gemm_workspace(int threads, isa set, dtype type, const gemm_args& args);

// Runs the product in f32 or f64. c must overlap neither a nor b. Allocates nothing. The result
// depends on the shape and the instruction set, not on the number of threads: c is cut into fixed
// blocks and k is summed in a fixed order.
// Throws on another dtype, a negative size, or a workspace that is too small.
void gemm(pool& threads, isa set, dtype type, const gemm_args& args,
          std::span<std::byte> workspace);

// --- attention --------------------------------------------------------------------------------

// A tensor [batch, head, row, last] whose last axis is contiguous; strides in elements.
template <class Pointer>
struct head_rows {
  Pointer data = nullptr;
  long batch = 0, head = 0, row = 0;
};

// An additive mask [batch, heads, tq, tk]; strides in elements, 0 where it is broadcast. -infinity
// hides a key whatever the slope; f32, f16, bf16, or f64 where the kernel computes in f64.
template <class Pointer>
struct score_mask {
  Pointer data = nullptr;
  dtype type = dtype::f32;
  long batch = 0, head = 0, row = 0, column = 0;
};

// Rotation of q and k at their loads (and of d_q and d_k at their stores): tables of the key
// positions, of the type that the kernel computes in.
struct attention_rope {
  const void* cosine = nullptr;  // [positions, width / 2]
  const void* sine = nullptr;
  long row = 0;                  // stride of both, in elements
  long width = 0, offset = 0;    // the rotated features [offset, offset + width)
  bool interleaved = false;      // pairs (2i, 2i + 1), else (i, i + width / 2)
};

// For every batch item b, head h and query row j, at key position p = start[b] + j (tk - tq + j
// without `start`), over the keys n that it sees:
//   s = scale · (q · k);  s = soft_cap · tanh(s / soft_cap) if soft_cap > 0;  s += slope_h · mask
//   P = exp(s - lse);  lse = log(Σ exp s + exp(sink_h));  out = (P ∘ keep / (1 - dropout)) · v
// Seen are the keys with n < lengths[b], n <= p (causal), p - n < window (causal) or
// |p - n| < window (not causal), in the document of p, and mask > -infinity. The mask of
// `distance_bias` is -|p - n|. Head h reads key head h / (heads / kv_heads). A row that sees no key
// has out = 0, gradients 0 and lse = the sink, or -infinity. A key or value that a row does not see
// does not influence it, whatever it holds. keep: Philox with key dropout_key and counter
// ((b · heads + h) · tq + j, n, 0, 0), dropped where word 0 >> 8 is below dropout · 2^24.
//
// q, out, d_out and d_q are of the type given to the call: f64, computed in f64; or f32, f16 or
// bf16, computed in f32 and rounded once at the store. start: from 0 to tk - tq; lengths: from 0 to
// tk. A position outside all documents sees no key.
struct attention_args {
  long batch = 1, heads = 1, kv_heads = 1;
  long tq = 0, tk = 0, dk = 0, dv = 0;  // dk, dv: at most 256
  double scale = 1;
  double soft_cap = 0;
  bool causal = false;
  long window = 0;                            // 0: none
  const std::int32_t* start = nullptr;        // [batch], at start_stride (0: shared)
  long start_stride = 0;
  const std::int32_t* lengths = nullptr;      // [batch], at lengths_stride (0: shared)
  long lengths_stride = 0;
  const std::int32_t* documents = nullptr;    // [document_count + 1], ascending from 0
  long document_count = 0;
  score_mask<const void*> mask;
  bool distance_bias = false;
  const void* slopes = nullptr;               // [heads], of the type computed in; else 1
  const void* sinks = nullptr;                // [heads], likewise; else none
  double dropout = 0;
  std::uint64_t dropout_key = 0;
  attention_rope rope;
  // Of k, v, d_k and d_v: f32, f16 or bf16; f64 or f32 where q is f64; boolean: the type of q.
  dtype kv_type = dtype::boolean;
  head_rows<const void*> q;      // q      [batch, heads, tq, dk]
  head_rows<const void*> k;      // k      [batch, kv_heads, tk, dk]
  head_rows<const void*> v;      // v      [batch, kv_heads, tk, dv]
  head_rows<void*> out;          // out    [batch, heads, tq, dv]   read by backward
  head_rows<void*> lse;          // lse    [batch, heads, tq]       f64 if computed in f64, else f32
  head_rows<const void*> d_out;  // d_out  [batch, heads, tq, dv]   backward only, as all below
  head_rows<void*> d_q;          // d_q    like q
  head_rows<void*> d_k;          // d_k    like k
  head_rows<void*> d_v;          // d_v    like v
  // Only where asked for, of the type computed in. d_mask: summed over the axes of stride 0.
  score_mask<void*> d_mask;      // the sum of slope · dS, 0 where the mask is -infinity
  void* d_slopes = nullptr;      // [heads]  Σ dS · mask
  void* d_sinks = nullptr;       // [heads]  -Σ p_sink · D
  void* d_scale = nullptr;       // [1]      Σ dS' · (q · k)
};

// Bytes of workspace, linear in tq + tk: they depend on sizes, types and numbers, on no pointer.
std::size_t attention_forward_workspace(int threads, isa set, dtype type,
                                        const attention_args& args);
std::size_t attention_backward_workspace(int threads, isa set, dtype type,
                                         const attention_args& args);

// Writes out and lse. Allocates nothing; bitwise the same for any number of threads. `type`: of q.
// Few rows of a head group (heads / kv_heads · tq <= 16: decoding) are split over the keys.
// Throws on a type, size, value or missing pointer that cannot be, naming the field, and on a
// workspace that is too small.
void attention_forward(pool& threads, isa set, dtype type, const attention_args& args,
                       std::span<std::byte> workspace);

// Writes d_q, d_k, d_v, and what else is asked for, from q, k, v, out, lse and d_out; otherwise as
// attention_forward.
void attention_backward(pool& threads, isa set, dtype type, const attention_args& args,
                        std::span<std::byte> workspace);

// --- rows of logits, in chunks of columns -------------------------------------------------------

// A chunk [rows, columns]; row r starts at data + r · row elements.
struct logit_rows {
  long rows = 0, columns = 0;
  void* data = nullptr;
  long row = 0;
};

// Takes a chunk into each row's running maximum and Σ exp(x − maximum) (start: −inf and 0).
void softmax_accumulate(isa set, dtype type, const logit_rows& x, void* maxima, void* totals);

// x = exp(x − lse[r]) · scale[r] in place. Both throw on a dtype other than f32 and f64.
void softmax_gradient(isa set, dtype type, const logit_rows& x, const void* lse,
                      const void* scale);

}  // namespace ropewalk
