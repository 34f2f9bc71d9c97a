// The op_info of every op of the library; see ROPEWALK_LIBRARY_OP in core/expr.hpp.
#define ROPEWALK_DEFINE_LIBRARY_OPS
#include "ropewalk/ropewalk.hpp"
