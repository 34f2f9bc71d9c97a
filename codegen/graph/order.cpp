// List scheduling of steps.
#include "order.hpp"

#include <ropewalk/core/error.hpp>

namespace ropewalk {

std::vector<int> order_steps(const ordering& in) {
  const std::size_t n = in.steps.size(), buffers = in.buffer_bytes.size();
  std::vector<std::vector<int>> next(n);
  std::vector<int> waiting(n, 0), readers(buffers, 0), order;
  std::vector<std::vector<int>> makers(buffers);
  for (std::size_t k = 0; k < n; ++k)
    for (int b : in.steps[k].writes)
      makers[static_cast<std::size_t>(b)].push_back(static_cast<int>(k));
  auto edge = [&](int from, std::size_t to) {
    next[static_cast<std::size_t>(from)].push_back(static_cast<int>(to));
    ++waiting[to];
  };
  for (std::size_t k = 0; k < n; ++k)
    for (int b : in.steps[k].reads) {
      ++readers[static_cast<std::size_t>(b)];
      if (in.leaf[static_cast<std::size_t>(b)]) continue;
      for (int m : makers[static_cast<std::size_t>(b)])
        if (m != static_cast<int>(k)) edge(m, k);
    }
  for (const auto& [first, then] : in.before) edge(first, static_cast<std::size_t>(then));
  for (int b : in.kept) ++readers[static_cast<std::size_t>(b)];

  std::vector<int> ready;
  for (std::size_t k = 0; k < n; ++k)
    if (waiting[k] == 0) ready.push_back(static_cast<int>(k));
  auto growth = [&](int k) {
    const ordering::step& s = in.steps[static_cast<std::size_t>(k)];
    double bytes = 0;
    for (int b : s.writes) bytes += in.buffer_bytes[static_cast<std::size_t>(b)];
    for (int b : s.reads)
      if (readers[static_cast<std::size_t>(b)] == 1)
        bytes -= in.buffer_bytes[static_cast<std::size_t>(b)];
    return bytes;
  };
  while (!ready.empty()) {
    std::size_t best = 0;
    bool best_frees = false;
    for (std::size_t k = 0; k < ready.size(); ++k) {
      const bool frees = growth(ready[k]) < 0;
      const int a = in.steps[static_cast<std::size_t>(ready[k])].position,
                b = in.steps[static_cast<std::size_t>(ready[best])].position;
      const bool better = frees != best_frees ? frees : a != b ? a < b : ready[k] < ready[best];
      if (k == 0 || better) best = k, best_frees = frees;
    }
    const int k = ready[best];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
    order.push_back(k);
    for (int b : in.steps[static_cast<std::size_t>(k)].reads)
      --readers[static_cast<std::size_t>(b)];
    for (int t : next[static_cast<std::size_t>(k)])
      if (--waiting[static_cast<std::size_t>(t)] == 0) ready.push_back(t);
  }
  if (order.size() != n) throw error("schedule", "steps depend on each other in a circle");
  return order;
}

}  // namespace ropewalk
