// Laws of the pool: every task once, workers distinct, runs inside tasks, many tiny runs.
#include <doctest/doctest.h>

#include <atomic>
#include <ropewalk/core/error.hpp>
#include <ropewalk/runtime/pool.hpp>
#include <thread>
#include <vector>

using ropewalk::pool;

TEST_CASE("every task runs exactly once, on a worker of the pool") {
  for (const int threads : {1, 2, 3, 8}) {
    pool p(threads);
    CHECK(p.threads() == threads);
    for (const long n : {0l, 1l, 2l, 7l, 1000l}) {
      std::vector<std::atomic<int>> count(static_cast<std::size_t>(n));
      std::atomic<int> outside{0};
      p.run(n, [&](long task, int worker) {
        count[static_cast<std::size_t>(task)]++;
        if (worker < 0 || worker >= threads) outside++;
      });
      int wrong = 0;
      for (auto& c : count) wrong += c != 1;
      CHECK(wrong == 0);
      CHECK(outside == 0);
    }
  }
}

TEST_CASE("two tasks at once never have the same worker number") {
  pool p(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> clashes{0};
  p.run(2000, [&](long, int worker) {
    auto& mine = inside[static_cast<std::size_t>(worker)];
    if (mine.fetch_add(1) != 0) clashes++;
    mine--;
  });
  CHECK(clashes == 0);
}

TEST_CASE("many tiny runs: each ends before the next begins") {
  pool p(3);
  long sum = 0, expected = 0;
  std::vector<long> part(3);
  for (long r = 0; r < 20000; ++r) {
    const long n = r % 5;
    for (auto& x : part) x = 0;
    p.run(n, [&](long task, int worker) { part[static_cast<std::size_t>(worker)] += task + r; });
    for (const long x : part) sum += x;
    expected += n * r + n * (n - 1) / 2;
  }
  CHECK(sum == expected);
}

TEST_CASE("a run after the threads have gone to sleep") {
  pool p(3);
  for (int r = 0; r < 5; ++r) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<long> sum{0};
    p.run(100, [&](long task, int) { sum += task; });
    CHECK(sum == 4950);
  }
}

TEST_CASE("a run inside a task is serial, on the same worker") {
  pool p(3);
  std::atomic<long> sum{0};
  std::atomic<int> moved{0};
  p.run(20, [&](long, int outer) {
    long next = 0;
    p.run(10, [&](long task, int inner) {
      if (inner != outer || task != next++) moved++;
      sum += task;
    });
  });
  CHECK(sum == 20 * 45);
  CHECK(moved == 0);
}

TEST_CASE("a run of another pool inside a task") {
  pool p(2), q(2);
  std::atomic<long> sum{0};
  p.run(8, [&](long, int) { q.run(10, [&](long task, int) { sum += task; }); });
  CHECK(sum == 8 * 45);
}

TEST_CASE("runs from several threads wait for each other") {
  pool p(2);
  std::vector<std::thread> callers;
  std::atomic<long> sum{0};
  std::atomic<int> clashes{0};
  std::vector<std::atomic<int>> inside(2);
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int r = 0; r < 200; ++r)
        p.run(4, [&](long task, int worker) {
          auto& mine = inside[static_cast<std::size_t>(worker)];
          if (mine.fetch_add(1) != 0) clashes++;
          sum += task;
          mine--;
        });
    });
  for (auto& c : callers) c.join();
  CHECK(sum == 3 * 200 * 6);
  CHECK(clashes == 0);
}

TEST_CASE("the default takes at least one thread; a negative number is refused") {
  CHECK(pool().threads() >= 1);
  CHECK_THROWS_WITH_AS(pool(-1), "[pool] threads = -1: must be from 0 (all processors) to 4096",
                       ropewalk::error);
}
