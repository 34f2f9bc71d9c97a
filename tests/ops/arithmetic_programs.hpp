// Programs that the golden files have values for: + - * / under every kind of broadcasting.
#pragma once
#include <ropewalk/ops/add.hpp>
#include <ropewalk/ops/div.hpp>
#include <ropewalk/ops/mul.hpp>
#include <ropewalk/ops/sub.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr auto add_same =
    program<"add_same">([] { return differentiated(x<3, 4> + y<3, 4>, x<3, 4>, y<3, 4>); });
inline constexpr auto add_scalar =
    program<"add_scalar">([] { return differentiated(x<3, 4> + y<>, x<3, 4>, y<>); });
inline constexpr auto add_scalar_left =
    program<"add_scalar_left">([] { return differentiated(x<> + y<2, 5>, x<>, y<2, 5>); });
inline constexpr auto add_lead =
    program<"add_lead">([] { return differentiated(x<2, 3, 4> + y<4>, x<2, 3, 4>, y<4>); });
inline constexpr auto add_lead_ones = program<"add_lead_ones">(
    [] { return differentiated(x<2, 3, 4> + y<1, 1, 4>, x<2, 3, 4>, y<1, 1, 4>); });
inline constexpr auto add_middle = program<"add_middle">(
    [] { return differentiated(x<2, 3, 4> + y<2, 1, 4>, x<2, 3, 4>, y<2, 1, 4>); });
inline constexpr auto add_last = program<"add_last">(
    [] { return differentiated(x<2, 3, 4> + y<2, 3, 1>, x<2, 3, 4>, y<2, 3, 1>); });
inline constexpr auto add_both = program<"add_both">(
    [] { return differentiated(x<2, 1, 4> + y<1, 3, 1>, x<2, 1, 4>, y<1, 3, 1>); });
inline constexpr auto sub_same =
    program<"sub_same">([] { return differentiated(x<3, 4> - y<3, 4>, x<3, 4>, y<3, 4>); });
inline constexpr auto sub_scalar =
    program<"sub_scalar">([] { return differentiated(x<3, 4> - y<>, x<3, 4>, y<>); });
inline constexpr auto sub_scalar_left =
    program<"sub_scalar_left">([] { return differentiated(x<> - y<2, 5>, x<>, y<2, 5>); });
inline constexpr auto sub_lead =
    program<"sub_lead">([] { return differentiated(x<2, 3, 4> - y<4>, x<2, 3, 4>, y<4>); });
inline constexpr auto sub_lead_ones = program<"sub_lead_ones">(
    [] { return differentiated(x<2, 3, 4> - y<1, 1, 4>, x<2, 3, 4>, y<1, 1, 4>); });
inline constexpr auto sub_middle = program<"sub_middle">(
    [] { return differentiated(x<2, 3, 4> - y<2, 1, 4>, x<2, 3, 4>, y<2, 1, 4>); });
inline constexpr auto sub_last = program<"sub_last">(
    [] { return differentiated(x<2, 3, 4> - y<2, 3, 1>, x<2, 3, 4>, y<2, 3, 1>); });
inline constexpr auto sub_both = program<"sub_both">(
    [] { return differentiated(x<2, 1, 4> - y<1, 3, 1>, x<2, 1, 4>, y<1, 3, 1>); });
inline constexpr auto mul_same =
    program<"mul_same">([] { return differentiated(x<3, 4> * y<3, 4>, x<3, 4>, y<3, 4>); });
inline constexpr auto mul_scalar =
    program<"mul_scalar">([] { return differentiated(x<3, 4> * y<>, x<3, 4>, y<>); });
inline constexpr auto mul_scalar_left =
    program<"mul_scalar_left">([] { return differentiated(x<> * y<2, 5>, x<>, y<2, 5>); });
inline constexpr auto mul_lead =
    program<"mul_lead">([] { return differentiated(x<2, 3, 4> * y<4>, x<2, 3, 4>, y<4>); });
inline constexpr auto mul_lead_ones = program<"mul_lead_ones">(
    [] { return differentiated(x<2, 3, 4> * y<1, 1, 4>, x<2, 3, 4>, y<1, 1, 4>); });
inline constexpr auto mul_middle = program<"mul_middle">(
    [] { return differentiated(x<2, 3, 4> * y<2, 1, 4>, x<2, 3, 4>, y<2, 1, 4>); });
inline constexpr auto mul_last = program<"mul_last">(
    [] { return differentiated(x<2, 3, 4> * y<2, 3, 1>, x<2, 3, 4>, y<2, 3, 1>); });
inline constexpr auto mul_both = program<"mul_both">(
    [] { return differentiated(x<2, 1, 4> * y<1, 3, 1>, x<2, 1, 4>, y<1, 3, 1>); });
inline constexpr auto div_same =
    program<"div_same">([] { return differentiated(x<3, 4> / y<3, 4>, x<3, 4>, y<3, 4>); });
inline constexpr auto div_scalar =
    program<"div_scalar">([] { return differentiated(x<3, 4> / y<>, x<3, 4>, y<>); });
inline constexpr auto div_scalar_left =
    program<"div_scalar_left">([] { return differentiated(x<> / y<2, 5>, x<>, y<2, 5>); });
inline constexpr auto div_lead =
    program<"div_lead">([] { return differentiated(x<2, 3, 4> / y<4>, x<2, 3, 4>, y<4>); });
inline constexpr auto div_lead_ones = program<"div_lead_ones">(
    [] { return differentiated(x<2, 3, 4> / y<1, 1, 4>, x<2, 3, 4>, y<1, 1, 4>); });
inline constexpr auto div_middle = program<"div_middle">(
    [] { return differentiated(x<2, 3, 4> / y<2, 1, 4>, x<2, 3, 4>, y<2, 1, 4>); });
inline constexpr auto div_last = program<"div_last">(
    [] { return differentiated(x<2, 3, 4> / y<2, 3, 1>, x<2, 3, 4>, y<2, 3, 1>); });
inline constexpr auto div_both = program<"div_both">(
    [] { return differentiated(x<2, 1, 4> / y<1, 3, 1>, x<2, 1, 4>, y<1, 3, 1>); });

}  // namespace cases
