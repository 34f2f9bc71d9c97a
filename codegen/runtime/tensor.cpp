// Tensor views and the conversion of numbers.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <ropewalk/core/error.hpp>
#include <ropewalk/runtime/tensor.hpp>

namespace ropewalk {
namespace {

double from_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  double v;
  if (exponent == 31)
    v = mantissa == 0 ? std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::quiet_NaN();
  else
    v = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return (h & 0x8000) != 0 ? -v : v;
}

// A double as a small float of `mantissa` stored bits and exponents from `least` (the subnormals')
// to `most`: the value rounded to nearest even, in units of its last place.
std::uint16_t to_small(double v, int mantissa, int least, int most) {
  const int exponent_bits = 15 - mantissa;
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << mantissa);
  if (std::isnan(v)) return static_cast<std::uint16_t>(sign | infinity | 1 << (mantissa - 1));
  const double a = std::fabs(v);
  if (std::isinf(a)) return sign | infinity;
  int e = a == 0 ? least : std::ilogb(a);
  if (e < least) e = least;
  if (e > most) return sign | infinity;
  // Units of the last place; 2^(mantissa + 1) of them carry into the next exponent by themselves.
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(a, mantissa - e)));
  const std::uint32_t bits = units + (static_cast<std::uint32_t>(e - least) << mantissa);
  return static_cast<std::uint16_t>(sign | bits);
}

template <class T>
T read(const void* data, std::size_t i) {
  T v;
  std::memcpy(&v, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
  return v;
}
template <class T>
void write(void* data, std::size_t i, T v) {
  std::memcpy(static_cast<char*>(data) + i * sizeof(T), &v, sizeof(T));
}

}  // namespace

double load_number(dtype d, const void* data, std::size_t i) {
  switch (d) {
    case dtype::f64:
      return read<double>(data, i);
    case dtype::f32:
      return read<float>(data, i);
    case dtype::f16:
      return from_half(read<std::uint16_t>(data, i));
    case dtype::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(read<std::uint16_t>(data, i)) << 16);
    case dtype::i32:
      return read<std::int32_t>(data, i);
    case dtype::u8:
      return read<std::uint8_t>(data, i);
    case dtype::boolean:
      return read<std::uint8_t>(data, i) != 0;
  }
  return 0;
}

void store_number(dtype d, void* data, std::size_t i, double v) {
  switch (d) {
    case dtype::f64:
      return write(data, i, v);
    case dtype::f32:
      return write(data, i, static_cast<float>(v));
    case dtype::f16:
      return write(data, i, to_small(v, 10, -14, 15));
    case dtype::bf16:
      return write(data, i, to_small(v, 7, -126, 127));
    case dtype::i32:
      return write(data, i, static_cast<std::int32_t>(v));
    case dtype::u8:
      return write(data, i, static_cast<std::uint8_t>(v));
    case dtype::boolean:
      return write(data, i, static_cast<std::uint8_t>(v != 0));
  }
}

std::string type_text(const tensor_ref& t) {
  std::string r = std::string(dtype_name(t.type)) + "[";
  for (int a = 0; a < t.rank; ++a) r += (a > 0 ? ", " : "") + std::to_string(t.extent[a]);
  return r + "]";
}

std::size_t tensor_view::elements() const {
  std::size_t n = 1;
  for (int a = 0; a < t_.rank; ++a) n *= static_cast<std::size_t>(t_.extent[a]);
  return n;
}

bool tensor_view::dense() const {
  std::int64_t next = 1;
  for (int a = t_.rank; a-- > 0;) {
    if (t_.extent[a] != 1 && t_.stride[a] != next) return false;
    next *= t_.extent[a];
  }
  return true;
}

void tensor_view::check(dtype d) const {
  if (d != t_.type)
    throw error(std::string(name_), "element type", dtype_name(d), "is " + type_text(t_));
  if (!dense())
    throw error(std::string(name_), type_text(t_) + " is not dense row-major: read its values()");
}

double tensor_view::item() const {
  if (elements() != 1)
    throw error(std::string(name_), "type", type_text(t_), "item() wants one element");
  return load_number(t_.type, t_.data, 0);
}

std::vector<double> tensor_view::values() const {
  std::vector<double> r(elements());
  for (std::size_t e = 0; e < r.size(); ++e) {
    auto rest = static_cast<std::int64_t>(e);
    std::int64_t at = 0;
    for (int a = t_.rank; a-- > 0;) at += rest % t_.extent[a] * t_.stride[a], rest /= t_.extent[a];
    const char* p =
        static_cast<const char*>(t_.data) + at * static_cast<std::int64_t>(dtype_size(t_.type));
    r[e] = load_number(t_.type, p, 0);
  }
  return r;
}

void tensor_view::assign(const host_data& h) const {
  check(h.type);
  if (h.count != elements())
    throw error(std::string(name_), "elements", std::to_string(h.count),
                "must be " + std::to_string(elements()) + ", of " + type_text(t_));
  std::memcpy(t_.data, h.data, h.count * dtype_size(h.type));
}

}  // namespace ropewalk
