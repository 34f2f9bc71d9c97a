// Compiles without a word: shows that the harness can tell.
#include <ropewalk/core/dtype.hpp>
#include <ropewalk/core/error.hpp>

static_assert(ropewalk::dtype_size(ropewalk::bf16) == 2);
