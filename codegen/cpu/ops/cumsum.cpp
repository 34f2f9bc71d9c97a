// cumsum on the CPU: one task per 64 neighbouring lines along the axis, each summed in f64.
#include <ropewalk/ops/cumsum.hpp>
#include <ropewalk/runtime/pool.hpp>

namespace ropewalk {
namespace {

constexpr std::int64_t lanes = 64;

// x, out  [outer, n, inner], dense
template <class T>
void run(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner, bool from_end,
         pool* threads) {
  const std::int64_t blocks = (inner + lanes - 1) / lanes;
  const auto task = [&](long t, int) {
    const std::int64_t first = t % blocks * lanes;
    const std::int64_t width = inner - first < lanes ? inner - first : lanes;
    const std::int64_t base = t / blocks * n * inner + first;
    double total[lanes] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = base + (from_end ? n - 1 - i : i) * inner;
      for (std::int64_t j = 0; j < width; ++j) {
        total[j] += static_cast<double>(x[row + j]);
        out[row + j] = static_cast<T>(total[j]);
      }
    }
  };
  const long tasks = static_cast<long>(outer * blocks);
  if (threads != nullptr)
    threads->run(tasks, task);
  else
    for (long t = 0; t < tasks; ++t) task(t, 0);
}

}  // namespace

void op::cumsum_family::kernel(const kernel_call& c) {
  const tensor_ref &x = c.in[0], &out = c.out[0];
  std::int64_t outer = 1, inner = 1;
  const int axis = static_cast<int>(c.a.i[0]);
  for (int k = 0; k < x.rank; ++k)
    if (k != axis) (k < axis ? outer : inner) *= x.extent[k];
  const bool from_end = c.a.i[1] != 0;
  if (x.type == dtype::f64)
    run(static_cast<const double*>(x.data), static_cast<double*>(out.data), outer, x.extent[axis],
        inner, from_end, c.threads);
  else
    run(static_cast<const float*>(x.data), static_cast<float*>(out.data), outer, x.extent[axis],
        inner, from_end, c.threads);
}

}  // namespace ropewalk
