// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ropewalk {

// Reads the code point at `at` and moves `at` past it; false, and `at` as it was, if there is none.
inline bool next_code_point(std::string_view text, std::size_t& at, char32_t& out) {
  if (at >= text.size()) return false;
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  const std::size_t more = first < 0x80   ? 0
                           : first < 0xC2 ? 9
                           : first < 0xE0 ? 1
                           : first < 0xF0 ? 2
                           : first < 0xF5 ? 3
                                          : 9;
  if (more > 3 || text.size() - at <= more) return false;
  char32_t value = more == 0 ? first : first & (0x3Fu >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return false;
    value = value << 6 | (byte(i) & 0x3F);
  }
  if (more == 2 && (value < 0x800 || (value >= 0xD800 && value < 0xE000))) return false;
  if (more == 3 && (value < 0x10000 || value > 0x10FFFF)) return false;
  out = value;
  at += more + 1;
  return true;
}

inline void append_code_point(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xF00u >> (more + 1) & 0xFFu) | c >> 6 * more);
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
}

}  // namespace ropewalk
