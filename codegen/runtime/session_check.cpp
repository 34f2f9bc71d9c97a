// What a session checks of values: before every run inputs that an op uses as indices, and on
// request, before and after every step, that nothing is NaN or infinite.
#include <cmath>

#include "session_state.hpp"

namespace ropewalk {
namespace {

// Position, row-major, of the first element that is not finite; -1: none.
std::int64_t first_bad(const tensor_ref& t) {
  if (!is_floating(t.type)) return -1;
  std::int64_t n = 1;
  for (int a = 0; a < t.rank; ++a) n *= t.extent[a];
  for (std::int64_t e = 0; e < n; ++e) {
    std::int64_t rest = e, at = 0;
    for (int a = t.rank; a-- > 0;) at += rest % t.extent[a] * t.stride[a], rest /= t.extent[a];
    if (!std::isfinite(load_number(t.type,
                                   static_cast<const std::byte*>(t.data) +
                                       at * static_cast<std::int64_t>(dtype_size(t.type)),
                                   0)))
      return e;
  }
  return -1;
}

}  // namespace

void session_core::state::check_indices(const session_input& x) const {
  if (x.below < 0) return;
  const std::size_t n = tensor_view(x.name, x.t).elements();
  std::size_t e = 0;
  if (x.t.type == dtype::i32) {  // ids: a pass over them at every run
    const auto* ids = static_cast<const std::int32_t*>(x.t.data);
    while (e < n && ids[e] >= 0 && ids[e] < x.below) ++e;
  } else {
    while (e < n && load_number(x.t.type, x.t.data, e) < static_cast<double>(x.below)) ++e;
  }
  if (e == n) return;
  throw error(where(), "input " + x.name + ", element " + std::to_string(e),
              std::to_string(static_cast<std::int64_t>(load_number(x.t.type, x.t.data, e))),
              "an index of " + x.reader + " is at least 0 and below " + std::to_string(x.below));
}

void session_core::state::check_input(const session_input& x) const {
  if (const std::int64_t e = first_bad(x.t); e >= 0)
    throw error(where(), "input " + x.name + ", element " + std::to_string(e),
                std::to_string(load_number(x.t.type, x.t.data, static_cast<std::size_t>(e))),
                "must be finite");
}

void session_core::state::check_step(std::size_t k) const {
  const ready_step& s = steps[k];
  for (std::size_t i = 0; i < s.written.size(); ++i) {
    const std::int64_t e = first_bad(s.written[i]);
    if (e < 0) continue;
    std::string paths;
    for (const std::string& p : s.reads_paths) paths += (paths.empty() ? "" : ", ") + p;
    const std::string node =
        i < s.written_nodes.size() ? " (%" + std::to_string(s.written_nodes[i]) + ")" : "";
    throw error(
        where(), "position " + std::to_string(k) + " of the schedule, " + s.label,
        "not finite at element " + std::to_string(e) + " of " + type_text(s.written[i]) + node,
        "the first kernel that made a NaN or an infinity" +
            (paths.empty() ? "" : "; it reads " + paths));
  }
}

}  // namespace ropewalk
