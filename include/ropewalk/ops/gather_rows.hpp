// gather_rows(table, ids): table [N, C], ids i32 [...] -> [..., C]: row ids[...] of the table (an
// embedding). scatter_add(base, ids, src): base [N, C] with row ids[k] increased by src[k] for every
// k, in the order of k. Each is the other's gradient. An id outside [0, N) reads
// zeros and adds nothing; sessions refuse such ids in an input of gather_rows.
#pragma once
#include "ropewalk/ops/expand.hpp"
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {

constexpr shape with_columns(shape ids, const dim& c) {
  ids.push(c);
  return ids;
}

struct gather_rows : elementwise<gather_rows> {
  static constexpr const char* name = "gather_rows";
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return {in[0].d, with_columns(in[1].s, in[0].s[1])};
  }
  static scalar lower(lowering& l) {
    std::vector<scalar> at;
    for (int k = 0; k + 1 < l.type().s.rank; ++k) at.push_back(l.index(k));
    const scalar row = l.in(1, at), zero = l.number(0, dtype::i32);
    return select(zero <= row && row < l.extent(0, 0), l.in(0, {row, l.index(l.type().s.rank - 1)}),
                  l.number(0, l.type().d));
  }
  static void reference(const reference_call& c) {
    const std::int64_t rows = c.in[0]->extent[0], columns = c.in[0]->extent[1];
    for (std::size_t k = 0; k < c.in[1]->v.size(); ++k) {
      const auto row = static_cast<std::int64_t>(c.in[1]->v[k]);
      if (row < 0 || row >= rows) continue;
      for (std::int64_t j = 0; j < columns; ++j)
        c.out[0].v[k * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)] =
            c.in[0]->v[static_cast<std::size_t>(row * columns + j)];
    }
  }
  template <int J>
  static constexpr auto grad(auto s);
};

struct scatter_add {
  using family = scatter_add;
  static constexpr const char* name = "scatter_add";
  static constexpr op_class kind = op_class::kernel;
  static constexpr attrs attributes{};
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return in[0];
  }
  // codegen/cpu/ops/scatter_add.cpp: columns in parallel, rows in order (deterministic).
  static void kernel(const kernel_call& c);
  static void reference(const reference_call& c) {
    const std::int64_t rows = c.in[0]->extent[0], columns = c.in[0]->extent[1];
    c.out[0].v = c.in[0]->v;
    for (std::size_t k = 0; k < c.in[1]->v.size(); ++k) {
      const auto row = static_cast<std::int64_t>(c.in[1]->v[k]);
      if (row < 0 || row >= rows) continue;
      for (std::int64_t j = 0; j < columns; ++j)
        c.out[0].v[static_cast<std::size_t>(row * columns + j)] +=
            c.in[2]->v[k * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)];
    }
  }
  template <int J>
  static constexpr auto grad(auto s) {
    if constexpr (J == 0) return s.cotangent();
    else if constexpr (J == 1) return no_gradient{};
    else return make<gather_rows>(s.cotangent(), s.template in<1>());
  }
};

template <int J>
constexpr auto gather_rows::grad(auto s) {
  if constexpr (J == 1) {
    return no_gradient{};
  } else {
    auto table = s.template in<0>();
    auto zeros = expand_to<shp_of<decltype(table)>>(constant_t<0.0, decltype(table)::type.d>{});
    return make<scatter_add>(zeros, s.template in<1>(), s.cotangent());
  }
}

}  // namespace op
ROPEWALK_LIBRARY_OP(gather_rows);
ROPEWALK_LIBRARY_OP(scatter_add);

// table is not [N, C], or the ids are not i32, or src is not ids' shape with C columns.
template <text Op, class Table, class Ids>
struct rows_do_not_match : mistake<Table> {
  static_assert(never<Table>, "rows do not match");
};
namespace detail {
template <class T, class I>
inline constexpr bool gathers = T::type.s.rank == 2 && I::type.d == dtype::i32;
}

template <expression Table, expression Ids>
  requires detail::gathers<Table, Ids>
constexpr auto gather_rows(const Table&, const Ids&) {
  return node<op::gather_rows, Table, Ids>{};
}
template <expression Table, expression Ids,
          class Error = rows_do_not_match<"gather_rows", shp_of<Table>, shp_of<Ids>>>
  requires(!detail::gathers<Table, Ids>)
Error gather_rows(const Table&, const Ids&);

template <expression Base, expression Ids, expression Src>
  requires(detail::gathers<Base, Ids> && Src::type.d == Base::type.d &&
           Src::type.s == op::with_columns(Ids::type.s, Base::type.s[1]))
constexpr auto scatter_add(const Base&, const Ids&, const Src&) {
  return node<op::scatter_add, Base, Ids, Src>{};
}
template <expression Base, expression Ids, expression Src,
          class Error = rows_do_not_match<"scatter_add", shp_of<Base>, shp_of<Src>>>
  requires(!(detail::gathers<Base, Ids> && Src::type.d == Base::type.d &&
             Src::type.s == op::with_columns(Ids::type.s, Base::type.s[1])))
Error scatter_add(const Base&, const Ids&, const Src&);

}  // namespace ropewalk
