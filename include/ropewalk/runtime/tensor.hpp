// Tensors as a program's user sees them: views of memory that a session owns, and host data for
// one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ropewalk/graph/op.hpp"

namespace ropewalk {

// The element type of C++ data. 16-bit floats travel as std::uint16_t with their dtype said.
template <class T>
constexpr dtype dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, double>)
    return dtype::f64;
  else if constexpr (std::is_same_v<U, float>)
    return dtype::f32;
  else if constexpr (std::is_same_v<U, std::int32_t>)
    return dtype::i32;
  else if constexpr (std::is_same_v<U, std::uint8_t>)
    return dtype::u8;
  else if constexpr (std::is_same_v<U, bool>)
    return dtype::boolean;
  else
    static_assert(sizeof(T) == 0, "no element type: use double, float, int32_t, uint8_t, bool");
}

// Element i of dense data as a number, and back (16-bit floats round to nearest, ties to even).
double load_number(dtype d, const void* data, std::size_t i);
void store_number(dtype d, void* data, std::size_t i, double v);

// Dense row-major data of the caller: a span or vector of elements, or a pointer with its dtype.
struct host_data {
  const void* data = nullptr;
  dtype type = dtype::f32;
  std::size_t count = 0;

  host_data(const void* p, dtype d, std::size_t n) : data(p), type(d), count(n) {}
  template <class T>
  host_data(std::span<T> s)  // NOLINT: implicit
      : data(s.data()), type(dtype_of<T>()), count(s.size()) {}
  template <class T>
  host_data(const std::vector<T>& v)  // NOLINT: implicit
      : host_data(std::span<const T>(v)) {}
};

// A named tensor in a session's memory. Valid while the session (or parameter store) lives; an
// output's values are those of the last run.
class tensor_view {
 public:
  tensor_view(std::string_view name, const tensor_ref& t) : name_(name), t_(t) {}

  std::string_view name() const { return name_; }
  dtype type() const { return t_.type; }
  int rank() const { return t_.rank; }
  std::int64_t extent(int axis) const { return t_.extent[axis < 0 ? axis + t_.rank : axis]; }
  std::size_t elements() const;
  const tensor_ref& ref() const { return t_; }
  // Whether the elements lie one after the other in row-major order.
  bool dense() const;

  // The elements themselves, row-major. Errors: another element type; not dense.
  template <class T>
  std::span<T> as() const {
    check(dtype_of<T>());
    return {static_cast<T*>(t_.data), elements()};
  }
  // The value of a tensor of one element, whatever its type. Error: more elements.
  double item() const;
  // All elements as numbers, row-major, whatever the type and the strides.
  std::vector<double> values() const;
  // Copies the caller's elements in. Errors: another element type or count; not dense.
  void assign(const host_data& h) const;

 private:
  void check(dtype d) const;
  std::string_view name_;
  tensor_ref t_;
};

// "f32[4, 256]".
std::string type_text(const tensor_ref& t);

}  // namespace ropewalk
