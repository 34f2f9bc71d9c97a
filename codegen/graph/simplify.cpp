// Rewrites of the graph that keep every value.
#include <ropewalk/graph/schedule.hpp>

namespace ropewalk {

program_graph simplify(const program_graph& p) { return p; }

}  // namespace ropewalk
