// rope(x, [positions,] options...): rotary position embedding of x [..., T, N].
//   (u, v) -> m (u cos a - v sin a, v cos a + u sin a),   a = position * f_i
// for every pair i of the rotary window (the last axis, or rotary_window<width, offset>: even
// both); features outside it are copied. The options (rope/options.hpp):
//   half_split, interleaved, mrope<...>, interleaved_mrope<...>, vision_rope<...>   the pairs
//   rope_base<b>, frequencies<schedule>, frequencies_from(f), frequency_factors(c)  f_i
//   rope_magnitude<m>, magnitude_from(m)                                            m
//   maximum_position<n>, current_length(l)
// Positions: 0 .. T-1, or an expression i32 [T], [1, T] or [B, T]; for several streams [S, T],
// [S, 1, T] or [S, B, T]. Angles are float64, cos and sin rounded once. Backward is the same op
// with the sign of the sine flipped; it saves nothing but the tables. Source: Su et al. 2021.
#pragma once
#include "ropewalk/ops/rope/rotate.hpp"
#include "ropewalk/ops/rope/rows.hpp"
#include "ropewalk/ops/rope/tables.hpp"

namespace ropewalk {

// A rotary window that is odd, empty or wider than the features; or an odd offset.
template <dim Width, dim Offset, class X>
struct rope_window_does_not_fit : mistake<X> {
  static_assert(never<X>, "rope window does not fit");
};
// Positions are i32 [T], [1, T] or [B, T] of x [..., T, N], with the streams in front where there
// are several.
template <class Positions, class X>
struct rope_positions_do_not_fit : mistake<X> {
  static_assert(never<X>, "rope positions do not fit");
};
// Sections sum to 0, are negative, or name a stream that the positions do not have.
template <int S0, int S1, int S2, int S3, class Positions, class X>
struct rope_sections_do_not_fit : mistake<X> {
  static_assert(never<X>, "rope sections do not fit");
};
// An argument of a schedule breaks a rule.
template <text Schedule, text Argument, number Value, text Rule, class X>
struct rope_schedule_refuses : mistake<X> {
  static_assert(never<X>, "rope schedule refuses an argument");
};
// A mode that ggml does not have: 0, 2, 8, 24 and 40 are known.
template <int Mode, class X>
struct rope_mode_is_unknown : mistake<X> {
  static_assert(never<X>, "rope mode is unknown");
};
// A current length, and a schedule that does not depend on it.
template <class X>
struct rope_current_length_is_not_used : mistake<X> {
  static_assert(never<X>, "rope current length is not used");
};
// Pairing, window, frequencies, ...: two options that say the same.
template <class X>
struct rope_option_given_twice : mistake<X> {
  static_assert(never<X>, "rope option given twice");
};
// Frequencies and factors are floating, one per pair; the current length is an i32 scalar, a
// magnitude a floating one.
template <class Operand, class X>
struct rope_operand_does_not_fit : mistake<X> {
  static_assert(never<X>, "rope operand does not fit");
};
// A stated maximum that 0 .. T-1 would pass, or that is not positive.
template <std::int64_t Maximum, class X>
struct rope_exceeds_maximum_position : mistake<X> {
  static_assert(never<X>, "rope exceeds maximum position");
};

namespace detail {

enum class rope_problem : std::uint8_t {
  none,
  dtype,
  window,
  positions,
  sections,
  schedule,
  twice,
  mode,
  unused,
  operand,
  maximum
};

struct no_option {  // where an option is not given
  using expr = void;
};

template <auto S>
constexpr bool takes_length(frequencies_t<S>*) {
  return op::rope_frequencies_family<S>::type::by_length;
}
constexpr bool takes_length(const void*) { return false; }
template <auto S>
constexpr rope_fault schedule_fault(frequencies_t<S>*, std::int64_t width) {
  return schedule_of<S>().fault(width);
}
constexpr rope_fault schedule_fault(const void*, std::int64_t) { return {}; }
template <auto S>
constexpr double schedule_magnitude(frequencies_t<S>*) {
  return schedule_of<S>().magnitude();
}
constexpr double schedule_magnitude(const void*) { return 1; }
template <auto S>
constexpr const char* schedule_name(frequencies_t<S>*) {
  return op::rope_frequencies_family<S>::name;
}

constexpr bool rope_window_fits(const shape& s, const rope_options& o) {
  if (s.rank < 2) return false;
  const dim& n = s[-1];
  if (o.offset.fixed() && (o.offset.n < 0 || o.offset.n % 2 != 0)) return false;
  if (!o.width.fixed()) return true;
  const std::int64_t unit = o.streams == rope_streams::restarting_sections ? 4 : 2;
  if (o.width.n <= 0 || o.width.n % unit != 0) return false;
  return !n.fixed() || !o.offset.fixed() || o.offset.n + o.width.n <= n.n;
}
// p with the axis of streams, where there is one.
constexpr bool rope_positions_fit(const tensor_type& p, const shape& x, const rope_options& o) {
  const int lead = o.streams == rope_streams::one ? 0 : 1, rank = p.s.rank - lead;
  if (p.d != dtype::i32 || (lead == 1 && !(p.s.rank > 0 && p.s[0].fixed()))) return false;
  if (lead == 1 && (p.s[0].n < 2 || p.s[0].n > 4)) return false;
  if (rank == 1) return p.s[lead] == x[-2];
  return rank == 2 && x.rank == 4 && p.s[lead + 1] == x[-2] &&
         (p.s[lead] == x[0] || p.s[lead] == dim(1));
}
constexpr bool rope_sections_fit(const shape& p, const rope_options& o) {
  if (o.streams == rope_streams::one) return true;
  for (const int s : o.section)
    if (s < 0) return false;
  if (o.section_sum() == 0) return false;
  const attrs a = op::section_attrs(o);
  const std::int64_t all = o.section_sum();
  const std::int64_t pairs = o.width.fixed() ? o.pairs().n : all;
  for (std::int64_t i = 0; i < pairs && i < all; ++i)
    if (op::place_of_pair(a, i).stream >= p[0].n) return false;
  return true;
}
template <dtype D>
constexpr bool rope_operand_fits(const tensor_type& t, const dim& n) {
  if (D == dtype::i32) return t.d == D && t.s.rank == 0;
  if (!is_floating(t.d)) return false;
  return n == dim(0) ? t.s.rank == 0 : t.s == shape{n};
}
template <class Option, dtype D>
constexpr bool rope_operand_fits(const dim& n) {
  if constexpr (!requires { typename Option::expr; })
    return true;
  else if constexpr (std::is_void_v<typename Option::expr>)
    return true;
  else
    return rope_operand_fits<D>(Option::expr::type, n);
}
template <class X>
constexpr dim rope_length = X::type.s.rank < 2 ? dim(1) : X::type.s[-2];

// What a call of rope is given.
template <class X, class P, bool Given, class... Option>
struct rope_given {
  using positions = P;
  using frequency =
      typename option_of<frequency_slot, frequencies_t<rope_standard{}>, Option...>::type;
  using factors = typename option_of<factor_slot, no_option, Option...>::type;
  using length = typename option_of<length_slot, no_option, Option...>::type;
  using magnitude = typename option_of<magnitude_slot, no_option, Option...>::type;
  static constexpr rope_options combine() {
    rope_options o;
    (Option::apply(o), ...);
    if (o.whole) o.width = X::type.s[-1];
    return o;
  }
  static constexpr rope_options o = combine();
  static constexpr rope_fault fault() {
    const dim w = o.rotary_width();
    return schedule_fault(static_cast<frequency*>(nullptr), w.fixed() ? w.n : 0);
  }
  static constexpr double m() {
    return o.magnitude.v * schedule_magnitude(static_cast<frequency*>(nullptr));
  }
  // The first operand that does not fit.
  static constexpr bool operands_fit[4] = {rope_operand_fits<frequency, dtype::f64>(o.pairs()),
                                           rope_operand_fits<factors, dtype::f64>(o.pairs()),
                                           rope_operand_fits<length, dtype::i32>(dim(0)),
                                           rope_operand_fits<magnitude, dtype::f64>(dim(0))};
  static constexpr rope_problem problem() {
    if (!is_floating(X::type.d)) return rope_problem::dtype;
    unsigned said = 0;
    bool twice = false;
    ((twice = twice || (said & Option::slots) != 0, said |= Option::slots), ...);
    if (twice) return rope_problem::twice;
    if (o.unknown_mode != 0) return rope_problem::mode;
    if ((said & length_slot) != 0 && !takes_length(static_cast<frequency*>(nullptr)))
      return rope_problem::unused;
    if (!rope_positions_fit(P::type, X::type.s, o)) return rope_problem::positions;
    if (!rope_sections_fit(P::type.s, o)) return rope_problem::sections;
    if (fault()) return rope_problem::schedule;
    for (const bool fits : operands_fit)
      if (!fits) return rope_problem::operand;
    const dim t = rope_length<X>;
    if (o.bounded && (o.maximum <= 0 || (!Given && t.fixed() && t.n > o.maximum)))
      return rope_problem::maximum;
    return rope_problem::none;
  }
};
template <class X, class... A>
struct rope_arguments : rope_given<X, node<op::iota<dtype::i32, rope_length<X>>>, false, A...> {};
template <class X, class P, class... A>
  requires expression<P>
struct rope_arguments<X, P, A...> : rope_given<X, P, true, A...> {};

template <class X, class... A>
constexpr rope_problem find_rope_problem() {
  using given = rope_arguments<X, A...>;
  if constexpr (X::type.s.rank == 0 || !rope_window_fits(X::type.s, given::o))
    return rope_problem::window;
  else
    return given::problem();
}
template <class X, class... A>
inline constexpr rope_problem rope_problem_of = find_rope_problem<X, A...>();

template <rope_problem Problem, class X, class G>
struct rope_mistake {};
template <class X, class G>
struct rope_mistake<rope_problem::dtype, X, G> {
  using type = dtype_not_supported<"rope", X::type.d, shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::window, X, G> {
  using type = rope_window_does_not_fit<G::o.width, G::o.offset, shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::positions, X, G> {
  using type = rope_positions_do_not_fit<shp_of<typename G::positions>, shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::sections, X, G> {
  using type = rope_sections_do_not_fit<G::o.section[0], G::o.section[1], G::o.section[2],
                                        G::o.section[3], shp_of<typename G::positions>, shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::schedule, X, G> {
  static constexpr rope_fault f = G::fault();
  static constexpr int length(const char* s) {
    int n = 0;
    while (s[n] != 0) ++n;
    return n;
  }
  template <int N>
  static constexpr text<N + 1> copy(const char* s) {
    text<N + 1> t;
    for (int i = 0; i <= N; ++i) t.s[i] = s[i];
    return t;
  }
  static constexpr const char* name = schedule_name(static_cast<typename G::frequency*>(nullptr));
  using type = rope_schedule_refuses<copy<length(name)>(name), copy<length(f.field)>(f.field),
                                     number(f.value), copy<length(f.rule)>(f.rule), shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::twice, X, G> {
  using type = rope_option_given_twice<shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::mode, X, G> {
  using type = rope_mode_is_unknown<G::o.unknown_mode, shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::unused, X, G> {
  using type = rope_current_length_is_not_used<shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::operand, X, G> {
  using bad = std::conditional_t<
      !G::operands_fit[0], typename G::frequency,
      std::conditional_t<
          !G::operands_fit[1], typename G::factors,
          std::conditional_t<!G::operands_fit[2], typename G::length, typename G::magnitude>>>;
  using type = rope_operand_does_not_fit<shp_of<typename bad::expr>, shp_of<X>>;
};
template <class X, class G>
struct rope_mistake<rope_problem::maximum, X, G> {
  using type = rope_exceeds_maximum_position<G::o.maximum, shp_of<X>>;
};

// cos or sin times m, for x of type D.
template <dtype D, number M, class Magnitude, class T>
constexpr auto rope_table(const T& t) {
  constexpr dtype d = D == dtype::f64 ? D : dtype::f32;
  if constexpr (!std::is_void_v<typename Magnitude::expr>)
    return cast<d>(t * constant<M, dtype::f64> * cast<dtype::f64>(typename Magnitude::expr{}));
  else if constexpr (M.v != 1)
    return cast<d>(t * constant<M, dtype::f64>);
  else
    return cast<d>(t);
}

}  // namespace detail

template <expression X, class... A>
  requires(detail::rope_problem_of<X, A...> == detail::rope_problem::none)
constexpr auto rope(const X&, const A&...) {
  using given = detail::rope_arguments<X, A...>;
  constexpr rope_options o = given::o;
  constexpr rope_options tables{.streams = o.streams,
                                .section = {o.section[0], o.section[1], o.section[2], o.section[3]},
                                .rest_is_first = o.rest_is_first,
                                .width = o.width,
                                .bounded = o.bounded,
                                .maximum = o.maximum};
  constexpr bool derived = !std::is_same_v<typename given::positions,
                                           node<op::iota<dtype::i32, detail::rope_length<X>>>>;
  named<detail::rope_angles<tables, typename given::frequency, typename given::factors,
                            typename given::length, typename given::positions, derived>>
      angles;
  using magnitude = typename given::magnitude;
  auto c = detail::rope_table<X::type.d, number(given::m()), magnitude>(cos(angles));
  auto s = detail::rope_table<X::type.d, number(given::m()), magnitude>(sin(angles));
  return node<op::rotate<o.pairing, o.width, o.offset, 1>, X, decltype(c), decltype(s)>{};
}
template <expression X, class... A,
          class Error = typename detail::rope_mistake<detail::rope_problem_of<X, A...>, X,
                                                      detail::rope_arguments<X, A...>>::type>
  requires(detail::rope_problem_of<X, A...> != detail::rope_problem::none)
Error rope(const X&, const A&...);

}  // namespace ropewalk
