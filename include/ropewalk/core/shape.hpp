// Shapes: a list of dims; their text is their identity in a type and what errors print.
#pragma once
#include <initializer_list>
#include <type_traits>

#include "ropewalk/core/dim.hpp"
#include "ropewalk/core/dtype.hpp"
#include "ropewalk/core/text.hpp"

namespace ropewalk {

inline constexpr int max_rank = 6;

// D with static storage.
template <dim D>
inline constexpr dim stored_dim = D;

struct shape {
  int rank = 0;
  dim d[max_rank];

  constexpr shape() = default;
  constexpr shape(std::initializer_list<dim> dims) {
    for (const dim& x : dims) push(x);
  }
  constexpr void push(const dim& x) {
    if (rank == max_rank) return detail::dim_rule_broken("a shape has at most 6 dims");
    d[rank++] = x;
  }
  constexpr const dim& operator[](int i) const { return d[i < 0 ? i + rank : i]; }
  constexpr dim& operator[](int i) { return d[i < 0 ? i + rank : i]; }
  constexpr dim elements() const {
    dim n = 1;
    for (int i = 0; i < rank; ++i) n = n * d[i];
    return n;
  }
  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (!(a.d[i] == b.d[i])) return false;
    return true;
  }
};

// Whether two shapes have the same number of elements. Equal dims cancel first: products of symbols
// are slow to compare in constant evaluation and rarely needed.
constexpr bool same_elements(const shape& a, const shape& b) {
  std::int64_t na = 1, nb = 1;
  shape x, y;
  bool used[max_rank] = {};
  for (int i = 0; i < a.rank; ++i) {
    if (a.d[i].fixed()) {
      na *= a.d[i].n;
      continue;
    }
    int match = 0;
    while (match < b.rank && (used[match] || !(a.d[i] == b.d[match]))) ++match;
    if (match < b.rank) used[match] = true;
    else x.push(a.d[i]);
  }
  for (int i = 0; i < b.rank; ++i) {
    if (b.d[i].fixed()) nb *= b.d[i].n;
    else if (!used[i]) y.push(b.d[i]);
  }
  if (x.rank == 0 && y.rank == 0) return na == nb;
  return dim(na) * x.elements() == dim(nb) * y.elements();
}

// What an expression is: element type and shape.
struct tensor_type {
  dtype d = dtype::f32;
  shape s;
  friend constexpr bool operator==(const tensor_type&, const tensor_type&) = default;
};

// The shape of elementwise work on a and b (NumPy broadcasting); ok = false where dims clash.
struct broadcast_result {
  bool ok = true;
  shape s;
};
constexpr broadcast_result broadcast(const shape& a, const shape& b) {
  broadcast_result r;
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank), ib = i - (rank - b.rank);
    const dim x = ia < 0 ? dim(1) : a.d[ia], y = ib < 0 ? dim(1) : b.d[ib];
    if (!(x == y) && !(x == dim(1)) && !(y == dim(1))) r.ok = false;
    r.s.push(x == dim(1) ? y : x);
  }
  return r;
}

namespace detail {

struct shape_chars {
  char s[max_rank * (dim::max_text + 2) + 3]{};
  int n = 0;
};

constexpr shape_chars print_shape(const shape& s) {
  shape_chars r;
  r.s[r.n++] = '[';
  for (int i = 0; i < s.rank; ++i) {
    if (i > 0) r.s[r.n++] = ',', r.s[r.n++] = ' ';
    if (s.d[i].fixed()) {
      std::int64_t v = s.d[i].n;
      if (v < 0) r.s[r.n++] = '-', v = -v;
      r.n += print_number(r.s + r.n, 20, v);
    } else {
      for (const char* c = s.d[i].sym; *c != 0; ++c) r.s[r.n++] = *c;
    }
  }
  r.s[r.n++] = ']';
  return r;
}

constexpr shape parse_shape(std::string_view t) {
  shape s;
  std::size_t p = 1;
  while (p < t.size() && t[p] != ']') {
    char b[dim::max_text]{};
    int n = 0;
    while (t[p] != ',' && t[p] != ']') b[n++] = t[p++];
    s.push(dim(parse_dim(b)));
    if (t[p] == ',') p += 2;
  }
  return s;
}

}  // namespace detail

// A shape in a type: its text, read in error messages as it stands.
template <text Text>
struct shp {
  static constexpr shape value = detail::parse_shape(Text.view());
};

namespace detail {

template <class S>  // S::value is a shape
constexpr auto shape_text() {
  constexpr shape_chars c = print_shape(S::value);
  text<c.n + 1> t;
  for (int i = 0; i <= c.n; ++i) t.s[i] = c.s[i];  // the end too, or clang prints some as numbers
  return t;
}
template <dim... D>
struct dims_shape {
  static constexpr shape value{D...};
};
template <class E>
struct expr_shape {
  static constexpr shape value = E::type.s;
};

}  // namespace detail

// The type of a shape given by S::value, by dims, and of an expression's shape.
template <class S>
using shp_for = shp<detail::shape_text<S>()>;
template <dim... D>
using shp_of_dims = shp_for<detail::dims_shape<D...>>;
template <class E>
  requires requires { std::remove_cvref_t<E>::type.s.rank; }
using shp_of = shp_for<detail::expr_shape<std::remove_cvref_t<E>>>;

}  // namespace ropewalk
