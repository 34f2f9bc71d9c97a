// The distinct nodes below some results, in topological order, and who reads whom.
#pragma once
#include <array>

#include "ropewalk/core/module.hpp"

namespace ropewalk::detail {

// The set of nodes seen so far: membership is inheritance, one lookup for the compiler.
template <class T>
struct member {};
template <class List>
struct member_set;
template <class... T>
struct member_set<list<T...>> : member<T>... {};
template <class List, class T>
inline constexpr bool contains = std::is_base_of_v<member<T>, member_set<List>>;

template <class Seen, class E, bool Known = contains<Seen, E>>
struct visit {
  using type = Seen;
};
template <class Seen, class List>
struct visit_all;
template <class Seen>
struct visit_all<Seen, list<>> {
  using type = Seen;
};
template <class Seen, class First, class... Rest>
struct visit_all<Seen, list<First, Rest...>> {
  using type = typename visit_all<typename visit<Seen, First>::type, list<Rest...>>::type;
};
template <class List, class E>
struct append;
template <class... T, class E>
struct append<list<T...>, E> {
  using type = list<T..., E>;
};
template <class Seen, class E>
struct visit<Seen, E, false> {
  using type = typename append<typename visit_all<Seen, inputs_of<E>>::type, E>::type;
};

// A root expression as a body without formals.
template <class E>
struct root {
  using results = list<E>;
};

// All distinct nodes of a body, inputs first.
template <class Body>
using nodes_of = typename visit_all<list<>, typename Body::results>::type;

template <class T, class List>
inline constexpr int index_in = -1;
template <class T, class... L>
inline constexpr int index_in<T, list<L...>> = [] {
  constexpr bool same[sizeof...(L) + 1] = {std::is_same_v<T, L>..., false};
  for (int i = 0; i < static_cast<int>(sizeof...(L)); ++i)
    if (same[i]) return i;
  return -1;
}();

template <class Body, int I>
using node_at = boost::mp11::mp_at_c<nodes_of<Body>, I>;
template <class Body, class E>
inline constexpr int index_of = index_in<E, nodes_of<Body>>;

inline constexpr int max_inputs = 16;
struct edge_row {
  int n = 0;
  int in[max_inputs] = {};
};

template <class Nodes, class E>
struct row_of;
template <class Nodes, class... In>
struct row_of<Nodes, list<In...>> {
  static_assert(sizeof...(In) <= max_inputs, "an op or a call has at most 16 operands");
  static constexpr edge_row value{sizeof...(In), {index_in<In, Nodes>...}};
};
template <class Nodes>
struct edge_table;
template <class... E>
struct edge_table<list<E...>> {
  static constexpr int n = sizeof...(E);
  static constexpr std::array<edge_row, sizeof...(E) + 1> rows = {
      row_of<list<E...>, inputs_of<E>>::value..., edge_row{}};
};
template <class Body>
using edges_of = edge_table<nodes_of<Body>>;

// A use of a node: operand `operand` of node `user`. All uses of a body's nodes in one table, those of
// node I from first[I] to first[I + 1].
struct use {
  int user, operand;
};
template <int Nodes, int Edges>
struct use_lists {
  int first[Nodes + 1] = {};
  use at[Edges + 1] = {};
};
template <class Body>
inline constexpr int edge_count = [] {
  int n = 0;
  for (const edge_row& r : edges_of<Body>::rows) n += r.n;
  return n;
}();
template <class Body>
inline constexpr auto uses_of = [] {
  constexpr int nodes = edges_of<Body>::n;
  const auto& rows = edges_of<Body>::rows;
  use_lists<nodes, edge_count<Body>> u;
  for (int c = 0; c < nodes; ++c)
    for (int j = 0; j < rows[c].n; ++j) ++u.first[rows[c].in[j] + 1];
  for (int i = 0; i < nodes; ++i) u.first[i + 1] += u.first[i];
  int next[nodes + 1] = {};
  for (int i = 0; i < nodes; ++i) next[i] = u.first[i];
  for (int c = 0; c < nodes; ++c)
    for (int j = 0; j < rows[c].n; ++j) u.at[next[rows[c].in[j]]++] = {c, j};
  return u;
}();
template <class Body, int I>
inline constexpr int use_count = uses_of<Body>.first[I + 1] - uses_of<Body>.first[I];

}  // namespace ropewalk::detail
