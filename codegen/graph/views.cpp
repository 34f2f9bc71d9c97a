// Windows on buffers, found by lowering a chain of view ops.
#include "views.hpp"

#include "../cpu/lowering_node.hpp"

namespace ropewalk {
strided as_strides(const graph& g, int node, const std::vector<char>& stored, dim_table& dims,
                   node_studies& studies) {
  strided r;
  r.base = node;
  while (!stored[static_cast<std::size_t>(r.base)] && studies.is_view(r.base))
    r.base = g[r.base].in[0];
  if (g[r.base].op == &constant_info) return r;
  const graph_node& n = g[node];
  if (g[r.base].type.d != n.type.d) return r;  // a cast of 16 bits lowers to the load alone
  arena a(dims);
  listed_operands operands({r.base});
  node_lowerer l(g, a, operands);
  std::vector<int> at;
  for (int k = 0; k < n.type.s.rank; ++k)
    at.push_back(a.variable(a.new_variable(dims.of(n.type.s[k]))));
  const int e = l.value(node, at);
  if (a[e].op != scalar_op::load || a[e].b >= 0) return r;
  const affine_form f = a.form_of(a[e].a);
  r.where.type = n.type.d;
  r.where.rank = n.type.s.rank;
  r.where.offset = dims.value(f.constant);
  const int zero = dims.of(std::int64_t{0});
  std::size_t used = 0;
  for (int k = 0; k < n.type.s.rank; ++k) {
    r.where.extent[k] = n.type.s[k];
    int stride = zero;
    for (const affine_term& t : f.terms)
      if (t.atom == at[static_cast<std::size_t>(k)]) stride = t.coefficient, ++used;
    r.where.stride[k] = dims.value(stride);
  }
  if (used != f.terms.size()) return r;
  r.ok = true;
  const int rank = n.type.s.rank;
  r.last_contiguous =
      rank == 0 || n.type.s[rank - 1] == dim(1) || r.where.stride[rank - 1] == dim(1);
  r.dense = f.constant == zero && g[r.base].type.s.elements() == n.type.s.elements() &&
            a[e].a == l.linear(n.type.s, at);
  if (rank > 0 && n.type.s[rank - 1] == dim(1)) r.where.stride[rank - 1] = 1;
  return r;
}

}  // namespace ropewalk
