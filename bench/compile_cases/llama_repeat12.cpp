// Llama, 12 layers as a repeat, forward and backward.
// budget: 3 u, 300 MB, 1 MB
#include "llama_block.hpp"

namespace model {
inline constexpr auto loss = loss_of(repeat<12, "h">(block)(embedded));
inline constexpr auto all = program<"all">([] { return outputs(parameter_gradients(loss)); });
}  // namespace model

extern const ropewalk::program_table benchmarked;
const ropewalk::program_table benchmarked = model::all.table();
