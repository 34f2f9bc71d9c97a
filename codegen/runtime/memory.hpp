// Blocks of memory at the alignment of arenas, and dense tensors in them.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>

#include <ropewalk/core/error.hpp>
#include <ropewalk/graph/plan.hpp>
#include <ropewalk/runtime/tensor.hpp>

namespace ropewalk {

struct free_memory {
  void operator()(std::byte* p) const { std::free(p); }
};
using memory = std::unique_ptr<std::byte[], free_memory>;

// `what` names the block in the error when there is no memory.
inline memory allocate(std::size_t bytes, const std::string& what) {
  const std::size_t size = (bytes / arena_alignment + 1) * arena_alignment;
  memory m(static_cast<std::byte*>(std::aligned_alloc(arena_alignment, size)));
  if (m == nullptr)
    throw error("memory", what, std::to_string(bytes) + " bytes", "the machine does not give that");
  return m;
}

// A row-major tensor of these extents. Error: more than 2^63 bytes.
inline tensor_ref dense_ref(void* data, dtype d, std::span<const std::int64_t> extent) {
  tensor_ref t{.data = data, .type = d, .rank = static_cast<int>(extent.size())};
  bool fits = true;
  auto next = static_cast<std::int64_t>(1), bytes = next;
  for (int a = t.rank; a-- > 0;) {
    t.extent[a] = extent[static_cast<std::size_t>(a)];
    t.stride[a] = next;
    fits = fits && !__builtin_mul_overflow(next, t.extent[a], &next);
  }
  const auto width = static_cast<std::int64_t>(dtype_size(d));
  if (!fits || __builtin_mul_overflow(next, width, &bytes))
    throw error("memory", type_text(t) + " has more than 2^63 bytes");
  return t;
}
inline std::size_t dense_bytes(const tensor_ref& t) {
  return tensor_view("", t).elements() * dtype_size(t.type);
}

}  // namespace ropewalk
