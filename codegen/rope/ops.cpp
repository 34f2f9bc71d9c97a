// The ops of rope's tables that have kernels of their own.
#include <algorithm>
#include <string>

#include "ropewalk/ops/rope/tables.hpp"

namespace ropewalk::op {
namespace {

std::string number_text(double v) {
  std::string s = std::to_string(v);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s;
}

void fill(const rope_filler& s, const attrs& a, std::span<double> f, std::int64_t length) {
  const std::int64_t width = a.d[0].n;
  if (const rope_fault bad = s.fault(s.schedule, width))
    throw error(s.name, bad.field, number_text(bad.value), bad.rule);
  if (a.i[0] != static_cast<std::int64_t>(rope_streams::restarting_sections)) {
    s.fill(s.schedule, f, width, length);
    return;
  }
  // The longest section first; then every pair takes its place in its section, none to the right.
  const std::size_t longest = static_cast<std::size_t>(*std::max_element(a.i + 1, a.i + 5));
  s.fill(s.schedule, f.first(std::min(longest, f.size())), width, length);
  for (std::size_t i = f.size(); i-- > 0;)
    f[i] = f[static_cast<std::size_t>(place_of_pair(a, static_cast<std::int64_t>(i)).within)];
}

void check_position(std::int64_t p, std::size_t element, std::int64_t maximum) {
  if (p >= maximum)
    throw error("rope", "position " + std::to_string(element), std::to_string(p),
                "must be below the maximum position " + std::to_string(maximum));
}

}  // namespace

void fill_frequencies(const rope_filler& s, const kernel_call& c) {
  const std::int64_t length = c.in.empty() ? 0 : *static_cast<const std::int32_t*>(c.in[0].data);
  fill(s, c.a, {static_cast<double*>(c.out[0].data), static_cast<std::size_t>(c.out[0].extent[0])},
       length);
}
void fill_frequencies(const rope_filler& s, const reference_call& c) {
  fill(s, c.a, c.out[0].v, c.in.empty() ? 0 : static_cast<std::int64_t>(c.in[0]->v[0]));
}

void positions_below_family::kernel(const kernel_call& c) {
  const auto* p = static_cast<const std::int32_t*>(c.in[0].data);
  auto* out = static_cast<std::int32_t*>(c.out[0].data);
  std::size_t n = 1;
  for (int k = 0; k < c.in[0].rank; ++k) n *= static_cast<std::size_t>(c.in[0].extent[k]);
  for (std::size_t e = 0; e < n; ++e) {
    check_position(p[e], e, c.a.i[0]);
    out[e] = p[e];
  }
}
void positions_below_family::reference(const reference_call& c) {
  c.out[0].v = c.in[0]->v;
  for (std::size_t e = 0; e < c.in[0]->v.size(); ++e)
    check_position(static_cast<std::int64_t>(c.in[0]->v[e]), e, c.a.i[0]);
}

}  // namespace ropewalk::op
