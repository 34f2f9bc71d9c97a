// fused_rope(options...): attention that rotates q and k as it reads them (and turns d_q and d_k
// back as it writes them), instead of rope() before it. The options are those of rope(), without
// positions: key n stands at n, query row j at start + j. Tables are [Tk, W/2], made once.
#pragma once
#include "ropewalk/ops/rope.hpp"
#include "ropewalk/ops/support/attention_options.hpp"

namespace ropewalk {

// Query rows stand among the keys, so there are no more of them.
template <class Q, class K>
struct fused_rope_needs_queries_among_keys : mistake<Q> {
  static_assert(never<Q>, "fused rope needs queries among keys");
};

namespace detail {

// What rope() makes of the keys: the tables are its operands, or it is a mistake.
template <class Rope>
struct rope_tables {
  template <attention_operand>
  using of_kind = list<>;
};
template <class Op, class X, class C, class S>
struct rope_tables<node<Op, X, C, S>> {
  template <attention_operand Kind>
  using of_kind =
      std::conditional_t<Kind == attention_operand::cosine, list<C>,
                         std::conditional_t<Kind == attention_operand::sine, list<S>, list<>>>;
};

template <class... Option>
struct fused_rope_t {
  static constexpr text option_name{"fused_rope"};
  static constexpr void apply(attention_options& o) {
    rope_options r;
    (Option::apply(r), ...);
    o.interleaved = r.pairing == rope_pairing::interleaved;
    o.rope_offset = r.offset;
    o.add(attention_operand::cosine), o.add(attention_operand::sine);
  }
  // Stands for the keys, in the type that attention computes in.
  template <class Q, class K>
  using keys = formal<0, shp_of<K>, attention_compute_type(Q::type.d)>;
  template <class Q, class K>
  using rotated = decltype(rope(keys<Q, K>{}, Option{}...));
  template <attention_operand Kind, class Q, class K>
  using operand = typename rope_tables<rotated<Q, K>>::template of_kind<Kind>;
  template <class Q, class K>
  static constexpr bool rows_fit() {
    const dim tq = Q::type.s[-2], tk = K::type.s[-2];
    return !tq.fixed() || !tk.fixed() || tq.n <= tk.n;
  }
  template <class Q, class K>
  static constexpr bool fits() {
    return rope_problem_of<keys<Q, K>, Option...> == rope_problem::none && rows_fit<Q, K>();
  }
  template <class Q, class K, bool RowsFit = rows_fit<Q, K>()>
  struct mistake_for {
    using type = fused_rope_needs_queries_among_keys<shp_of<Q>, shp_of<K>>;
  };
  template <class Q, class K>
  struct mistake_for<Q, K, true> {
    using type = rotated<Q, K>;
  };
  template <class Q, class K>
  using mistake_of = typename mistake_for<Q, K>::type;
};

}  // namespace detail

template <class... Option>
  requires(!expression<Option> && ...)
constexpr detail::fused_rope_t<Option...> fused_rope(const Option&...) {
  return {};
}

}  // namespace ropewalk
