// The flat graph: equal nodes are one node, leaves of one path agree.
#include <bit>
#include <functional>
#include <iterator>

#include <ropewalk/graph/graph.hpp>

namespace ropewalk {
namespace {

// Three-way comparisons of the parts of a node; doubles by their bits, so that -0 and NaN are
// values like any other.
int order(const dim& a, const dim& b) {
  if (a.n != b.n) return a.n < b.n ? -1 : 1;
  return detail::compare(a.sym, b.sym);
}

int order(const attrs& a, const attrs& b) {
  for (std::size_t k = 0; k < std::size(a.i); ++k)
    if (a.i[k] != b.i[k]) return a.i[k] < b.i[k] ? -1 : 1;
  for (std::size_t k = 0; k < std::size(a.f); ++k) {
    const auto x = std::bit_cast<std::uint64_t>(a.f[k]), y = std::bit_cast<std::uint64_t>(b.f[k]);
    if (x != y) return x < y ? -1 : 1;
  }
  for (std::size_t k = 0; k < std::size(a.d); ++k)
    if (const int c = order(a.d[k], b.d[k]); c != 0) return c;
  return 0;
}

int order(const tensor_type& a, const tensor_type& b) {
  if (a.d != b.d) return a.d < b.d ? -1 : 1;
  if (a.s.rank != b.s.rank) return a.s.rank < b.s.rank ? -1 : 1;
  for (int k = 0; k < a.s.rank; ++k)
    if (const int c = order(a.s[k], b.s[k]); c != 0) return c;
  return 0;
}

std::string printed(const graph_node& n) {
  return std::string(n.op->name) + " " + dtype_name(n.type.d) + detail::print_shape(n.type.s).s;
}

// Why two leaves of one path cannot be one.
void refuse(const graph_node& have, const graph_node& n) {
  if (have.op == n.op && have.type == n.type)
    throw error("graph", "leaf " + n.path, printed(n), "starts in two ways (see its initializers)");
  throw error("graph", "leaf " + n.path, printed(n), "is already there as " + printed(have));
}

}  // namespace

// By path first: leaves of one path lie side by side.
bool graph::less::operator()(const graph_node& a, const graph_node& b) const {
  if (const int c = a.path.compare(b.path); c != 0) return c < 0;
  if (a.op != b.op) return std::less<const op_info*>{}(a.op, b.op);
  if (a.in != b.in) return a.in < b.in;
  if (const int c = order(a.a, b.a); c != 0) return c < 0;
  return order(a.type, b.type) < 0;
}

int graph::add(const graph_node& n) {
  if (const auto at = index_.find(n); at != index_.end()) return at->second;
  if (!n.path.empty()) {
    graph_node first;  // sorts before every node of this path
    first.path = n.path;
    if (const auto at = index_.lower_bound(first); at != index_.end() && at->first.path == n.path)
      refuse(at->first, n);
  }
  const int id = size();
  nodes_.push_back(n);
  index_.emplace(n, id);
  return id;
}

}  // namespace ropewalk
