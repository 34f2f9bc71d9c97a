// Devices.
#include <ropewalk/runtime/cpu_kernels.hpp>
#include <ropewalk/runtime/device.hpp>

namespace ropewalk {

struct device::state {
  pool threads;
  isa level;
};

std::string device::name() const {
  const int n = threads().threads();
  return "cpu, " + std::to_string(n) + (n == 1 ? " thread, " : " threads, ") + isa_name(level());
}
pool& device::threads() const { return state_->threads; }
isa device::level() const { return state_->level; }

device cpu(int threads) {
  return device(std::shared_ptr<device::state>(new device::state{pool(threads), best_isa()}));
}

device any_device() { return cpu(); }

}  // namespace ropewalk
