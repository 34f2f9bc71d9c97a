// Programs that the golden files have values for: losses.
#pragma once
#include <ropewalk/ops/bce_with_logits.hpp>
#include <ropewalk/ops/cross_entropy.hpp>
#include <ropewalk/ops/huber.hpp>
#include <ropewalk/ops/kl.hpp>
#include <ropewalk/ops/mae.hpp>
#include <ropewalk/ops/mse.hpp>
#include <ropewalk/ops/sum.hpp>

#include "leaves.hpp"

namespace cases {

template <dim... D>
inline constexpr auto labels = input<"labels", i32, D...>;

inline constexpr auto mse_mean =
    program<"mse_mean">([] { return differentiated(mse(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto mae_mean =
    program<"mae_mean">([] { return differentiated(mae(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto huber_mean = program<"huber_mean">(
    [] { return differentiated(huber<0.7>(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto bce_with_logits_mean = program<"bce_with_logits_mean">(
    [] { return differentiated(bce_with_logits(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto bce_with_logits_extreme = program<"bce_with_logits_extreme">(
    [] { return differentiated(bce_with_logits(x<4>, y<4>), x<4>, y<4>); });
inline constexpr auto kl_batchmean = program<"kl_batchmean">(
    [] { return differentiated(kl_from_logits(x<4, 5>, y<4, 5>), x<4, 5>, y<4, 5>); });
inline constexpr auto kl_log_inputs = program<"kl_log_inputs">(
    [] { return differentiated(kl_from_log_probs(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto cross_entropy_plain = program<"cross_entropy_plain">(
    [] { return differentiated(cross_entropy(x<6, 7>, labels<6>), x<6, 7>); });
inline constexpr auto cross_entropy_ignore = program<"cross_entropy_ignore">(
    [] { return differentiated(cross_entropy(x<6, 7>, labels<6>), x<6, 7>); });
inline constexpr auto cross_entropy_smoothing = program<"cross_entropy_smoothing">(
    [] { return differentiated(cross_entropy<-100, 0.1>(x<6, 7>, labels<6>), x<6, 7>); });
inline constexpr auto cross_entropy_sum = program<"cross_entropy_sum">(
    [] { return differentiated(sum(token_cross_entropy(x<6, 7>, labels<6>)), x<6, 7>); });
inline constexpr auto cross_entropy_none = program<"cross_entropy_none">(
    [] { return differentiated(token_cross_entropy(x<6, 7>, labels<6>), x<6, 7>); });
inline constexpr auto cross_entropy_3d = program<"cross_entropy_3d">(
    [] { return differentiated(cross_entropy<0>(x<2, 3, 5>, labels<2, 3>), x<2, 3, 5>); });
inline constexpr auto cross_entropy_all_ignored = program<"cross_entropy_all_ignored">(
    [] { return differentiated(cross_entropy(x<3, 4>, labels<3>), x<3, 4>); });
inline constexpr auto cross_entropy_large_logits = program<"cross_entropy_large_logits">(
    [] { return differentiated(cross_entropy(x<4, 6>, labels<4>), x<4, 6>); });

}  // namespace cases
