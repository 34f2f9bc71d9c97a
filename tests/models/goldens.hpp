// The golden values of the small models, as dense tensors.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ropewalk/graph/reference.hpp"
#include "ropewalk/io/safetensors.hpp"
#include "ropewalk/runtime/tensor.hpp"

namespace ropewalk::testing {

inline dense to_dense(const file_tensor& t) {
  dense d;
  std::size_t n = 1;
  for (auto e : t.shape) d.extent.push_back(e), n *= static_cast<std::size_t>(e);
  d.v.resize(n);
  for (std::size_t i = 0; i < n; ++i) d.v[i] = load_number(t.type, t.bytes.data(), i);
  return d;
}

inline std::map<std::string, dense> load_all(const std::string& path) {
  const tensor_file f(path);
  std::map<std::string, dense> all;
  for (const auto& name : f.names()) all[std::string(name)] = to_dense(f.get(name));
  return all;
}

// targets[b, t] = labels[b, t + 1]; nothing to predict at the last position.
inline dense shifted_labels(const dense& labels) {
  dense d = labels;
  const auto t = static_cast<std::size_t>(labels.extent[1]);
  for (std::size_t i = 0; i < d.v.size(); ++i)
    d.v[i] = i % t + 1 < t ? labels.v[i + 1] : -100;
  return d;
}

inline double largest(const std::vector<double>& v) {
  double m = 0;
  for (double x : v) m = std::max(m, std::abs(x));
  return m;
}
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double m = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::abs(a[i] - b[i]);
    m = std::isnan(d) ? INFINITY : std::max(m, d);
  }
  return m;
}

}  // namespace ropewalk::testing
