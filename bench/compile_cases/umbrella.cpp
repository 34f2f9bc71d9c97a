// The whole public interface and nothing else.
// budget: 1.5 u, 300 MB, 1 MB
#include <ropewalk/ropewalk.hpp>
