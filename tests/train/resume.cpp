// Runs killed with SIGKILL at any moment go on to the same bits as a run that nothing happened to.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "io/scratch.hpp"
#include "ropewalk/train/log.hpp"
#include "train/tiny_run.hpp"

using namespace testing;

namespace {

constexpr long steps = 60;

trainer_options options(const std::string& folder) {
  return {.steps = steps, .evaluate_every = 10, .save_every = 1, .folder = folder};
}

// A process of its own that trains as far as it is let. It makes its threads itself: there are none
// in this process at the time of the fork.
pid_t start(const std::string& folder, int threads) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    tiny_run r(threads);
    r.with(options(folder)).run();
    ::_exit(0);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
    ::_exit(2);
  }
}

long size_of(const std::string& path) {
  std::error_code none;
  const auto n = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<long>(n);
}

// Kills the child once its log has grown beyond `bytes` and some microseconds more have passed.
// Whether it was still at work then.
bool kill_after(pid_t child, const std::string& folder, long bytes, long microseconds) {
  int status = 0;
  while (size_of(folder + "/log.csv") < bytes) {
    if (::waitpid(child, &status, WNOHANG) == child) {
      REQUIRE(WIFEXITED(status));
      REQUIRE(WEXITSTATUS(status) == 0);
      return false;
    }
    ::usleep(100);
  }
  ::usleep(static_cast<useconds_t>(microseconds));
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status);
}

}  // namespace

TEST_CASE("ten runs, each killed at two random moments, end with the bits of a whole run") {
  scratch_folder undisturbed;
  std::string want;
  long row = 0;
  {
    tiny_run r;
    r.with(options(undisturbed.path)).run();
    want = r.bits();
    row = size_of(undisturbed / "log.csv") / steps;
  }
  rng random(11);
  int killed = 0, found = 0;
  for (int round = 0; round < 10; ++round) {
    scratch_folder dir;
    for (int kill = 0; kill < 2; ++kill) {
      const auto bytes =
          static_cast<long>(random.below(static_cast<std::uint64_t>(row * steps * 45 / 100))) +
          kill * row * steps * 45 / 100;
      const pid_t child = start(dir.path, 1 + round % 2);
      killed += kill_after(child, dir.path, bytes, static_cast<long>(random.below(3000)));
      // What has the checkpoint's name is whole, wherever the writer was hit.
      const std::string path = trainer::checkpoint_path(dir.path);
      if (!std::filesystem::exists(path)) continue;
      const checkpoint c(path);
      tiny_run r;
      c.load(*r.weights);
      found += c.info().step > 0 && c.info().step < steps;
    }
    tiny_run r(1 + (round + 1) % 2);
    trainer t = r.with(options(dir.path));
    INFO("round ", round, " goes on from step ", t.step());
    CHECK(t.run().step == steps);
    CHECK(r.bits() == want);
    CHECK(csv_curve(dir / "log.csv", "train_loss").value ==
          csv_curve(undisturbed / "log.csv", "train_loss").value);
    CHECK(csv_curve(dir / "log.csv", "val_loss").value ==
          csv_curve(undisturbed / "log.csv", "val_loss").value);
  }
  // The test is of interruptions: they must have happened.
  CHECK(killed >= 10);
  CHECK(found >= 5);
}
