// Where compiled kernels are found: generated sources register theirs before main, sessions look
// them up by the hash of their text and the instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ropewalk {

enum class isa : int;
struct generated_args;
using generated_fn = void (*)(const generated_args&);

struct kernel_entry {
  std::uint64_t key;  // hash of the kernel's text
  generated_fn run;
};

// A static object of every generated source: registers `count` kernels compiled for the set of
// that name ("portable", "avx2", "avx512"; what ROPEWALK_ISA_NAMESPACE holds). Kernels of equal
// text may be registered by several models; the first one is kept.
class kernel_registration {
 public:
  kernel_registration(const char* set, const kernel_entry* entries, std::size_t count);
};

// The kernel, or nullptr.
generated_fn find_kernel(std::uint64_t key, isa level);

}  // namespace ropewalk
