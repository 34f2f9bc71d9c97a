// ROPEWALK_PRINT: which stages of the way to kernels are printed to stderr.
#pragma once
#include <ropewalk/graph/schedule.hpp>

namespace ropewalk {

// Whether ROPEWALK_PRINT names the stage. Error: it holds a word that is no stage.
bool print_wanted(const char* stage);

// Verifies the program, prints the stages before the plan that are wanted, and schedules it.
schedule schedule_stages(const program_graph& p);

}  // namespace ropewalk
