// scatter_add on the CPU: pieces of columns in parallel, rows in order, so the sums do not depend on
// the number of threads.
#include <cstring>

#include "ropewalk/ops/gather_rows.hpp"
#include "ropewalk/runtime/pool.hpp"

namespace ropewalk::op {
namespace {

template <class T>
void add_rows(const kernel_call& c) {
  constexpr std::int64_t piece = 64;
  const tensor_ref &base = c.in[0], &ids = c.in[1], &out = c.out[0];
  const std::int64_t rows = base.extent[0], columns = base.extent[1];
  std::int64_t n = 1;
  for (int i = 0; i < ids.rank; ++i) n *= ids.extent[i];
  const auto* id = static_cast<const std::int32_t*>(ids.data);
  const auto* src = static_cast<const T*>(c.in[2].data);
  const auto* from = static_cast<const T*>(base.data);
  auto* to = static_cast<T*>(out.data);
  c.threads->run((columns + piece - 1) / piece, [&](long task, int) {
    const std::int64_t begin = task * piece, end = std::min(columns, begin + piece);
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(to + r * columns + begin, from + r * columns + begin,
                  static_cast<std::size_t>(end - begin) * sizeof(T));
    for (std::int64_t k = 0; k < n; ++k) {
      if (id[k] < 0 || id[k] >= rows) continue;
      T* __restrict t = to + id[k] * columns;
      const T* __restrict s = src + k * columns;
      for (std::int64_t j = begin; j < end; ++j) t[j] += s[j];
    }
  });
}

}  // namespace

void scatter_add::kernel(const kernel_call& c) {
  if (c.out[0].type == dtype::f64) return add_rows<double>(c);
  if (c.out[0].type == dtype::f32) return add_rows<float>(c);
  throw error("scatter_add", "dtype", dtype_name(c.out[0].type), "must be f32 or f64");
}

}  // namespace ropewalk::op
