// The options of rope: which features pair, by which frequencies, positions and magnitude they
// turn. Each is an empty object: `apply` writes what needs no type of its own, `slots` says what
// the option is about.
#pragma once
#include "ropewalk/core/leaf.hpp"
#include "ropewalk/ops/rope/schedules.hpp"

namespace ropewalk {

enum class rope_pairing : std::int64_t { interleaved, half_split };
// Which of several position streams a pair takes (docs/rope.md).
enum class rope_streams : std::int64_t { one, sections, interleaved_sections, restarting_sections };

struct rope_options {
  rope_pairing pairing = rope_pairing::half_split;
  rope_streams streams = rope_streams::one;
  int section[4] = {};         // pairs per stream
  bool rest_is_first = false;  // interleaved sections: the pairs left over take stream 0, not 3
  bool whole = true;           // the window is the whole last axis
  dim width = 0, offset = 0;   // of the window of features
  bool bounded = false;        // positions stay below `maximum`
  std::int64_t maximum = 0;
  int unknown_mode = 0;  // a mode that ggml does not have
  number magnitude = 1;

  constexpr dim pairs() const { return width / dim(2); }
  // D of the exponents.
  constexpr dim rotary_width() const {
    return streams == rope_streams::restarting_sections ? width / dim(2) : width;
  }
  constexpr int section_sum() const { return section[0] + section[1] + section[2] + section[3]; }
};

namespace op {
// The stream of pair i, and its place within the section, from the attributes of the ops below:
// i[0] streams, i[1] .. i[4] sections, i[5] whether the rest takes stream 0.
struct rope_place {
  int stream;
  std::int64_t within;
};
constexpr rope_place place_of_pair(const attrs& a, std::int64_t i) {
  const std::int64_t* s = a.i + 1;
  if (a.i[0] == static_cast<std::int64_t>(rope_streams::one)) return {0, i};
  const std::int64_t q = i % (s[0] + s[1] + s[2] + s[3]);
  if (a.i[0] == static_cast<std::int64_t>(rope_streams::interleaved_sections)) {
    const int stream = static_cast<int>(q % 3);
    return {q < 3 * s[stream] ? stream : a.i[5] != 0 ? 0 : 3, i};
  }
  int stream = 0;
  std::int64_t start = 0;
  while (q >= start + s[stream]) start += s[stream++];
  return {stream, a.i[0] == static_cast<std::int64_t>(rope_streams::sections) ? i : q - start};
}
constexpr attrs section_attrs(const rope_options& o) {
  return {.i = {static_cast<std::int64_t>(o.streams), o.section[0], o.section[1], o.section[2],
                o.section[3], o.rest_is_first}};
}
}  // namespace op

namespace detail {
// What an option says, as bits: nothing may be said twice.
enum rope_slot : unsigned {
  frequency_slot = 1,
  factor_slot = 2,
  length_slot = 4,
  magnitude_slot = 8,
  pairing_slot = 16,
  stream_slot = 32,
  window_slot = 64,
  number_slot = 128,
  maximum_slot = 256
};
template <unsigned Slots>
struct rope_option {
  static constexpr unsigned slots = Slots;
};
// An option that is read by its type.
template <unsigned Slot>
struct rope_operand : rope_option<Slot> {
  static constexpr void apply(rope_options&) {}
};
}  // namespace detail

// --- pairing ---

// Pairs (i, i + W/2): GPT-NeoX, Llama as Hugging Face stores it; ggml NEOX.
struct half_split_t : detail::rope_option<detail::pairing_slot> {
  static constexpr void apply(rope_options& o) { o.pairing = rope_pairing::half_split; }
};
inline constexpr half_split_t half_split{};
// Pairs (2 i, 2 i + 1): GPT-J, the original paper; ggml NORMAL.
struct interleaved_t : detail::rope_option<detail::pairing_slot> {
  static constexpr void apply(rope_options& o) { o.pairing = rope_pairing::interleaved; }
};
inline constexpr interleaved_t interleaved{};

template <rope_streams Streams, int T, int H, int W, int E, bool RestIsFirst>
struct rope_sections_t : detail::rope_option<detail::stream_slot> {
  static constexpr void apply(rope_options& o) {
    o.streams = Streams, o.rest_is_first = RestIsFirst;
    o.section[0] = T, o.section[1] = H, o.section[2] = W, o.section[3] = E;
  }
};
// M-RoPE: T pairs take the first of the position streams t, h, w, e, then H the second, W the
// third, E the fourth, and so on again. (Half-split pairs, unless `interleaved` is given too.)
template <int T, int H, int W, int E = 0>
inline constexpr rope_sections_t<rope_streams::sections, T, H, W, E, false> mrope{};
// Interleaved M-RoPE: pair i takes stream i mod 3 while i < 3 * that section; the pairs left over
// take `Rest`: e in ggml, t in Hugging Face's Qwen3-VL.
enum class mrope_rest { e, t };
template <int T, int H, int W, int E = 0, mrope_rest Rest = mrope_rest::e>
inline constexpr rope_sections_t<rope_streams::interleaved_sections, T, H, W, E,
                                 Rest == mrope_rest::t>
    interleaved_mrope{};
// Vision: pairs (i, i + W/2), the first Y by stream y, then X by stream x, and so on again; D = W/2
// and the exponent restarts in each section.
template <int Y, int X, int Z = 0, int E = 0>
inline constexpr rope_sections_t<rope_streams::restarting_sections, Y, X, Z, E, false>
    vision_rope{};

// ggml's `mode` (and `sections`): 0 normal, 2 neox, 8 mrope, 24 vision, 40 interleaved mrope.
template <int Mode, int S0 = 0, int S1 = 0, int S2 = 0, int S3 = 0>
struct ggml_rope_mode_t : detail::rope_option<detail::pairing_slot | detail::stream_slot> {
  static constexpr void apply(rope_options& o) {
    if constexpr (Mode == 0)
      interleaved_t::apply(o);
    else if constexpr (Mode == 2)
      half_split_t::apply(o);
    else if constexpr (Mode == 8)
      mrope<S0, S1, S2, S3>.apply(o);
    else if constexpr (Mode == 24)
      vision_rope<S0, S1, S2, S3>.apply(o);
    else if constexpr (Mode == 40)
      interleaved_mrope<S0, S1, S2, S3>.apply(o);
    else
      o.unknown_mode = Mode;
  }
};
template <int Mode, int S0 = 0, int S1 = 0, int S2 = 0, int S3 = 0>
inline constexpr ggml_rope_mode_t<Mode, S0, S1, S2, S3> ggml_rope_mode{};

// Only `Width` features from `Offset` on are rotated. The exponent is over the window's width.
template <dim Width, dim Offset = 0>
struct rotary_window_t : detail::rope_option<detail::window_slot> {
  static constexpr void apply(rope_options& o) {
    o.whole = false, o.width = Width, o.offset = Offset;
  }
};
template <dim Width, dim Offset = 0>
inline constexpr rotary_window_t<Width, Offset> rotary_window{};

// --- frequencies ---

// By a schedule (rope/schedules.hpp): a value, or the address of a constant with static storage,
// which keeps long lists out of the names of types.
template <auto Schedule>
struct frequencies_t : detail::rope_operand<detail::frequency_slot> {};
template <auto Schedule>
inline constexpr frequencies_t<Schedule> frequencies{};
// The standard schedule of another base.
template <number Base>
inline constexpr frequencies_t<rope_standard{Base.v}> rope_base{};
// By an expression [W/2]: one inverse frequency per pair.
template <class F>
struct frequencies_from_t : detail::rope_operand<detail::frequency_slot> {
  using expr = F;
};
template <expression F>
constexpr frequencies_from_t<F> frequencies_from(const F&) {
  return {};
}
// ggml's frequency factors c [W/2], an expression: f_i / c_i. A gradient flows to c.
template <class C>
struct frequency_factors_t : detail::rope_operand<detail::factor_slot> {
  using expr = C;
};
template <expression C>
constexpr frequency_factors_t<C> frequency_factors(const C&) {
  return {};
}
// What schedules by length take for the current length, an i32 scalar; without it the largest
// position + 1.
template <class L>
struct current_length_t : detail::rope_operand<detail::length_slot> {
  using expr = L;
};
template <expression L>
constexpr current_length_t<L> current_length(const L&) {
  return {};
}

// --- magnitude, positions ---

// cos and sin times a number, besides the schedule's own m; or times a scalar expression.
template <number M>
struct rope_magnitude_t : detail::rope_option<detail::number_slot> {
  static constexpr void apply(rope_options& o) { o.magnitude = M; }
};
template <number M>
inline constexpr rope_magnitude_t<M> rope_magnitude{};
template <class M>
struct magnitude_from_t : detail::rope_operand<detail::magnitude_slot> {
  using expr = M;
};
template <expression M>
constexpr magnitude_from_t<M> magnitude_from(const M&) {
  return {};
}
// A position at or beyond `Maximum` is an error of the run that names both.
template <std::int64_t Maximum>
struct maximum_position_t : detail::rope_option<detail::maximum_slot> {
  static constexpr void apply(rope_options& o) { o.bounded = true, o.maximum = Maximum; }
};
template <std::int64_t Maximum>
inline constexpr maximum_position_t<Maximum> maximum_position{};

}  // namespace ropewalk
