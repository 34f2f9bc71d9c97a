// Golden files and central differences for one-expression programs: see check.hpp.
#include "check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include <ropewalk/graph/bindings.hpp>
#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/io/safetensors.hpp>

namespace cases {

using namespace ropewalk;

namespace {

const std::string folder = "data/goldens/ops/";

// The golden file of a program: its name with '_' for the '-' and '.' of the file's.
std::string golden_file(const std::string& program) {
  static const auto files = [] {
    std::map<std::string, std::string> r;
    for (const auto& e : std::filesystem::directory_iterator(folder)) {
      std::string name = e.path().stem().string();
      for (char& c : name)
        if (c == '-' || c == '.') c = '_';
      r[name] = e.path().string();
    }
    return r;
  }();
  const auto at = files.find(program);
  return at == files.end() ? "" : at->second;
}

dense read(const file_tensor& t) {
  dense d;
  std::size_t n = 1;
  for (const long e : t.shape) d.extent.push_back(e), n *= static_cast<std::size_t>(e);
  d.v.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (t.type == f64) {
      std::memcpy(&d.v[i], t.bytes.data() + 8 * i, 8);
    } else {
      REQUIRE(t.type == i32);
      std::int32_t v;
      std::memcpy(&v, t.bytes.data() + 4 * i, 4);
      d.v[i] = v;
    }
  }
  return d;
}

values leaves_from(const program_graph& p, const tensor_file* file, const values& more) {
  values r;
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.path.empty()) continue;
    if (const auto at = more.find(n.path); at != more.end()) {
      r[n.path] = at->second;
    } else if (const file_tensor* t = file == nullptr ? nullptr : file->find(n.path)) {
      r[n.path] = read(*t);
      if (n.type.s.rank == 0) r[n.path].extent.clear();  // scalars are [1] in the files
    } else if (n.op != &input_info) {
      const bool ones = n.a.i[0] == initializer::ones;
      r[n.path] = filled(evaluate(n.type.s, std::span<const dim_binding>()), ones ? 1 : 0);
    }
  }
  return r;
}

double dot(const dense& a, const dense& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) s += a.v[i] * b.v[i];
  return s;
}

}  // namespace

dense filled(std::vector<std::int64_t> extent, double v) {
  std::size_t n = 1;
  for (const std::int64_t e : extent) n *= static_cast<std::size_t>(e);
  return {std::move(extent), std::vector<double>(n, v)};
}

void check_close(const std::string& what, const dense& a, const dense& b, double tolerance) {
  INFO(what);
  REQUIRE(a.v.size() == b.v.size());
  double largest = 0, error = 0;
  for (const double v : b.v)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    if (std::isfinite(b.v[i]))
      error = std::max(error, std::isfinite(a.v[i]) ? std::fabs(a.v[i] - b.v[i]) : INFINITY);
    else
      CHECK(std::memcmp(&a.v[i], &b.v[i], 8) == 0);
  }
  CHECK(error <= tolerance * (largest > 0 ? largest : 1));
}

int check_golden(const program_table& t, const std::string& path, const values& more) {
  INFO(path);
  const tensor_file file(path);
  const program_graph p = flatten(t);
  verify(p, "test");
  const values got = evaluate_reference(p, {}, leaves_from(p, &file, more));
  int compared = 0;
  for (const auto& [name, value] : got) {
    const std::string other = name + "_new";  // a state after the run
    const file_tensor* want = file.find(file.contains(other) ? other : name);
    if (want == nullptr) continue;
    check_close(path + " " + name, value, read(*want), 1e-10);
    ++compared;
  }
  return compared;
}
int check_golden(const program_table& t, const values& more) {
  const std::string path = golden_file(t.name);
  INFO(t.name);
  REQUIRE(!path.empty());
  const int compared = check_golden(t, path, more);
  CHECK(compared == t.n_entries);
  // Every gradient of the file was asked for.
  for (const std::string& name : tensor_file(path).names())
    if (name.starts_with("d_") && !name.starts_with("d_out")) {
      bool known = false;
      for (int i = 0; i < t.n_entries; ++i) known = known || t.entries[i].name == name;
      CHECK_MESSAGE(known, name);
    }
  return compared;
}

values golden_leaves(const program_graph& p, const values& more) {
  const std::string path = golden_file(p.name);
  if (path.empty()) return leaves_from(p, nullptr, more);
  const tensor_file file(path);
  return leaves_from(p, &file, more);
}

values random_leaves(const program_graph& p, interval in, const values& more,
                     std::span<const dim_binding> bindings, std::mt19937& r) {
  values v;
  if (bindings.empty()) v = golden_leaves(p, more);
  std::uniform_real_distribution<double> u(in.low, in.high), signed_unit(-1, 1);
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.path.empty()) continue;
    if (const auto at = more.find(n.path); at != more.end())
      v[n.path] = at->second;
    else if (is_floating(n.type.d)) {
      dense& d = v[n.path] = filled(evaluate(n.type.s, bindings), 0);
      for (double& e : d.v) e = n.path.starts_with("d_out") ? signed_unit(r) : u(r);
    }
  }
  return v;
}

void check_gradients(const program_table& t, interval in, const values& more,
                     std::span<const dim_binding> bindings) {
  INFO(t.name);
  const program_graph p = flatten(t, bindings);
  verify(p, "test");
  program_graph forward = p;
  std::erase_if(forward.outputs, [](const program_output& o) { return o.name != "out"; });
  std::mt19937 r(7);
  values leaves = random_leaves(p, in, more, bindings, r);
  const values got = evaluate_reference(p, bindings, leaves);
  // Where no gradient flows, nothing mentions d_out.
  const dense d_out = leaves.contains("d_out") ? leaves.at("d_out") : dense{};
  std::erase_if(leaves, [](const auto& leaf) { return leaf.first == "d_out"; });
  const auto value = [&] {
    const dense out = evaluate_reference(forward, bindings, leaves).at("out");
    return dot(out, d_out.v.empty() ? filled(out.extent, 1) : d_out);
  };
  for (const auto& [name, gradient] : got) {
    if (!name.starts_with("d_")) continue;
    dense& x = leaves.at(name.substr(2));
    REQUIRE(x.extent == gradient.extent);
    dense numeric = gradient;
    // At most 24 elements of each input, spread evenly.
    const std::size_t step = x.v.size() / 24 + 1;
    double largest = 1e-3;
    for (const double g : gradient.v) largest = std::max(largest, std::fabs(g));
    for (std::size_t i = 0; i < x.v.size(); i += step) {
      const double keep = x.v[i], h = 1e-5;
      x.v[i] = keep + h;
      const double above = value();
      x.v[i] = keep - h;
      const double below = value();
      x.v[i] = keep;
      numeric.v[i] = (above - below) / (2 * h);
    }
    INFO(name);
    double error = 0;
    for (std::size_t i = 0; i < x.v.size(); ++i)
      error = std::max(error, std::fabs(numeric.v[i] - gradient.v[i]));
    CHECK(error < 2e-7 * largest);
  }
}

void check_adjoint(const program_table& t, const values& more,
                   std::span<const dim_binding> bindings) {
  INFO(t.name);
  const program_graph p = flatten(t, bindings);
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 r(seed);
    const values leaves = random_leaves(p, {}, more, bindings, r);
    const values got = evaluate_reference(p, bindings, leaves);
    double forward = dot(got.at("out"), leaves.at("d_out")), backward = 0;
    for (const auto& [name, gradient] : got)
      if (name.starts_with("d_")) backward += dot(gradient, leaves.at(name.substr(2)));
    CHECK(forward == doctest::Approx(backward).epsilon(1e-12));
  }
}

}  // namespace cases
