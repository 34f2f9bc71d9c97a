// A U-Net of blocks with 8 skips, forward and backward.
// budget: 4 u, 300 MB, 1 MB
#include "llama_block.hpp"

namespace model {
inline constexpr auto merge = module<"merge">(
    [](auto x, auto skip) { return call<"block">(block)(linear<"mix", C>(concat<-1>(x, skip))); });
// Down to depth 8 and back up, each level joined with what went down there.
template <int Level, class X>
constexpr auto level(X x) {
  if constexpr (Level == 8) {
    return call<"middle">(block)(x);
  } else {
    constexpr auto n = ropewalk::detail::number_text<Level>();
    auto down = call<join_text<text("down"), n>()>(block)(x);
    return call<join_text<text("up"), n>()>(merge)(level<Level + 1>(down), down);
  }
}
inline constexpr auto loss = loss_of(level<0>(embedded));
inline constexpr auto all = program<"all">([] { return outputs(parameter_gradients(loss)); });
}  // namespace model

extern const ropewalk::program_table benchmarked;
const ropewalk::program_table benchmarked = model::all.table();
