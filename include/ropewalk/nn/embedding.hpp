// embedding<"name", N, C>(ids): rows of the parameter name.weight [N, C] -> [..., C].
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/ops/gather_rows.hpp"

namespace ropewalk {

template <dim N, dim C, initializer I>
inline constexpr auto embedding_module =
    module<"embedding">([](auto ids) { return gather_rows(param<"weight", I, N, C>, ids); });

template <text Scope, dim N, dim C, initializer I = init_normal(0.02), expression Ids>
  requires(Ids::type.d == dtype::i32)
constexpr auto embedding(const Ids& ids) {
  return call<Scope>(embedding_module<N, C, I>)(ids);
}
template <text Scope, dim N, dim C, initializer I = init_normal(0.02), expression Ids,
          class Error = dtype_not_supported<"embedding", Ids::type.d, shp_of<Ids>>>
  requires(Ids::type.d != dtype::i32)
Error embedding(const Ids&);

}  // namespace ropewalk
