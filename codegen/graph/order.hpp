// The order of the steps.
#pragma once
#include <utility>
#include <vector>

namespace ropewalk {

struct ordering {
  struct step {
    std::vector<int> reads, writes;  // buffers
    int position = 0;                // preferred place
  };
  std::vector<step> steps;
  std::vector<std::pair<int, int>> before;  // (first, then)
  std::vector<double> buffer_bytes;
  std::vector<char> leaf;  // buffers that are there anyway: reading waits for nobody
  std::vector<int> kept;   // buffers that stay to the end
};

// A topological order that prefers steps which free more memory than they take (a parameter's
// update as soon as its gradient is there), else the order of the graph. Throws on a cycle.
std::vector<int> order_steps(const ordering& in);

}  // namespace ropewalk
