// C++ as a language of kernels.
#include "emit_language.hpp"

#include <charconv>
#include <cmath>

namespace ropewalk {
namespace {

std::string number_text(double v, dtype d) {
  if (d == dtype::boolean) return v != 0 ? "true" : "false";
  const bool wide = d == dtype::f64;
  if (std::isnan(v)) return wide ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (std::isinf(v))
    return std::string(v < 0 ? "-" : "") + (wide ? "__builtin_inf()" : "__builtin_inff()");
  char b[40];
  const auto r = wide ? std::to_chars(b, b + sizeof b, v)
                      : std::to_chars(b, b + sizeof b, static_cast<float>(v));
  std::string s(b, r.ptr);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  if (!wide) s += "f";
  return v < 0 || std::signbit(v) ? "(" + s + ")" : s;
}

const char* storage_text(dtype d) {
  switch (d) {
    case dtype::f64:
      return "double";
    case dtype::f32:
      return "float";
    case dtype::f16:
    case dtype::bf16:
      return "std::uint16_t";
    case dtype::i32:
      return "std::int32_t";
    case dtype::u8:
      return "std::uint8_t";
    case dtype::boolean:
      return "bool";
  }
  return "";
}

const char* type_text(dtype d) {
  switch (d) {
    case dtype::f64:
      return "double";
    case dtype::i32:
      return "int";
    case dtype::boolean:
      return "bool";
    default:
      return "float";
  }
}

class cpp final : public language {
 public:
  const char* type(dtype d) const override { return type_text(d); }
  const char* storage(dtype d) const override { return storage_text(d); }
  const char* index() const override { return "long"; }
  std::string number(double v, dtype d) const override { return number_text(v, d); }
  std::string loaded(dtype d, const std::string& x) const override {
    if (d == dtype::f16) return "from_f16(" + x + ")";
    if (d == dtype::bf16) return "from_bf16(" + x + ")";
    return d == dtype::u8 ? "int(" + x + ")" : x;
  }
  std::string stored(dtype d, const std::string& x) const override {
    if (d == dtype::f16) return "to_f16(" + x + ")";
    if (d == dtype::bf16) return "to_bf16(" + x + ")";
    return d == dtype::u8 ? "static_cast<std::uint8_t>(" + x + ")" : x;
  }
  std::string rounded(dtype d, const std::string& x) const override {
    return loaded(d, stored(d, x));
  }
  std::string truth(const std::string& x) const override { return "(" + x + " != 0)"; }
  std::string function(const char* name, dtype) const override { return name; }
  const char* both() const override { return "&"; }
  const char* either() const override { return "|"; }
};

}  // namespace

const language& cpp_language() {
  static const cpp l;
  return l;
}

}  // namespace ropewalk
