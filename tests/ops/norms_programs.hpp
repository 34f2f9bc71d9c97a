// Programs that the golden files have values for: norms.
#pragma once
#include <ropewalk/ops/batch_norm.hpp>
#include <ropewalk/ops/group_norm.hpp>
#include <ropewalk/ops/l2_norm.hpp>
#include <ropewalk/ops/layer_norm.hpp>
#include <ropewalk/ops/rms_norm.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr auto mean_state = state<"mean", init_zeros(), 3>;
inline constexpr auto var_state = state<"var", init_ones(), 3>;

inline constexpr auto layer_norm_eps1e_05 = program<"layer_norm_eps1e_05">([] {
  return differentiated(layer_norm<1e-05>(x<2, 3, 6>, w<6>, b<6>), x<2, 3, 6>, w<6>, b<6>);
});
inline constexpr auto layer_norm_eps0_01 = program<"layer_norm_eps0_01">([] {
  return differentiated(layer_norm<0.01>(x<2, 3, 6>, w<6>, b<6>), x<2, 3, 6>, w<6>, b<6>);
});
inline constexpr auto layer_norm_no_affine = program<"layer_norm_no_affine">(
    [] { return differentiated(normalize<1e-05>(x<3, 5>), x<3, 5>); });
inline constexpr auto rms_norm_plain_eps1e_05 = program<"rms_norm_plain_eps1e_05">(
    [] { return differentiated(rms_norm<1e-05>(x<2, 3, 6>, w<6>), x<2, 3, 6>, w<6>); });
inline constexpr auto rms_norm_one_plus_w_eps1e_05 = program<"rms_norm_one_plus_w_eps1e_05">(
    [] { return differentiated(rms_norm_plus_one<1e-05>(x<2, 3, 6>, w<6>), x<2, 3, 6>, w<6>); });
inline constexpr auto rms_norm_plain_eps0_01 = program<"rms_norm_plain_eps0_01">(
    [] { return differentiated(rms_norm<0.01>(x<2, 3, 6>, w<6>), x<2, 3, 6>, w<6>); });
inline constexpr auto rms_norm_one_plus_w_eps0_01 = program<"rms_norm_one_plus_w_eps0_01">(
    [] { return differentiated(rms_norm_plus_one<0.01>(x<2, 3, 6>, w<6>), x<2, 3, 6>, w<6>); });
inline constexpr auto rms_norm_no_weight =
    program<"rms_norm_no_weight">([] { return differentiated(rms_norm<1e-06>(x<3, 5>), x<3, 5>); });
inline constexpr auto l2_norm_eps1e_05 = program<"l2_norm_eps1e_05">(
    [] { return differentiated(l2_norm<1e-05>(x<2, 3, 6>), x<2, 3, 6>); });
inline constexpr auto l2_norm_max_eps1e_05 = program<"l2_norm_max_eps1e_05">(
    [] { return differentiated(l2_norm_max<1e-05>(x<2, 3, 6>), x<2, 3, 6>); });
inline constexpr auto l2_norm_eps0_01 = program<"l2_norm_eps0_01">(
    [] { return differentiated(l2_norm<0.01>(x<2, 3, 6>), x<2, 3, 6>); });
inline constexpr auto l2_norm_max_eps0_01 = program<"l2_norm_max_eps0_01">(
    [] { return differentiated(l2_norm_max<0.01>(x<2, 3, 6>), x<2, 3, 6>); });
inline constexpr auto group_norm_g3 = program<"group_norm_g3">([] {
  return differentiated(group_norm<3>(x<2, 6, 3, 2>, w<6>, b<6>), x<2, 6, 3, 2>, w<6>, b<6>);
});
inline constexpr auto batch_norm_training = program<"batch_norm_training">([] {
  return differentiated(batch_norm(x<4, 3, 2, 2>, w<3>, b<3>, mean_state, var_state), x<4, 3, 2, 2>,
                        w<3>, b<3>)
      .in_training_mode();
});
inline constexpr auto batch_norm_inference = program<"batch_norm_inference">([] {
  return differentiated(batch_norm(x<4, 3, 2, 2>, w<3>, b<3>, mean_state, var_state), x<4, 3, 2, 2>,
                        w<3>, b<3>);
});

}  // namespace cases
