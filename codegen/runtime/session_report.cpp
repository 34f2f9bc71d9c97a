// What a session tells of its steps: bytes and floating point operations, and times.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "session_state.hpp"

namespace ropewalk {
namespace {

std::string padded(std::string s, std::size_t width) {
  s.insert(0, s.size() < width ? width - s.size() : 0, ' ');
  return s;
}

// -1: not counted.
double flops(const ready_step& s) {
  if (s.op == nullptr || s.op->flops == nullptr) return -1;
  return s.op->flops({s.a, s.in, s.out, {}, nullptr, {}});
}
std::string flops_text(double n) {
  if (n < 0) return "-";
  char number[32];
  std::snprintf(number, sizeof number, "%.0f", n);
  return number;
}

}  // namespace

std::string session_core::report() const {
  const state& s = *state_;
  std::string r =
      "program " + s.name + " on " + s.on.name() + "\nstep device read written FLOPs what\n";
  struct total {
    std::size_t steps = 0, bytes = 0;
    double flops = -1;
  };
  std::map<std::string, total> classes;
  for (std::size_t k = 0; k < s.steps.size(); ++k) {
    const ready_step& x = s.steps[k];
    const double n = flops(x);
    r += std::to_string(k) + " cpu " + std::to_string(x.bytes_read) + " " +
         std::to_string(x.bytes_written) + " " + flops_text(n) + " " + x.label +
         (x.op != nullptr ? " (own kernel)\n" : "\n");
    for (const std::string& name : {x.op != nullptr ? x.label : std::string("generated"),
                                    std::string("~")}) {  // behind every name: the sum
      total& t = classes[name];
      ++t.steps;
      t.bytes += x.bytes_read + x.bytes_written;
      if (n >= 0) t.flops = std::max(t.flops, 0.0) + n;
    }
  }
  r += "class steps FLOPs bytes\n";
  for (const auto& [name, t] : classes)
    r += (name == "~" ? "all" : name) + " " + std::to_string(t.steps) + " " + flops_text(t.flops) +
         " " + std::to_string(t.bytes) + "\n";
  return r + "arena " + std::to_string(s.memory_plan.arena_bytes) + " bytes, largest live set " +
         std::to_string(s.memory_plan.live_bytes) + ", leaves " +
         std::to_string(s.memory_plan.leaf_bytes) + "\n";
}

std::string session_core::profile() const {
  const state& s = *state_;
  if (!s.options.profile)
    throw error(s.where(), "profile", "off", "open the session with options.profile = true");
  std::vector<std::size_t> order(s.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::int64_t x = s.steps[a].nanoseconds, y = s.steps[b].nanoseconds;
    return x != y ? x > y : a < b;
  });
  std::int64_t total = 0, runs = 0;
  for (const ready_step& x : s.steps) total += x.nanoseconds, runs = std::max(runs, x.runs);
  std::string r = "program " + s.name + ": " + std::to_string(runs) + " runs, mean " +
                  std::to_string(runs == 0 ? 0 : total / runs / 1000) + " us\n" +
                  "share mean_us GB/s step what\n";
  for (const std::size_t k : order) {
    const ready_step& x = s.steps[k];
    if (x.runs == 0) continue;
    char share[16], mean[32], rate[32];
    const double ns = static_cast<double>(x.nanoseconds) / static_cast<double>(x.runs);
    std::snprintf(share, sizeof share, "%.1f%%",
                  100 * static_cast<double>(x.nanoseconds) / static_cast<double>(total));
    std::snprintf(mean, sizeof mean, "%.1f", ns / 1000);
    std::snprintf(rate, sizeof rate, "%.1f",
                  static_cast<double>(x.bytes_read + x.bytes_written) / ns);
    r += padded(share, 6) + " " + padded(mean, 9) + " " + padded(rate, 6) + " " +
         padded(std::to_string(k), 4) + " " + x.label + "\n";
  }
  return r;
}

}  // namespace ropewalk
