// The thread pool of the CPU backend: persistent threads that take numbered tasks from one counter.
#pragma once
#include <type_traits>

namespace ropewalk {

// A fixed set of threads; the thread that calls run() is one of them. Between runs they spin for
// about 50 microseconds (a plan's kernels follow each other closely) and then sleep.
//
// Nothing is allocated per run. Runs started from several threads wait for each other. A run
// started inside a task of the same pool executes on the spot, serially, with the worker number
// of the task around it, so that per-worker buffers stay private. Two pools must not run inside
// each other's tasks in a circle. Tasks must not throw.
class pool {
 public:
  // threads: how many take part, the caller included; 0: as many as the process may use.
  // pin: bind each thread of the pool (not the caller) to one processor, where the system allows
  // it and there are enough of them.
  explicit pool(int threads = 0, bool pin = true);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  int threads() const noexcept;

  // Calls f(long task, int worker) once for every task in [0, n_tasks), 0 <= worker < threads(),
  // in no particular order; returns when all have ended.
  template <class F>
  void run(long n_tasks, F&& f) {
    using Fn = std::remove_reference_t<F>;
    run_erased(
        n_tasks,
        [](const void* context, long task, int worker) {
          (*static_cast<Fn*>(const_cast<void*>(context)))(task, worker);
        },
        &f);
  }

 private:
  using task_function = void (*)(const void* context, long task, int worker);
  void run_erased(long n_tasks, task_function f, const void* context);
  struct state;
  state* state_;
};

}  // namespace ropewalk
