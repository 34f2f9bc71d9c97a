// The command line of the example programs that train a model on a text.
#pragma once
#include <cstdint>
#include <string>

namespace examples {

struct text_options {
  // Where from, where to.
  std::string text{};  // the file to learn from
  std::string out{};   // the folder of checkpoint, log and loss curve
  bool fresh = false;  // start anew although `out` has a checkpoint
  // Training.
  long steps = 1000, batch = 16, context = 128;  // windows of `context` characters, `batch` a step
  double rate = 1e-3;  // the highest learning rate; it warms up, then falls
  std::uint64_t seed = 1;
  long evaluate_every = 1000;
  // The machine.
  std::string device = "cpu";
  int threads = 0;  // 0: as many as there are
  bool check = false, profile = false;
  // Samples.
  long sample_every = 2000, samples = 1, length = 400;
  double temperature = 0.8, top_p = 1;
  long top_k = 0;
  // --generate-only: write on from this, train nothing. `batch` and `context` are then 0, that is
  // what the checkpoint says, unless they were given.
  std::string prompt{};
  bool generate_only = false;
};

// Fills `o`, whose values are the defaults. Returns -1, or the exit code with which to end at once:
// 0 after --help, 2 after a mistake (told on stderr).
int parse(int argc, char** argv, text_options& o);

}  // namespace examples
