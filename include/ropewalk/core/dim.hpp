// Dimensions: fixed numbers and symbols under one algebra.
//
//   inline constexpr dim B{"B"};          // symbolic: bound when a session opens
//   inline constexpr dim C{"C", 384};     // fixed, named for the reader
//   3 * C, C / H, B * T, T + 1            // dims again; C / 5 is refused where 5 does not divide C
//
// A symbolic dim is a sum of terms (rational coefficient x powers of symbols) kept as canonical
// text ("3*T+1", "C/H"): equal dims have equal text, which is also what shapes print.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include "ropewalk/core/error.hpp"

namespace ropewalk {

namespace detail {

inline constexpr int max_terms = 6, max_factors = 4, max_symbol = 12;

// One term: (num / den) * product of symbol^power.
struct dim_term {
  std::int64_t num = 0, den = 1;
  int factors = 0;
  char name[max_factors][max_symbol]{};
  int power[max_factors]{};
};

struct dim_sum {
  int terms = 0;
  dim_term t[max_terms];
};

constexpr std::int64_t gcd(std::int64_t a, std::int64_t b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const std::int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

constexpr int compare(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

// Order of the symbols of two terms; 0 when they are alike and can be added.
constexpr int compare_symbols(const dim_term& a, const dim_term& b) {
  for (int i = 0; i < a.factors && i < b.factors; ++i) {
    if (const int c = compare(a.name[i], b.name[i]); c != 0) return c;
    if (a.power[i] != b.power[i]) return b.power[i] - a.power[i];
  }
  return b.factors - a.factors;
}

// In constant evaluation not a constant, so the compiler quotes the calling line and the text; at
// run time an error.
[[noreturn]] inline void dim_rule_broken(const char* rule) { throw error("dim", rule); }

constexpr void multiply_symbol(dim_term& t, const char* name, int power) {
  int at = 0;
  while (at < t.factors && compare(t.name[at], name) < 0) ++at;
  if (at < t.factors && compare(t.name[at], name) == 0) {
    t.power[at] += power;
    if (t.power[at] != 0) return;
    for (int i = at; i + 1 < t.factors; ++i) {
      for (int c = 0; c < max_symbol; ++c) t.name[i][c] = t.name[i + 1][c];
      t.power[i] = t.power[i + 1];
    }
    --t.factors;
    for (int c = 0; c < max_symbol; ++c) t.name[t.factors][c] = 0;
    t.power[t.factors] = 0;
    return;
  }
  if (t.factors == max_factors) return dim_rule_broken("a product has at most 4 symbols");
  for (int i = t.factors; i > at; --i) {
    for (int c = 0; c < max_symbol; ++c) t.name[i][c] = t.name[i - 1][c];
    t.power[i] = t.power[i - 1];
  }
  for (int c = 0; c < max_symbol; ++c) t.name[at][c] = 0;
  for (int c = 0; name[c] != 0 && c + 1 < max_symbol; ++c) t.name[at][c] = name[c];
  t.power[at] = power;
  ++t.factors;
}

constexpr void reduce_fraction(dim_term& t) {
  if (t.den < 0) t.num = -t.num, t.den = -t.den;
  if (const std::int64_t g = gcd(t.num, t.den); g > 1) t.num /= g, t.den /= g;
}

constexpr void add_term(dim_sum& s, const dim_term& t) {
  if (t.num == 0) return;
  int at = 0;
  while (at < s.terms && compare_symbols(s.t[at], t) < 0) ++at;
  if (at < s.terms && compare_symbols(s.t[at], t) == 0) {
    s.t[at].num = s.t[at].num * t.den + t.num * s.t[at].den;
    s.t[at].den *= t.den;
    reduce_fraction(s.t[at]);
    if (s.t[at].num != 0) return;
    for (int i = at; i + 1 < s.terms; ++i) s.t[i] = s.t[i + 1];
    --s.terms;
    return;
  }
  if (s.terms == max_terms) return dim_rule_broken("a sum has at most 6 terms");
  for (int i = s.terms; i > at; --i) s.t[i] = s.t[i - 1];
  s.t[at] = t;
  ++s.terms;
}

constexpr dim_term multiply(const dim_term& a, const dim_term& b, int sign) {
  dim_term r = a;
  r.num *= sign > 0 ? b.num : b.den;
  r.den *= sign > 0 ? b.den : b.num;
  for (int i = 0; i < b.factors; ++i) multiply_symbol(r, b.name[i], sign * b.power[i]);
  reduce_fraction(r);
  return r;
}

// Reads canonical text back: term { (+|-) term }, term = factor { (*|/) factor }.
constexpr dim_sum parse_dim(const char* p) {
  dim_sum s;
  while (*p != 0) {
    dim_term t{.num = 1};
    if (*p == '+') ++p;
    if (*p == '-') t.num = -1, ++p;
    for (int sign = 1;;) {
      if (*p >= '0' && *p <= '9') {
        std::int64_t v = 0;
        while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
        (sign > 0 ? t.num : t.den) *= v;
      } else {
        char name[max_symbol]{};
        int n = 0;
        while (*p != 0 && *p != '*' && *p != '/' && *p != '+' && *p != '-' && n + 1 < max_symbol)
          name[n++] = *p++;
        if (n == 0) {
          dim_rule_broken("not the text of a dim");
          return s;
        }
        multiply_symbol(t, name, sign);
      }
      if (*p != '*' && *p != '/') break;
      sign = *p++ == '*' ? 1 : -1;
    }
    reduce_fraction(t);
    add_term(s, t);
  }
  return s;
}

constexpr int print_number(char* out, int room, std::int64_t v) {
  char digits[20]{};
  int n = 0;
  do digits[n++] = static_cast<char>('0' + v % 10);
  while ((v /= 10) != 0);
  for (int i = 0; i < n && i < room; ++i) out[i] = digits[n - 1 - i];
  return n;
}

}  // namespace detail

struct dim {
  static constexpr int max_text = 40;
  std::int64_t n = 0;       // the value of a fixed dim
  char sym[max_text] = {};  // the canonical text of a symbolic one; empty when fixed

  constexpr dim() = default;
  template <class Integer>
    requires std::integral<Integer>
  constexpr dim(Integer value) : n(static_cast<std::int64_t>(value)) {}  // NOLINT: implicit
  constexpr explicit dim(const char* name) {
    int k = 0;
    for (; name[k] != 0; ++k) {
      const char c = name[k];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      if (!(letter || (k > 0 && c >= '0' && c <= '9')) || k + 1 >= detail::max_symbol)
        detail::dim_rule_broken("a dim's name has 1 to 11 letters and digits");
      sym[k] = c;
    }
    if (k == 0) detail::dim_rule_broken("a dim's name must not be empty");
  }
  constexpr dim(const char* /*name*/, std::int64_t value) : n(value) {
    if (value <= 0) detail::dim_rule_broken("a fixed dim is positive");
  }
  constexpr explicit dim(const detail::dim_sum& s) {
    if (s.terms == 0) return;
    if (s.terms == 1 && s.t[0].factors == 0) {
      if (s.t[0].den != 1) detail::dim_rule_broken("a dim must divide without remainder");
      n = s.t[0].num;
      return;
    }
    int at = 0;
    auto put = [&](char c) {
      if (at + 1 < max_text) sym[at] = c;
      ++at;
    };
    auto put_number = [&](std::int64_t v) {
      char b[20]{};
      const int k = detail::print_number(b, 20, v);
      for (int i = 0; i < k; ++i) put(b[i]);
    };
    for (int i = 0; i < s.terms; ++i) {
      const detail::dim_term& t = s.t[i];
      std::int64_t num = t.num;
      if (num < 0) put('-'), num = -num;
      else if (i > 0) put('+');
      bool first = true;
      auto times = [&] {
        if (!first) put('*');
        first = false;
      };
      bool positive = false;
      for (int f = 0; f < t.factors; ++f) positive = positive || t.power[f] > 0;
      if (num != 1 || !positive) times(), put_number(num);
      for (int f = 0; f < t.factors; ++f)
        for (int p = 0; p < t.power[f]; ++p) {
          times();
          for (const char* c = t.name[f]; *c != 0; ++c) put(*c);
        }
      if (t.den != 1) put('/'), put_number(t.den);
      for (int f = 0; f < t.factors; ++f)
        for (int p = 0; p > t.power[f]; --p) {
          put('/');
          for (const char* c = t.name[f]; *c != 0; ++c) put(*c);
        }
    }
    if (at + 1 > max_text) detail::dim_rule_broken("the text of a dim has at most 39 characters");
  }

  constexpr bool fixed() const { return sym[0] == 0; }
  constexpr detail::dim_sum sum() const {
    if (!fixed()) return detail::parse_dim(sym);
    detail::dim_sum s;
    detail::add_term(s, detail::dim_term{.num = n});
    return s;
  }

  friend constexpr bool operator==(const dim& a, const dim& b) {
    return a.n == b.n && detail::compare(a.sym, b.sym) == 0;
  }
  friend constexpr dim operator+(const dim& a, const dim& b) {
    if (a.fixed() && b.fixed()) return {a.n + b.n};
    detail::dim_sum r = a.sum();
    const detail::dim_sum s = b.sum();
    for (int i = 0; i < s.terms; ++i) detail::add_term(r, s.t[i]);
    return dim(r);
  }
  friend constexpr dim operator*(const dim& a, const dim& b) {
    if (a.fixed() && b.fixed()) return {a.n * b.n};
    const detail::dim_sum x = a.sum(), y = b.sum();
    detail::dim_sum r;
    for (int i = 0; i < x.terms; ++i)
      for (int j = 0; j < y.terms; ++j) detail::add_term(r, detail::multiply(x.t[i], y.t[j], 1));
    return dim(r);
  }
  friend constexpr dim operator-(const dim& a, const dim& b) { return a + dim(-1) * b; }
  // Exact division. Fixed dims must divide; symbolic ones are checked when they are bound.
  friend constexpr dim operator/(const dim& a, const dim& b) {
    if (a.fixed() && b.fixed()) {
      if (b.n == 0 || a.n % b.n != 0) detail::dim_rule_broken("a dim must divide without remainder");
      return {b.n == 0 ? 0 : a.n / b.n};
    }
    const detail::dim_sum x = a.sum(), y = b.sum();
    if (y.terms != 1) detail::dim_rule_broken("the divisor of a dim is one term");
    detail::dim_sum r;
    for (int i = 0; i < x.terms; ++i) detail::add_term(r, detail::multiply(x.t[i], y.t[0], -1));
    return dim(r);
  }
};

// The value that a session gives to a symbolic dim.
struct dim_binding {
  dim name;
  std::int64_t value;
};

// The number that `d` stands for under the bindings. Throws ropewalk::error (codegen/graph/dims.cpp)
// for an unbound symbol or a division with remainder.
std::int64_t evaluate(const dim& d, std::span<const dim_binding> bindings);

}  // namespace ropewalk
