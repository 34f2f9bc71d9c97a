// What every instruction set's kernels offer to the dispatcher: plain function pointers.
#pragma once
#include <cstddef>

#include <ropewalk/runtime/cpu_kernels.hpp>

namespace ropewalk {

// Workspaces are passed aligned to 64 bytes; sizes leave out what alignment costs.
struct gemm_entry {
  std::size_t (*workspace)(int threads, const gemm_args& args);
  void (*run)(pool& threads, const gemm_args& args, std::byte* workspace);
};
struct attention_entry {
  // type: of q, out, d_out and d_q.
  std::size_t (*forward_workspace)(int threads, dtype type, const attention_args& args);
  std::size_t (*backward_workspace)(int threads, dtype type, const attention_args& args);
  void (*forward)(pool& threads, dtype type, const attention_args& args, std::byte* workspace);
  void (*backward)(pool& threads, dtype type, const attention_args& args, std::byte* workspace);
};

struct softmax_rows_entry {
  void (*accumulate)(long rows, long columns, const void* x, long row, void* maxima, void* totals);
  void (*gradient)(long rows, long columns, void* x, long row, const void* lse, const void* scale);
};

// clang-format off
#define ROPEWALK_DECLARE_KERNELS(name)                      \
  namespace name {                                          \
  extern const gemm_entry gemm_f32, gemm_f64;               \
  extern const attention_entry attention_f32, attention_f64; \
  extern const softmax_rows_entry softmax_rows_f32, softmax_rows_f64; \
  }
// clang-format on
ROPEWALK_DECLARE_KERNELS(kernels_portable)
ROPEWALK_DECLARE_KERNELS(kernels_avx2)
ROPEWALK_DECLARE_KERNELS(kernels_avx512)
#undef ROPEWALK_DECLARE_KERNELS

}  // namespace ropewalk
