// Text as a template argument: names of leaves, scopes and shapes.
#pragma once
#include <cstddef>
#include <string_view>

namespace ropewalk {

// A string literal that can stand in a template argument list.
template <std::size_t N>
struct text {
  char s[N]{};
  constexpr text() = default;
  constexpr text(const char (&t)[N]) {  // NOLINT: implicit, so that "name" works as an argument
    for (std::size_t i = 0; i < N; ++i) s[i] = t[i];
  }
  constexpr std::string_view view() const { return {s, N - 1}; }
};

// The characters of T, as an array with static storage.
template <text T>
inline constexpr auto stored_text = T;

template <text A, text B>
constexpr auto join_text() {
  text<sizeof(A.s) + sizeof(B.s) - 1> r;
  std::size_t n = 0;
  for (char c : A.view()) r.s[n++] = c;
  for (char c : B.view()) r.s[n++] = c;
  r.s[n] = 0;  // written, or clang prints some texts as numbers
  return r;
}

}  // namespace ropewalk
