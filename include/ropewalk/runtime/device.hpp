// Where sessions run.
#pragma once
#include <memory>
#include <string>

namespace ropewalk {

class pool;
enum class isa : int;

// A device in use; copies are the same device. Sessions on one device share its threads.
class device {
 public:
  // "cpu, 2 threads, avx512".
  std::string name() const;
  pool& threads() const;
  isa level() const;

 private:
  struct state;
  explicit device(std::shared_ptr<state> s) : state_(std::move(s)) {}
  friend device cpu(int threads);
  std::shared_ptr<state> state_;
};

// The processor, with the best instruction set that it and this binary have (or the one that the
// environment variable ROPEWALK_ISA names). threads = 0: as many as the process may use.
device cpu(int threads = 0);

// The device that runs a program fastest here.
device any_device();

}  // namespace ropewalk
