// The registry of compiled kernels.
#include <ropewalk/runtime/registry.hpp>

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace ropewalk {
namespace {

struct table {
  std::mutex lock;  // shared objects may be loaded while sessions open
  std::map<std::pair<std::uint64_t, std::string>, generated_fn> kernels;
};

// Made on first use: registrations of other files may come before this file's statics.
table& all() {
  static table t;
  return t;
}

}  // namespace

const char* isa_name(isa i);  // runtime/cpu_kernels.hpp

kernel_registration::kernel_registration(const char* set, const kernel_entry* entries,
                                         std::size_t count) {
  table& t = all();
  const std::lock_guard hold(t.lock);
  for (std::size_t i = 0; i < count; ++i)
    t.kernels.emplace(std::pair(entries[i].key, std::string(set)), entries[i].run);
}

generated_fn find_kernel(std::uint64_t key, isa level) {
  table& t = all();
  const std::lock_guard hold(t.lock);
  const auto at = t.kernels.find(std::pair(key, std::string(isa_name(level))));
  return at == t.kernels.end() ? nullptr : at->second;
}

}  // namespace ropewalk
