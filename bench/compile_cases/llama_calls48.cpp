// Llama, 48 layers as calls, forward and backward.
// budget: 8 u, 300 MB, 1 MB
#include "llama_block.hpp"

namespace model {
inline constexpr auto loss = loss_of(layers<0, 48>(embedded));
inline constexpr auto all = program<"all">([] { return outputs(parameter_gradients(loss)); });
}  // namespace model

extern const ropewalk::program_table benchmarked;
const ropewalk::program_table benchmarked = model::all.table();
