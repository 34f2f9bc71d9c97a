// The gradient of rope is rope by the opposite angle, and the gradient of that is rope again: as
// types.
#include <doctest/doctest.h>

#include <ropewalk/ropewalk.hpp>

namespace {

using namespace ropewalk;

inline constexpr auto x = input<"x", f32, 2, 3, 4, 8>;
inline constexpr auto ct = input<"ct", f32, 2, 3, 4, 8>;
inline constexpr auto v = input<"v", f32, 2, 3, 4, 8>;

// What a gradient's name stands for.
template <class E>
struct meaning {
  using type = E;
};
template <class D, int I>
struct meaning<adj<D, I>> : meaning<typename expr_traits<adj<D, I>>::def> {};
template <class B, int I>
struct meaning<ref<B, I>> : meaning<typename ref<B, I>::def> {};
template <class E>
using meaning_of = typename meaning<std::remove_cvref_t<E>>::type;

// Sign of the angle of a rope and what it rotates.
template <class E>
struct rotation;
template <rope_pairing P, dim W, dim Offset, int Sign, class X, class... Tables>
struct rotation<node<op::rotate<P, W, Offset, Sign>, X, Tables...>> {
  static constexpr int sign = Sign;
  using operand = meaning_of<X>;
  using tables = boost::mp11::mp_list<meaning_of<Tables>...>;
};

inline constexpr auto at = input<"positions", i32, 2, 4>;
inline constexpr auto streams = input<"streams", i32, 4, 1, 4>;

template <class... Option>
void check(const Option&... option) {
  using forward = std::remove_cvref_t<decltype(rope(x, option...))>;
  using back = decltype(vector_jacobian(forward{}, ct, x));
  using again = decltype(vector_jacobian(back{}, v, ct));
  using f = rotation<forward>;
  using b = rotation<meaning_of<back>>;
  using a = rotation<meaning_of<again>>;
  CHECK(f::sign == 1);
  CHECK(b::sign == -1);
  CHECK(a::sign == 1);
  CHECK(std::is_same_v<typename f::operand, std::remove_cvref_t<decltype(x)>>);
  CHECK(std::is_same_v<typename b::operand, std::remove_cvref_t<decltype(ct)>>);
  CHECK(std::is_same_v<typename a::operand, std::remove_cvref_t<decltype(v)>>);
  CHECK(std::is_same_v<typename f::tables, typename b::tables>);
  CHECK(std::is_same_v<typename f::tables, typename a::tables>);
}

}  // namespace

TEST_CASE("rope, its gradient and the gradient's gradient are one op with the angle's sign") {
  check(half_split);
  check(interleaved);
  check(half_split, rotary_window<4, 2>);
  check(at, interleaved, rotary_window<6>, rope_base<500000.0>, rope_magnitude<0.5>);
  check(streams, mrope<1, 2, 1>);
  check(streams, interleaved, mrope<1, 2, 1>);
  check(streams, interleaved_mrope<1, 1, 1, 1>, maximum_position<64>);
  check(streams, vision_rope<2, 2>);
  check(half_split, frequencies<rope_list<4>{{1, 0.5, 0.25, 0}}>);
  check(half_split, frequencies<rope_linear{.factor = 4}>);
  check(half_split, frequencies<rope_ntk{.factor = 4}>);
  check(at, half_split, frequencies<rope_dynamic_ntk{.factor = 4}>);
  check(half_split, frequencies<rope_llama3{}>);
  check(half_split, frequencies<rope_yarn{.factor = 4}>);
  check(half_split, frequencies<rope_yarn{.factor = 4, .truncate = false}>);
  check(at, half_split,
        frequencies<rope_longrope<4>{
            .factor = 2, .short_factors = {1, 1, 1, 1}, .long_factors = {1, 2, 3, 4}}>);
  check(half_split, frequencies<rope_proportional{.share = 0.5}>);
  check(half_split, frequencies<rope_ggml{.freq_scale = 0.5}>,
        frequency_factors(input<"c", f32, 4>));
}
