// The small models of model families against PyTorch, in the float64 reference evaluator and in
// compiled float32 kernels.
#include <doctest/doctest.h>

#include <string>

#include "models/gemma3_programs.hpp"
#include "models/known.hpp"
#include "models/llama3_rope_programs.hpp"
#include "models/mistral_programs.hpp"
#include "models/programs.hpp"
#include "models/qwen3_programs.hpp"

namespace {

struct family {
  const char* name;
  ropewalk::program_table gradients, generate;
  ropewalk::testing::tolerance t;
};
const family families[] = {
    {"gpt2", gpt2::gradients.table(), gpt2::generate.table(), {4.5e-6, 2.0e-7, 6.0e-7, 7.1e-7}},
    {"llama", llama::gradients.table(), llama::generate.table(), {2.3e-5, 5.2e-8, 5.1e-6, 8.3e-6}},
    {"llama3_rope",
     llama3_rope::gradients.table(),
     llama3_rope::generate.table(),
     {1.4e-5, 4.1e-7, 1.6e-6, 2.3e-6}},
    {"qwen3", qwen3::gradients.table(), qwen3::generate.table(), {5.0e-6, 1.5e-7, 8.2e-7, 8.1e-7}},
    {"gemma3",
     gemma3::gradients.table(),
     gemma3::generate.table(),
     {2.3e-6, 4.0e-7, 1.1e-6, 1.5e-6}},
    {"mistral",
     mistral::gradients.table(),
     mistral::generate.table(),
     {1.6e-5, 2.8e-7, 2.0e-6, 2.4e-6}},
};
std::string folder(const family& f) { return std::string("data/goldens/models/") + f.name; }

}  // namespace

TEST_CASE("models equal PyTorch in float64") {
  for (const family& f : families) {
    CAPTURE(folder(f));
    ropewalk::testing::check_float64(f.gradients, folder(f));
  }
}

TEST_CASE("models equal PyTorch in float32, and continue a text as it does") {
  for (const family& f : families) {
    CAPTURE(folder(f));
    ropewalk::testing::check_float32(f.gradients, f.generate, folder(f), f.t);
  }
}
