// Programs that the golden files have values for: reductions and softmax.
#pragma once
#include <ropewalk/ops/argmax.hpp>
#include <ropewalk/ops/log_softmax.hpp>
#include <ropewalk/ops/logsumexp.hpp>
#include <ropewalk/ops/max.hpp>
#include <ropewalk/ops/mean.hpp>
#include <ropewalk/ops/min.hpp>
#include <ropewalk/ops/softmax.hpp>
#include <ropewalk/ops/sum.hpp>
#include <ropewalk/ops/variance.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr auto sum_last =
    program<"sum_last">([] { return differentiated(sum<axes{-1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto sum_first =
    program<"sum_first">([] { return differentiated(sum<axes{0}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto sum_middle = program<"sum_middle">(
    [] { return differentiated(sum<axes{1}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto sum_two = program<"sum_two">(
    [] { return differentiated(sum<axes{0, 2}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto sum_all =
    program<"sum_all">([] { return differentiated(sum(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto mean_last =
    program<"mean_last">([] { return differentiated(mean<axes{-1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto mean_first =
    program<"mean_first">([] { return differentiated(mean<axes{0}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto mean_middle = program<"mean_middle">(
    [] { return differentiated(mean<axes{1}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto mean_two = program<"mean_two">(
    [] { return differentiated(mean<axes{0, 2}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto mean_all =
    program<"mean_all">([] { return differentiated(mean(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto max_last =
    program<"max_last">([] { return differentiated(max<axes{-1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto max_first =
    program<"max_first">([] { return differentiated(max<axes{0}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto max_middle = program<"max_middle">(
    [] { return differentiated(max<axes{1}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto max_two = program<"max_two">(
    [] { return differentiated(max<axes{0, 2}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto max_all =
    program<"max_all">([] { return differentiated(max(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto max_ties =
    program<"max_ties">([] { return differentiated(max<axes{-1}>(x<3, 4>), x<3, 4>); });
inline constexpr auto max_ties_all =
    program<"max_ties_all">([] { return differentiated(max(x<3, 4>), x<3, 4>); });
inline constexpr auto min_last =
    program<"min_last">([] { return differentiated(min<axes{-1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto min_first =
    program<"min_first">([] { return differentiated(min<axes{0}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto min_middle = program<"min_middle">(
    [] { return differentiated(min<axes{1}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto min_two = program<"min_two">(
    [] { return differentiated(min<axes{0, 2}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto min_all =
    program<"min_all">([] { return differentiated(min(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto variance_last = program<"variance_last">(
    [] { return differentiated(variance<axes{-1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto variance_first = program<"variance_first">(
    [] { return differentiated(variance<axes{0}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto variance_middle = program<"variance_middle">(
    [] { return differentiated(variance<axes{1}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto variance_two = program<"variance_two">(
    [] { return differentiated(variance<axes{0, 2}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto variance_all =
    program<"variance_all">([] { return differentiated(variance(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto variance_unbiased = program<"variance_unbiased">(
    [] { return differentiated(variance<axes{-1}, 1>(x<3, 5>), x<3, 5>); });
inline constexpr auto logsumexp_last = program<"logsumexp_last">(
    [] { return differentiated(logsumexp<axes{-1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto logsumexp_first = program<"logsumexp_first">(
    [] { return differentiated(logsumexp<axes{0}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto logsumexp_middle = program<"logsumexp_middle">(
    [] { return differentiated(logsumexp<axes{1}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto logsumexp_two = program<"logsumexp_two">(
    [] { return differentiated(logsumexp<axes{0, 2}.keep()>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto logsumexp_all =
    program<"logsumexp_all">([] { return differentiated(logsumexp(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto logsumexp_large = program<"logsumexp_large">(
    [] { return differentiated(logsumexp<axes{-1}>(x<3, 3>), x<3, 3>); });
inline constexpr auto softmax_last =
    program<"softmax_last">([] { return differentiated(softmax(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto softmax_middle = program<"softmax_middle">(
    [] { return differentiated(softmax<axes{1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto softmax_large =
    program<"softmax_large">([] { return differentiated(softmax(x<3, 3>), x<3, 3>); });
inline constexpr auto log_softmax_last =
    program<"log_softmax_last">([] { return differentiated(log_softmax(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto log_softmax_middle = program<"log_softmax_middle">(
    [] { return differentiated(log_softmax<axes{1}>(x<3, 4, 5>), x<3, 4, 5>); });
inline constexpr auto log_softmax_large =
    program<"log_softmax_large">([] { return differentiated(log_softmax(x<3, 3>), x<3, 3>); });
inline constexpr auto argmax_axis1 =
    program<"argmax_axis1">([] { return outputs(output<"out">(argmax<-1>(x<4, 6>))); });
inline constexpr auto argmax_axis0 =
    program<"argmax_axis0">([] { return outputs(output<"out">(argmax<0>(x<4, 6>))); });

}  // namespace cases
