// Times one training step of the 6-layer GPT: bench_step [--runs N] [--threads N] [--profile]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpt6.hpp"
#include "ropewalk/session.hpp"
#include "ropewalk/train/rng.hpp"

int main(int argc, char** argv) {
  int runs = 10, threads = 2;
  bool profile = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) threads = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--profile") == 0) profile = true;
    else {
      std::fprintf(stderr, "usage: bench_step [--runs N] [--threads N] [--profile]\n");
      return 2;
    }
  }
  using clock = std::chrono::steady_clock;
  try {
    constexpr std::int64_t batch = 4;
    ropewalk::session_options options;
    options.profile = profile;
    const auto t0 = clock::now();
    ropewalk::session<gpt6::train> s(ropewalk::cpu(threads), {{gpt6::B, batch}}, options);
    const double open = std::chrono::duration<double>(clock::now() - t0).count();
    ropewalk::rng random(1);
    std::vector<std::int32_t> x(batch * 256), y(batch * 256);
    for (auto& v : x) v = static_cast<std::int32_t>(random.below(65));
    for (auto& v : y) v = static_cast<std::int32_t>(random.below(65));
    std::vector<double> times;
    for (int i = 0; i < runs + 3; ++i) {
      const auto t = clock::now();
      s.run(gpt6::tokens = x, gpt6::targets = y, ropewalk::learning_rate = 3e-4f);
      if (i >= 3) times.push_back(std::chrono::duration<double>(clock::now() - t).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"bench\": \"step\", \"threads\": %d, \"median_ms\": %.2f, \"best_ms\": %.2f, "
                "\"open_ms\": %.1f, \"arena_mb\": %.1f, \"steps\": %zu, \"loss\": %.4f}\n",
                threads, 1e3 * times[times.size() / 2], 1e3 * times[0], 1e3 * open,
                static_cast<double>(s.arena_bytes()) / 1e6, s.steps(), s.get(gpt6::loss).item());
    if (profile) std::printf("%s\n", s.profile().c_str());
  } catch (const ropewalk::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
