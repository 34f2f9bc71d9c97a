// The interface between generated kernels and the runtime.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ropewalk {

// The arguments of a generated kernel. It works on [begin, end) of its parallel index; the runtime
// cuts [0, parallel) into pieces of `grain`, independent of the number of threads.
struct generated_args {
  void* const* buffers;
  const std::int64_t* dims;
  std::int64_t begin, end;
  std::byte* scratch;  // of this worker; aligned to 64 bytes
};
using generated_fn = void (*)(const generated_args&);

}  // namespace ropewalk
