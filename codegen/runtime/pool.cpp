// The thread pool: one open job at a time, joined and left by workers through two atomics.
#include <ropewalk/runtime/pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

#include <ropewalk/core/error.hpp>

namespace ropewalk {
namespace {

constexpr auto spin_time = std::chrono::microseconds(50);
constexpr int max_threads = 4096;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until done() or until the spin time is over; returns done().
template <class F>
bool spin_until(F done) {
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// The processors that this process may use, first the one that this thread is on: it is left to
// the caller, who is not pinned and would have to be moved away from a pinned worker.
std::vector<int> allowed_processors() {
  std::vector<int> cpus;
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int c = 0; c < CPU_SETSIZE; ++c)
      if (CPU_ISSET(c, &set)) cpus.push_back(c);
  const auto here_now = std::find(cpus.begin(), cpus.end(), sched_getcpu());
  if (here_now != cpus.end()) std::rotate(cpus.begin(), here_now, cpus.end());
#endif
  if (cpus.empty())
    for (unsigned c = 0; c < std::max(1u, std::thread::hardware_concurrency()); ++c)
      cpus.push_back(static_cast<int>(c));
  return cpus;
}

void pin_to([[maybe_unused]] std::thread& t, [[maybe_unused]] int cpu) {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(t.native_handle(), sizeof set, &set);  // a refusal costs speed only
#endif
}

// The pool whose task this thread is inside of, if any, and its number there.
struct position {
  const pool* owner = nullptr;
  int worker = 0;
};
thread_local position here;

}  // namespace

// Why a worker that wakes late cannot see a stale job: it joins (active + 1) before it looks at
// `open`; the caller closes the job and then waits for active = 0 before it returns. Whoever joins
// after that sees open = false, or the next job with its fields already written.
struct pool::state {
  std::vector<std::thread> threads;
  int count = 1;
  std::mutex callers;
  alignas(64) std::atomic<unsigned> epoch{0};  // bumped when a job opens or the pool ends
  std::atomic<bool> open{false};
  std::atomic<bool> ending{false};
  task_function function = nullptr;
  const void* context = nullptr;
  long n_tasks = 0;
  alignas(64) std::atomic<long> next{0};
  alignas(64) std::atomic<int> active{0};

  void end() {
    ending.store(true);
    epoch.fetch_add(1);
    epoch.notify_all();
    for (auto& t : threads) t.join();
  }

  void take_tasks(int worker) {
    for (;;) {
      const long task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= n_tasks) return;
      function(context, task, worker);
    }
  }

  void work(const pool* owner, int worker) {
    here = {owner, worker};
    unsigned seen = 0;
    for (;;) {
      if (!spin_until([&] { return epoch.load(std::memory_order_acquire) != seen; }))
        epoch.wait(seen, std::memory_order_acquire);
      seen = epoch.load(std::memory_order_acquire);
      if (ending.load()) return;
      active.fetch_add(1);
      if (open.load()) take_tasks(worker);
      if (active.fetch_sub(1) == 1) active.notify_one();
    }
  }
};

pool::pool(int threads, bool pin) : state_(nullptr) {
  if (threads < 0 || threads > max_threads)
    throw error("pool", "threads", std::to_string(threads),
                "must be from 0 (all processors) to " + std::to_string(max_threads));
  const std::vector<int> cpus = allowed_processors();
  state_ = new state;
  state_->count = threads > 0 ? threads : static_cast<int>(cpus.size());
  try {
    for (int w = 1; w < state_->count; ++w) {
      state_->threads.emplace_back([this, w] { state_->work(this, w); });
      if (pin && static_cast<std::size_t>(state_->count) <= cpus.size())
        pin_to(state_->threads.back(), cpus[static_cast<std::size_t>(w)]);
    }
  } catch (const std::exception& e) {
    const auto made = state_->threads.size();
    state_->end();
    delete state_;
    throw error("pool", "threads", std::to_string(threads),
                "only " + std::to_string(made + 1) + " could be started: " + e.what());
  }
}

pool::~pool() {
  state_->end();
  delete state_;
}

int pool::threads() const noexcept { return state_->count; }

void pool::run_erased(long n_tasks, task_function f, const void* context) {
  if (n_tasks <= 0) return;
  state& s = *state_;
  if (here.owner == this) {
    for (long t = 0; t < n_tasks; ++t) f(context, t, here.worker);
    return;
  }
  const std::lock_guard turn(s.callers);
  const position before = here;
  here = {this, 0};
  if (s.count == 1 || n_tasks == 1) {
    for (long t = 0; t < n_tasks; ++t) f(context, t, 0);
  } else {
    s.function = f;
    s.context = context;
    s.n_tasks = n_tasks;
    s.next.store(0, std::memory_order_relaxed);
    s.open.store(true);
    s.epoch.fetch_add(1);
    s.epoch.notify_all();
    s.take_tasks(0);
    s.open.store(false);
    if (!spin_until([&] { return s.active.load() == 0; }))
      for (int a; (a = s.active.load()) != 0;) s.active.wait(a);
  }
  here = before;
}

}  // namespace ropewalk
