// The most that this processor's multiply-add units give, to be measured next to every kernel.
#pragma once
#include <ropewalk/runtime/cpu_kernels.hpp>

namespace bench {

// f32 operations of `rounds` rounds of independent multiply-adds on registers, run now; 0 where no
// such loop is written for the set (portable, other processors).
double multiply_adds(ropewalk::isa set, long rounds);

}  // namespace bench
