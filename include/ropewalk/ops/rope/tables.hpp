// The tables of rope: frequencies of a schedule (one float64 per pair), the positions that pairs
// take, and cos and sin of their products, computed in float64 and rounded once.
#pragma once
#include <boost/mp11/algorithm.hpp>

#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/cos.hpp"
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/iota.hpp"
#include "ropewalk/ops/max.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/rope/options.hpp"
#include "ropewalk/ops/sin.hpp"

namespace ropewalk {

namespace detail {
template <auto S>
inline constexpr auto stored_schedule = S;
template <auto S>
constexpr const auto& schedule_of() {
  if constexpr (std::is_pointer_v<decltype(S)>)
    return *S;
  else
    return stored_schedule<S>;
}
}  // namespace detail

namespace op {

// codegen/rope/ops.cpp. Errors: an argument of the schedule that breaks a rule at this width.
void fill_frequencies(const rope_filler& s, const kernel_call& c);
void fill_frequencies(const rope_filler& s, const reference_call& c);

// -> f64 [pairs]. Operand: the current length, where the schedule is by length. i[] sections
// (place_of_pair), d[0] D, d[1] pairs. A kernel of its own, because the frequencies are right to
// the last bit only in twice the precision; [W/2] numbers a step.
template <auto S>
struct rope_frequencies_family {
  using family = rope_frequencies_family;
  static constexpr const auto& schedule = detail::schedule_of<S>();
  using type = std::remove_cvref_t<decltype(schedule)>;
  static constexpr const char* name = type::name;
  static constexpr op_class kind = op_class::kernel;
  static constexpr tensor_type result(const attrs& a, const tensor_type*, int, int) {
    return {dtype::f64, shape{a.d[1]}};
  }
  static rope_filler filler() {
    return {
        name, &schedule,
        [](const void* s, std::int64_t width) { return static_cast<const type*>(s)->fault(width); },
        [](const void* s, std::span<double> f, std::int64_t width, std::int64_t length) {
          static_cast<const type*>(s)->fill(f, width, length);
        }};
  }
  static void kernel(const kernel_call& c) { fill_frequencies(filler(), c); }
  static void reference(const reference_call& c) { fill_frequencies(filler(), c); }
};
template <auto S, rope_options O>
struct rope_frequencies : rope_frequencies_family<S> {
  static constexpr attrs make_attributes() {
    attrs a = section_attrs(O);
    a.d[0] = O.rotary_width(), a.d[1] = O.pairs();
    return a;
  }
  static constexpr attrs attributes = make_attributes();
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};

// Positions as they are; one at or beyond i[0] is an error. A kernel, because it may throw.
struct positions_below_family {
  using family = positions_below_family;
  static constexpr const char* name = "positions_below";
  static constexpr op_class kind = op_class::kernel;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return in[0];
  }
  static void kernel(const kernel_call& c);  // codegen/rope/ops.cpp
  static void reference(const reference_call& c);
};
template <std::int64_t Maximum>
struct positions_below : positions_below_family {
  static constexpr attrs attributes{.i = {Maximum}};
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};

// Positions of several streams [S, T] or [S, B, T] -> the position that each pair takes, [T, P] or
// [B, 1, T, P]. i[] sections (place_of_pair), d[0] pairs.
struct stream_positions_family {
  using family = stream_positions_family;
  static constexpr const char* name = "stream_positions";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    const shape& s = in[0].s;
    if (s.rank == 2) return {in[0].d, shape{s[1], a.d[0]}};
    return {in[0].d, shape{s[1], 1, s[2], a.d[0]}};
  }
  static scalar lower(lowering& l) {
    const std::int64_t* a = l.options().i;
    const int rank = l.type().s.rank;
    const auto whole = [&](std::int64_t v) { return l.number(static_cast<double>(v), dtype::i32); };
    const auto stream = [&](std::int64_t s) {
      return rank == 2 ? l.in(0, {whole(s), l.index(0)})
                       : l.in(0, {whole(s), l.index(0), l.index(2)});
    };
    const scalar q = l.apply(scalar_op::mod, {l.index(rank - 1), whole(a[1] + a[2] + a[3] + a[4])});
    if (a[0] == static_cast<std::int64_t>(rope_streams::interleaved_sections)) {
      const scalar r = l.apply(scalar_op::mod, {q, whole(3)});
      // Without a fourth stream no pair is left over (rope_sections_fit).
      scalar v = stream(a[5] != 0 || l.type(0).s[0].n < 4 ? 0 : 3);
      for (int s = 0; s < 3; ++s)
        if (a[1 + s] != 0) v = select(r == whole(s) && q < whole(3 * a[1 + s]), stream(s), v);
      return v;
    }
    // From the last section that is not empty down.
    int s = 3;
    while (a[1 + s] == 0) --s;
    scalar v = stream(s);
    while (--s >= 0) {
      std::int64_t end = 0;
      for (int k = 0; k <= s; ++k) end += a[1 + k];
      if (a[1 + s] != 0) v = select(q < whole(end), stream(s), v);
    }
    return v;
  }
  static void reference(const reference_call& c) {
    const dense& p = *c.in[0];
    const std::int64_t pairs = c.out[0].extent.back();
    const std::int64_t rows = static_cast<std::int64_t>(p.v.size()) / p.extent[0];
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < pairs; ++i)
        c.out[0].v[static_cast<std::size_t>(r * pairs + i)] =
            p.v[static_cast<std::size_t>(place_of_pair(c.a, i).stream * rows + r)];
  }
};
template <rope_options O>
struct stream_positions : stream_positions_family {
  static constexpr attrs make_attributes() {
    attrs a = section_attrs(O);
    a.d[0] = O.pairs();
    return a;
  }
  static constexpr attrs attributes = make_attributes();
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(positions_below_family);
ROPEWALK_LIBRARY_OP(stream_positions_family);

namespace detail {

// The option of a slot, or Default.
template <unsigned Slot, class Default, class... Option>
struct option_of {
  static constexpr int index = [] {
    int k = 0, found = -1;
    ((found = found < 0 && (Option::slots & Slot) != 0 ? k : found, ++k), ...);
    return found < 0 ? k : found;
  }();
  using type = boost::mp11::mp_at_c<list<Option..., Default>, index>;
};

template <rope_options O, bool Given, class Length, class P, auto S>
constexpr auto rope_frequency(frequencies_t<S>, const P& p) {
  using frequencies = op::rope_frequencies<S, O>;
  if constexpr (!op::rope_frequencies_family<S>::type::by_length)
    return node<frequencies>{};
  else if constexpr (!std::is_void_v<typename Length::expr>)
    return node<frequencies, typename Length::expr>{};
  else if constexpr (!Given)
    return make<frequencies>(dim_value<P::type.s[-1], dtype::i32>());
  else
    return make<frequencies>(max(p) + constant<1.0, dtype::i32>);
}
template <rope_options O, bool Given, class Length, class P, class E>
constexpr auto rope_frequency(frequencies_from_t<E>, const P&) {
  return cast<dtype::f64>(E{});
}

// Angles in float64: [T, P] or [B, 1, T, P]. An expression under the name of this class
// (core/expr).
template <rope_options O, class Frequency, class Factors, class Length, class P, bool Given>
struct rope_angles {
  static constexpr auto positions() {
    if constexpr (O.bounded)
      return make<op::positions_below<O.maximum>>(P{});
    else
      return P{};
  }
  static constexpr auto frequency() {
    auto f = rope_frequency<O, Given, Length>(Frequency{}, P{});
    if constexpr (std::is_void_v<typename Factors::expr>)
      return f;
    else
      return f / cast<dtype::f64>(typename Factors::expr{});
  }
  constexpr auto operator()() const {
    auto p = positions();
    auto f = frequency();
    constexpr shape s = P::type.s;
    if constexpr (O.streams != rope_streams::one)
      return cast<dtype::f64>(make<op::stream_positions<O>>(p)) * f;
    else if constexpr (s.rank == 1)
      return cast<dtype::f64>(reshape<s[0], 1>(p)) * f;
    else
      return cast<dtype::f64>(reshape<s[0], 1, s[1], 1>(p)) * f;
  }
};

}  // namespace detail
}  // namespace ropewalk
