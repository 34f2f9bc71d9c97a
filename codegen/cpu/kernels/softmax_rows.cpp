// Rows of logits in chunks: running (maximum, Σ exp) and exp(x − lse) · scale, for cross entropy.
#include "exp.hpp"
#include "table.hpp"

namespace ropewalk::ROPEWALK_KERNELS {
namespace {

// The last, partial vector of a row; lanes beyond it hold `fill`.
template <class T>
ROPEWALK_INLINE vec<T> load_tail(const T* p, long n, T fill) {
  T room[lanes<T>];
  store(room, splat(fill));
  __builtin_memcpy(room, p, static_cast<std::size_t>(n) * sizeof(T));
  return load(room);
}

template <class T>
void accumulate(long rows, long columns, const void* data, long row, void* maxima, void* totals) {
  constexpr long width = lanes<T>;
  const T low = T(-__builtin_huge_val());
  for (long r = 0; r < rows; ++r) {
    const T* x = static_cast<const T*>(data) + r * row;
    T& maximum = static_cast<T*>(maxima)[r];
    T& total = static_cast<T*>(totals)[r];
    vec<T> top = splat(low);
    long j = 0;
    for (; j + width <= columns; j += width) {
      const vec<T> v = load(x + j);
      top = choose<T>(v > top, v, top);
    }
    if (j < columns) {
      const vec<T> v = load_tail(x + j, columns - j, low);
      top = choose<T>(v > top, v, top);
    }
    const T next = greatest(maximum, lane_max<T>(top));
    if (next == low) continue;  // only −inf so far: Σ exp is 0
    vec<T> sum{};
    for (j = 0; j + width <= columns; j += width) sum += exp<T>(load(x + j) - next);
    if (j < columns) sum += exp<T>(load_tail(x + j, columns - j, low) - next);
    const T kept = maximum == low ? T(0) : total * exp<T>(splat(maximum - next))[0];
    total = kept + lane_sum<T>(sum);
    maximum = next;
  }
}

template <class T>
void gradient(long rows, long columns, void* data, long row, const void* lse, const void* scale) {
  constexpr long width = lanes<T>;
  for (long r = 0; r < rows; ++r) {
    T* x = static_cast<T*>(data) + r * row;
    const T shift = static_cast<const T*>(lse)[r], s = static_cast<const T*>(scale)[r];
    long j = 0;
    for (; j + width <= columns; j += width) store(x + j, exp<T>(load(x + j) - shift) * s);
    if (j == columns) continue;
    T room[lanes<T>];
    store(room, exp<T>(load_tail(x + j, columns - j, T(0)) - shift) * s);
    __builtin_memcpy(x + j, room, static_cast<std::size_t>(columns - j) * sizeof(T));
  }
}

}  // namespace

extern const softmax_rows_entry softmax_rows_f32 = {accumulate<float>, gradient<float>};
extern const softmax_rows_entry softmax_rows_f64 = {accumulate<double>, gradient<double>};

}  // namespace ropewalk::ROPEWALK_KERNELS
