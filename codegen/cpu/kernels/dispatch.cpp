// Chooses the instruction set and hands every checked call to its kernels.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <ropewalk/core/error.hpp>

#include "attention_checks.hpp"
#include "table.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t alignment = 64;

bool runs_here(isa i) {
#ifdef ROPEWALK_X86_KERNELS
  __builtin_cpu_init();
  if (i == isa::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (i == isa::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("fma");
#endif
  return i == isa::portable;
}

struct entries {
  const gemm_entry *gemm_f32, *gemm_f64;
  const attention_entry *attention_f32, *attention_f64;
  const softmax_rows_entry *softmax_rows_f32, *softmax_rows_f64;
};

entries entries_of(const char* op, isa set) {
  if (!runs_here(set))
    throw error(op, "isa", isa_name(set), "this processor or this build does not have it");
#ifdef ROPEWALK_X86_KERNELS
  if (set == isa::avx512)
    return {&kernels_avx512::gemm_f32,         &kernels_avx512::gemm_f64,
            &kernels_avx512::attention_f32,    &kernels_avx512::attention_f64,
            &kernels_avx512::softmax_rows_f32, &kernels_avx512::softmax_rows_f64};
  if (set == isa::avx2)
    return {&kernels_avx2::gemm_f32,         &kernels_avx2::gemm_f64,
            &kernels_avx2::attention_f32,    &kernels_avx2::attention_f64,
            &kernels_avx2::softmax_rows_f32, &kernels_avx2::softmax_rows_f64};
#endif
  return {&kernels_portable::gemm_f32,         &kernels_portable::gemm_f64,
          &kernels_portable::attention_f32,    &kernels_portable::attention_f64,
          &kernels_portable::softmax_rows_f32, &kernels_portable::softmax_rows_f64};
}

void check_dtype(const char* op, dtype type) {
  if (type != f32 && type != f64)
    throw error(op, "dtype", dtype_name(type), "the kernels compute in f32 or f64");
}

void check_at_least(const char* op, const char* field, long value, long least) {
  if (value < least)
    throw error(op, field, std::to_string(value), "must be at least " + std::to_string(least));
}

// The aligned start of a workspace that holds `need` bytes after it.
std::byte* aligned(const char* op, std::span<std::byte> workspace, std::size_t need) {
  if (workspace.size() < need)
    throw error(op, "workspace", std::to_string(workspace.size()) + " bytes",
                "must have at least " + std::to_string(need));
  const auto at = reinterpret_cast<std::uintptr_t>(workspace.data());
  return need == 0 ? nullptr : workspace.data() + (alignment - at % alignment) % alignment;
}

std::size_t with_alignment(std::size_t bytes) { return bytes == 0 ? 0 : bytes + alignment; }

const gemm_entry& checked(isa set, dtype type, const gemm_args& g) {
  check_dtype("gemm", type);
  check_at_least("gemm", "m", g.m, 0);
  check_at_least("gemm", "n", g.n, 0);
  check_at_least("gemm", "k", g.k, 0);
  if (g.batch_dims < 0 || g.batch_dims > 4)
    throw error("gemm", "batch_dims", std::to_string(g.batch_dims), "must be from 0 to 4");
  for (long d = 0; d < g.batch_dims; ++d) {
    check_at_least("gemm", "batch_extent", g.batch_extent[d], 0);
    if (g.batch_extent[d] > 1 && g.c_batch[d] == 0)
      throw error("gemm", "c_batch", "0", "two batch items must not write the same c");
  }
  const entries e = entries_of("gemm", set);
  return type == f32 ? *e.gemm_f32 : *e.gemm_f64;
}

const attention_entry& checked(isa set, dtype type, const attention_args& a) {
  attention_checks::check_sizes(type, a);
  const entries e = entries_of("attention", set);
  return type == f64 ? *e.attention_f64 : *e.attention_f32;
}
const attention_entry& checked(isa set, dtype type, const attention_args& a, bool backward) {
  const attention_entry& e = checked(set, type, a);
  attention_checks::check_options(type, a);
  attention_checks::check_pointers(a, backward);
  if (backward) attention_checks::check_gradients(type, a);
  return e;
}

}  // namespace

const char* isa_name(isa i) {
  constexpr const char* names[] = {"portable", "avx2", "avx512"};
  return names[static_cast<int>(i)];
}

std::vector<isa> supported_isas() {
  std::vector<isa> found;
  for (const isa i : {isa::portable, isa::avx2, isa::avx512})
    if (runs_here(i)) found.push_back(i);
  return found;
}

isa best_isa() {
  const std::vector<isa> found = supported_isas();
  const char* wanted = std::getenv("ROPEWALK_ISA");
  if (wanted == nullptr || *wanted == '\0') return found.back();
  std::string choices;
  for (const isa i : found) {
    if (std::string(wanted) == isa_name(i)) return i;
    choices += (choices.empty() ? "" : ", ") + std::string(isa_name(i));
  }
  throw error("environment", "ROPEWALK_ISA", wanted,
              "must be an instruction set that this processor has: " + choices);
}

std::size_t gemm_workspace(int threads, isa set, dtype type, const gemm_args& args) {
  return with_alignment(checked(set, type, args).workspace(threads, args));
}

void gemm(pool& threads, isa set, dtype type, const gemm_args& args,
          std::span<std::byte> workspace) {
  const gemm_entry& e = checked(set, type, args);
  const std::size_t need = with_alignment(e.workspace(threads.threads(), args));
  e.run(threads, args, aligned("gemm", workspace, need));
}

std::size_t attention_forward_workspace(int threads, isa set, dtype type,
                                        const attention_args& args) {
  return with_alignment(checked(set, type, args).forward_workspace(threads, type, args));
}

std::size_t attention_backward_workspace(int threads, isa set, dtype type,
                                         const attention_args& args) {
  return with_alignment(checked(set, type, args).backward_workspace(threads, type, args));
}

void attention_forward(pool& threads, isa set, dtype type, const attention_args& args,
                       std::span<std::byte> workspace) {
  const attention_entry& e = checked(set, type, args, false);
  const std::size_t need = with_alignment(e.forward_workspace(threads.threads(), type, args));
  e.forward(threads, type, args, aligned("attention", workspace, need));
}

void attention_backward(pool& threads, isa set, dtype type, const attention_args& args,
                        std::span<std::byte> workspace) {
  const attention_entry& e = checked(set, type, args, true);
  const std::size_t need = with_alignment(e.backward_workspace(threads.threads(), type, args));
  e.backward(threads, type, args, aligned("attention backward", workspace, need));
}

void softmax_accumulate(isa set, dtype type, const logit_rows& x, void* maxima, void* totals) {
  check_dtype("softmax rows", type);
  const entries e = entries_of("softmax rows", set);
  (type == f32 ? e.softmax_rows_f32 : e.softmax_rows_f64)
      ->accumulate(x.rows, x.columns, x.data, x.row, maxima, totals);
}

void softmax_gradient(isa set, dtype type, const logit_rows& x, const void* lse,
                      const void* scale) {
  check_dtype("softmax rows", type);
  const entries e = entries_of("softmax rows", set);
  (type == f32 ? e.softmax_rows_f32 : e.softmax_rows_f64)
      ->gradient(x.rows, x.columns, x.data, x.row, lse, scale);
}

}  // namespace ropewalk
