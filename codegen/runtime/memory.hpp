// Blocks of memory at the alignment of arenas.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>

#include <ropewalk/core/error.hpp>
#include <ropewalk/graph/plan.hpp>

namespace ropewalk {

struct free_memory {
  void operator()(std::byte* p) const { std::free(p); }
};
using memory = std::unique_ptr<std::byte[], free_memory>;

// `what` names the block in the error when there is no memory.
inline memory allocate(std::size_t bytes, const std::string& what) {
  const std::size_t size = (bytes / arena_alignment + 1) * arena_alignment;
  memory m(static_cast<std::byte*>(std::aligned_alloc(arena_alignment, size)));
  if (m == nullptr) throw error("memory", what, std::to_string(bytes) + " bytes", "is not there");
  return m;
}

}  // namespace ropewalk
