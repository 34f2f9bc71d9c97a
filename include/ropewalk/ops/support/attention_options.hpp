// The options of attention(q, k, v, options...), in any order, each at most once; docs/attention.md
// says what they mean together. Those in parentheses carry an expression: an operand of the op
// behind q, k and v. Every option holds its own rule (`fits`) and the mistake of breaking it.
#pragma once
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/dropout.hpp"
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/iota.hpp"
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/log.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

// The operands behind q, k and v, in this order, each there or not.
enum class attention_operand : int {
  mask,
  slopes,
  sinks,
  scale,
  lengths,
  documents,
  start,
  dropout,
  cosine,
  sine
};
inline constexpr int attention_operands = 10;
constexpr const char* attention_operand_name(attention_operand k) {
  constexpr const char* names[] = {"mask",      "slopes", "sinks",   "scaled_by", "lengths",
                                   "documents", "start",  "dropout", "cosine",    "sine"};
  return names[static_cast<int>(k)];
}

// f64 where q is f64, else f32: what scores, sums, slopes, sinks, scales and tables are in.
constexpr dtype attention_compute_type(dtype q) {
  return q == dtype::f64 ? dtype::f64 : dtype::f32;
}

struct attention_options {
  int operands = 0;  // bit k: operand k is there
  bool is_causal = false, distance_bias = false, has_scale = false, interleaved = false;
  dim window = 0;       // 0: none
  dim rope_offset = 0;  // fused rope: the first rotated feature
  number scale = 0, soft_cap = 0, dropout = 0;
  constexpr bool has(attention_operand k) const {
    return (operands >> static_cast<int>(k) & 1) != 0;
  }
  constexpr void add(attention_operand k) { operands |= 1 << static_cast<int>(k); }
};

// A window that holds no key.
template <dim Window, class Q>
struct sliding_window_below_one : mistake<Q> {
  static_assert(never<Q>, "sliding window below one");
};
// soft_cap<L> with L <= 0: leave it out where scores are not capped.
template <number Cap, class Q>
struct soft_cap_not_positive : mistake<Q> {
  static_assert(never<Q>, "soft cap not positive");
};
template <number MaxBias, class Q>
struct alibi_max_bias_negative : mistake<Q> {
  static_assert(never<Q>, "alibi max bias negative");
};
// The expression of an option: of element type D and shape Given, where Expected is wanted (mask:
// leading axes may be 1 or missing; lengths, start: or [1]), f32 (f64 beside f64) or i32.
template <text Option, dtype D, class Given, class Expected, class Q>
struct attention_option_does_not_fit : mistake<Q> {
  static_assert(never<Q>, "attention option does not fit");
};
// Two options that set the same thing.
template <text Option, class Q>
struct attention_option_given_twice : mistake<Q> {
  static_assert(never<Q>, "attention option given twice");
};

namespace op {

// i32 [3]: both words of the Philox key of this place, seed and step, and 1: drop.
struct attention_dropout_key {
  using family = attention_dropout_key;
  static constexpr const char* name = "attention_dropout_key";
  static constexpr op_class kind = op_class::pull;
  static constexpr bool wants_scope = true;
  static constexpr attrs attributes{};
  static constexpr tensor_type result(const attrs&, const tensor_type*, int, int) {
    return {dtype::i32, shape{3}};
  }
  static scalar lower(lowering& l) {
    using site = dropout_mask_family;
    const std::int64_t at = l.options().i[5];
    const auto number = [&](double v) { return l.number(v, dtype::i32); };
    const scalar i = l.index(0), seed = l.in(0, {number(0)}), step = l.in(0, {number(1)});
    return select(i == number(0), seed + static_cast<double>(site::low(at)),
                  select(i == number(1), step + static_cast<double>(site::high(at)), number(1)));
  }
  static void reference(const reference_call& c) {
    using site = dropout_mask_family;
    c.out[0].v = {c.in[0]->v[0] + site::low(c.a.i[5]), c.in[0]->v[1] + site::high(c.a.i[5]), 1};
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(attention_dropout_key);

namespace composed {
// Zeros outside of training: nothing is dropped, and no key is asked for.
struct attention_dropout {
  static constexpr const char* name = "attention_dropout";
  static constexpr auto apply() {
    return in_training(make<op::attention_dropout_key>(random_key),
                       expand_to<shp<"[3]">>(constant_t<0.0, dtype::i32>{}));
  }
};
}  // namespace composed

namespace detail {

// A rank-3 q has no batch axis: one batch item.
constexpr dim batch_of(const shape& q) { return q.rank == 4 ? q[0] : dim(1); }

// The shape that an operand should have, for q and k.
constexpr shape attention_operand_shape(attention_operand kind, const shape& q, const shape& k) {
  switch (kind) {
    case attention_operand::mask: {
      shape s = q;
      s[-1] = k[-2];
      return s;
    }
    case attention_operand::slopes:
    case attention_operand::sinks:
      return {q[-3]};
    case attention_operand::scale:
      return {};
    case attention_operand::lengths:
    case attention_operand::start:
      return {batch_of(q)};
    default:
      return {dim("n") + dim(1)};
  }
}
constexpr bool attention_operand_fits(attention_operand kind, const tensor_type& t,
                                      const tensor_type& q, const shape& k) {
  const shape want = attention_operand_shape(kind, q.s, k);
  const bool integer = kind >= attention_operand::lengths;
  if (kind == attention_operand::mask) {
    if (!is_floating(t.d) || (t.d == dtype::f64 && q.d != dtype::f64)) return false;
    if (t.s.rank < 2 || t.s.rank > want.rank) return false;
    for (int i = 1; i <= t.s.rank; ++i)
      if (!(t.s[-i] == want[-i]) && !(i > 2 && t.s[-i] == dim(1))) return false;
    return true;
  }
  if (t.d != (integer ? dtype::i32 : attention_compute_type(q.d))) return false;
  if (kind == attention_operand::documents)
    return t.s.rank == 1 && (!t.s[0].fixed() || t.s[0].n >= 2);
  if (t.s == want) return true;
  return t.s == shape{1} && (integer || kind == attention_operand::scale);
}

template <attention_operand Kind, class Q, class K>
struct attention_operand_wanted {
  static constexpr shape value = attention_operand_shape(Kind, Q::type.s, K::type.s);
};

// An option that adds no operand and cannot be wrong.
struct plain_attention_option {
  template <attention_operand, class, class>
  using operand = list<>;
  template <class Q, class K>
  static constexpr bool fits() {
    return true;
  }
  template <class Q, class K>
  using mistake_of = mistake<shp_of<Q>>;
};

// The option that gives operand Kind as E.
template <attention_operand Kind, text Name, class E>
struct operand_option {
  static constexpr auto option_name = Name;
  static constexpr void apply(attention_options& o) {
    o.add(Kind);
    if (Kind == attention_operand::scale) o.has_scale = true;
  }
  template <attention_operand Asked, class, class>
  using operand = std::conditional_t<Asked == Kind, list<E>, list<>>;
  template <class Q, class K>
  static constexpr bool fits() {
    return attention_operand_fits(Kind, E::type, Q::type, K::type.s);
  }
  template <class Q, class K>
  using mistake_of =
      attention_option_does_not_fit<Name, E::type.d, shp_of<E>,
                                    shp_for<attention_operand_wanted<Kind, Q, K>>, shp_of<Q>>;
};

}  // namespace detail

// Query row j, at key position p = start + j, sees the keys n <= p.
struct causal_t : detail::plain_attention_option {
  static constexpr text option_name{"causal"};
  static constexpr void apply(attention_options& o) { o.is_causal = true; }
};
inline constexpr causal_t causal{};

// Only keys nearer than W: p - n < W (with causal), |p - n| < W (without). W >= 1, may be symbolic.
template <dim W>
struct sliding_window_t : detail::plain_attention_option {
  static constexpr text option_name{"sliding_window"};
  static constexpr void apply(attention_options& o) { o.window = W; }
  template <class Q, class K>
  static constexpr bool fits() {
    return !W.fixed() || W.n >= 1;
  }
  template <class Q, class K>
  using mistake_of = sliding_window_below_one<W, shp_of<Q>>;
};
template <dim W>
inline constexpr sliding_window_t<W> sliding_window{};

// Scores are S (q . k) instead of (q . k) / sqrt(Dk).
template <number S>
struct scaled_t : detail::plain_attention_option {
  static constexpr text option_name{"scaled"};
  static constexpr void apply(attention_options& o) { o.scale = S, o.has_scale = true; }
};
template <number S>
inline constexpr scaled_t<S> scaled{};
// The same with a scalar (or [1]) expression, which has a gradient.
template <expression E>
constexpr detail::operand_option<attention_operand::scale, "scaled", E> scaled_by(const E&) {
  return {};
}

// Scores s become L tanh(s / L), before any bias. L > 0.
template <number L>
struct soft_cap_t : detail::plain_attention_option {
  static constexpr text option_name{"soft_cap"};
  static constexpr void apply(attention_options& o) { o.soft_cap = L; }
  template <class Q, class K>
  static constexpr bool fits() {
    return L.v > 0;
  }
  template <class Q, class K>
  using mistake_of = soft_cap_not_positive<L, shp_of<Q>>;
};
template <number L>
inline constexpr soft_cap_t<L> soft_cap{};

// An additive bias [.., Tq, Tk], with a gradient; axes of batch and heads may be 1 or missing. An
// entry of -infinity hides the key.
template <expression E>
constexpr detail::operand_option<attention_operand::mask, "mask", E> mask(const E&) {
  return {};
}
// A factor [H] of the mask; without a mask, of the bias -|p - n|. It has a gradient.
template <expression E>
constexpr detail::operand_option<attention_operand::slopes, "slopes", E> slopes(const E&) {
  return {};
}
// An extra logit [H] in the denominator, with a gradient.
template <expression E>
constexpr detail::operand_option<attention_operand::sinks, "sinks", E> sinks(const E&) {
  return {};
}
// i32 [B] (or [1]): batch item b sees the keys n < lengths[b]. 0 to Tk.
template <expression E>
constexpr detail::operand_option<attention_operand::lengths, "lengths", E> lengths(const E&) {
  return {};
}
// i32 [n + 1]: where documents start, ascending from 0, and the end of the last, at most Tk. A row
// sees the keys of its own document; positions beyond the last are in none.
template <expression E>
constexpr detail::operand_option<attention_operand::documents, "documents", E> documents(const E&) {
  return {};
}
// i32 [B] (or [1]): the key position of query row 0, 0 to Tk - Tq, instead of Tk - Tq: a cache of
// Tk keys that is not full.
template <expression E>
constexpr detail::operand_option<attention_operand::start, "start", E> start(const E&) {
  return {};
}

namespace composed {
// In float64, rounded once.
template <dim H, number MaxBias, dtype D>
struct alibi_slopes {
  static constexpr const char* name = "alibi_slopes";
  static constexpr double ln2 = 0.693147180559945309417;
  static constexpr std::int64_t power_of_two_below(std::int64_t h) {
    std::int64_t n = 1;
    while (2 * n <= h) n *= 2;
    return n;
  }
  static constexpr auto power() {
    if constexpr (H.fixed()) {
      return constant<double(power_of_two_below(H.n)), dtype::f64>;
    } else {  // log2 of a power of two may come out a bit below it
      auto k = log(dim_value<H, dtype::f64>()) * constant<1 / ln2> + constant<1e-9>;
      return exp(cast<dtype::f64>(cast<dtype::i32>(k)) * constant<ln2>);
    }
  }
  static constexpr auto apply() {
    auto h = iota<H, dtype::f64>;
    auto n = power();
    auto first = (h + constant<1.0>) / n;
    auto rest = (h - n + constant<0.5>) / n;
    auto exponent = where(h + constant<0.5> < n, first, rest);
    return cast<D>(exp(exponent * constant<-MaxBias.v * ln2>));
  }
};
}  // namespace composed

// slopes() of head h: 2^(-B (h + 1) / n) for h < n = 2^floor(log2 H), else
// 2^(-(B / 2) (2 (h - n) + 1) / n). B >= 0. Source: Press et al. 2022, with their rule for other H.
template <number MaxBias>
struct alibi_t : detail::plain_attention_option {
  static constexpr text option_name{"slopes"};
  static constexpr void apply(attention_options& o) { o.add(attention_operand::slopes); }
  template <attention_operand Kind, class Q>
  struct operand_list {
    using type = list<>;
  };
  template <class Q>
  struct operand_list<attention_operand::slopes, Q> {
    static constexpr dtype d = attention_compute_type(Q::type.d);
    using type = list<call_t<composed::alibi_slopes<Q::type.s[-3], MaxBias, d>, "">>;
  };
  template <attention_operand Kind, class Q, class>
  using operand = typename operand_list<Kind, Q>::type;
  template <class Q, class K>
  static constexpr bool fits() {
    return MaxBias.v >= 0;
  }
  template <class Q, class K>
  using mistake_of = alibi_max_bias_negative<MaxBias, shp_of<Q>>;
};
template <number MaxBias>
inline constexpr alibi_t<MaxBias> alibi{};

// In training every probability is 0 with probability P, else divided by 1 - P; the sums of the
// softmax are of all. Drawn as dropout<Name, P>() draws, for (batch, head, row) and key.
template <text Name, number P>
struct attention_dropout_t : detail::plain_attention_option {
  static constexpr text option_name{"attention_dropout"};
  static constexpr bool drops = P.v != 0;
  static constexpr void apply(attention_options& o) {
    if (drops) o.dropout = P, o.add(attention_operand::dropout);
  }
  template <attention_operand Kind, class, class>
  using operand = std::conditional_t<drops && Kind == attention_operand::dropout,
                                     list<call_t<composed::attention_dropout, Name>>, list<>>;
  template <class Q, class K>
  static constexpr bool fits() {
    return P.v >= 0 && P.v < 1;
  }
  template <class Q, class K>
  using mistake_of = dropout_needs_a_probability_below_one<P, shp_of<Q>>;
};
template <text Name, number P>
inline constexpr attention_dropout_t<Name, P> attention_dropout{};

}  // namespace ropewalk
