// The passes in order, with the stages printed on request.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "stages.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 6> stages{"graph",    "dot", "simplify",
                                                 "schedule", "cpp", "plan"};

void put(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace

bool print_wanted(const char* stage) {
  const char* const list = std::getenv("ROPEWALK_PRINT");
  if (list == nullptr) return false;
  bool found = false;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    bool known = word.empty();
    for (const std::string_view s : stages) known = known || word == s;
    if (!known)
      throw error("environment", "ROPEWALK_PRINT", std::string(word),
                  "is none of graph, dot, simplify, schedule, cpp, plan");
    found = found || word == stage;
  }
  return found;
}

schedule schedule_stages(const program_graph& p) {
  if (print_wanted("graph")) put(print(p));
  verify(p, "flatten");
  if (print_wanted("dot")) put(print_dot(p));
  if (print_wanted("simplify")) put(print(simplify(p)));
  schedule s = make_schedule(p);
  if (print_wanted("schedule")) put(print(s));
  if (print_wanted("cpp"))
    for (const generated_kernel& k : s.kernels) put("// " + k.label + "\n" + k.text + "\n");
  return s;
}

}  // namespace ropewalk
