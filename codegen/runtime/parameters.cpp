// The parameter store and how parameters start.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include <ropewalk/core/leaf.hpp>
#include <ropewalk/runtime/parameters.hpp>
#include <ropewalk/runtime/pool.hpp>
#include <ropewalk/train/rng.hpp>

#include "memory.hpp"

namespace ropewalk {
namespace {

// FNV-1a: fixed for good, a model's start depends on it.
std::uint64_t hash_of(std::string_view path) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : path) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

constexpr std::size_t chunk = 1 << 14;

// Element i takes value(generator at word 4 i): any order of chunks gives the same values. Without
// threads the caller does all of it.
template <class F>
void fill(const tensor_view& t, std::uint64_t seed, pool* threads, F value) {
  const std::size_t n = t.elements();
  const auto tasks = static_cast<long>((n + chunk - 1) / chunk);
  const auto one = [&](long task, int) {
    const std::size_t begin = static_cast<std::size_t>(task) * chunk;
    rng r(rng_state{seed, 4 * begin});
    for (std::size_t i = begin; i < std::min(n, begin + chunk); ++i)
      store_number(t.type(), t.ref().data, i, value(r));
  };
  if (threads != nullptr) return threads->run(tasks, one);
  for (long task = 0; task < tasks; ++task) one(task, 0);
}

void check_initializer(const graph_node& leaf) {
  for (const auto known : {initializer::zeros, initializer::ones, initializer::constant,
                           initializer::normal, initializer::uniform})
    if (leaf.a.i[0] == known) return;
  throw error(leaf.path, "initializer", std::to_string(leaf.a.i[0]), "is none");
}

void initialise(const tensor_view& t, const attrs& a, std::uint64_t seed, pool* threads) {
  switch (a.i[0]) {
    case initializer::zeros:
      std::memset(t.ref().data, 0, t.elements() * dtype_size(t.type()));  // 0 in every type
      return;
    case initializer::ones:
      return fill(t, 0, threads, [](rng&) { return 1.0; });
    case initializer::constant:
      return fill(t, 0, threads, [&](rng&) { return a.f[0]; });
    case initializer::normal:  // four words a value
      return fill(t, seed, threads, [&](rng& r) { return a.f[0] + a.f[1] * r.normal(); });
    case initializer::uniform:
      return fill(t, seed, threads, [&](rng& r) {
        const double u = r.uniform();
        r.uniform();  // four words a value here too
        return a.f[0] + (a.f[1] - a.f[0]) * u;
      });
  }
}

// Length of the longest common prefix plus that of the longest common suffix: enough to guess what
// a misspelt path meant.
std::size_t likeness(std::string_view a, std::string_view b) {
  const auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
  return static_cast<std::size_t>(front + back);
}

}  // namespace

struct parameter_store::table {
  struct item {
    memory data;
    tensor_ref t;
    graph_node leaf;
    bool drawn = false;
  };
  std::uint64_t seed = 0;
  std::map<std::string, item, std::less<>> items;
  std::mutex drawing;  // sessions that run side by side may both come to what is not drawn yet
  std::atomic<long> pending = 0;

  // With `drawing` held.
  void draw(const std::string& path, item& x, pool* threads) {
    if (x.drawn) return;
    initialise({path, x.t}, x.leaf.a, derive_seed(seed, hash_of(path)), threads);
    done(x);
  }
  void done(item& x) {
    if (!x.drawn) --pending;
    x.drawn = true;
  }
  auto find(std::string_view path) {
    const auto found = items.find(path);
    if (found != items.end()) return found;
    const std::string* near = nullptr;
    for (const auto& [name, item] : items)
      if (near == nullptr || likeness(path, name) > likeness(path, *near)) near = &name;
    throw error("parameters", "path", std::string(path),
                near == nullptr ? "the store is empty" : "is not there; the nearest is " + *near);
  }
};

parameter_store::parameter_store(std::uint64_t seed) : table_(std::make_unique<table>()) {
  table_->seed = seed;
}
parameter_store::~parameter_store() = default;

std::uint64_t parameter_store::seed() const { return table_->seed; }
bool parameter_store::has(std::string_view path) const {
  return table_->items.find(path) != table_->items.end();
}

tensor_view parameter_store::at(std::string_view path) const {
  const auto found = table_->find(path);
  const std::lock_guard hold(table_->drawing);
  table_->draw(found->first, found->second, nullptr);
  return {found->first, found->second.t};
}

void parameter_store::set(std::string_view path, const host_data& h) {
  const auto found = table_->find(path);
  const std::lock_guard hold(table_->drawing);
  tensor_view(found->first, found->second.t).assign(h);
  table_->done(found->second);
}

std::vector<parameter_store::entry> parameter_store::entries() const {
  std::vector<entry> r;
  for (const auto& [path, item] : table_->items)
    r.push_back({path,
                 item.leaf.op == &state_info,
                 item.leaf.op == &param_info && item.leaf.a.i[1] != 0,
                 item.t.type,
                 {item.t.extent, item.t.extent + item.t.rank}});
  return r;
}

tensor_view parameter_store::reserve(const graph_node& leaf, std::span<const std::int64_t> extent) {
  tensor_ref t = dense_ref(nullptr, leaf.type.d, extent);
  if (const auto found = table_->items.find(leaf.path); found != table_->items.end()) {
    const table::item& have = found->second;
    if (have.leaf.op != leaf.op || type_text(have.t) != type_text(t))
      throw error(
          "parameters", std::string(leaf.op->name) + " " + leaf.path, type_text(t),
          std::string("another session has it as ") + have.leaf.op->name + " " + type_text(have.t));
    return {found->first, have.t};
  }
  check_initializer(leaf);
  memory data =
      allocate(dense_bytes(t), std::string(leaf.op->name) + " " + leaf.path + ", " + type_text(t));
  t.data = data.get();
  const auto at = table_->items.emplace(leaf.path, table::item{std::move(data), t, leaf}).first;
  ++table_->pending;
  return {at->first, at->second.t};
}

void parameter_store::draw(pool& threads) const {
  if (table_->pending == 0) return;
  const std::lock_guard hold(table_->drawing);
  for (auto& [path, item] : table_->items) table_->draw(path, item, &threads);
}

tensor_view parameter_store::require(const graph_node& leaf, std::span<const std::int64_t> extent,
                                     pool& threads) {
  const tensor_view t = reserve(leaf, extent);
  draw(threads);
  return t;
}

void parameter_store::reset(std::uint64_t seed, pool& threads) {
  table_->seed = seed;
  {
    const std::lock_guard hold(table_->drawing);
    for (auto& [path, item] : table_->items) {
      if (item.drawn) ++table_->pending;
      item.drawn = false;
    }
  }
  draw(threads);
}

}  // namespace ropewalk
