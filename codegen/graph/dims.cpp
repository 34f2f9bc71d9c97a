// Dims at run time: evaluation under bindings, and the checks of bindings.
#include <algorithm>
#include <set>

#include <ropewalk/graph/bindings.hpp>

namespace ropewalk {
namespace {

std::string printed(const dim& d) { return d.fixed() ? std::to_string(d.n) : d.sym; }

const dim_binding* find(std::string_view symbol, std::span<const dim_binding> bindings) {
  for (const dim_binding& b : bindings)
    if (symbol == b.name.sym) return &b;
  return nullptr;
}

// "T = 255, C = 4": the values that a dim is made of.
std::string values(const dim& d, std::span<const dim_binding> bindings) {
  std::string r;
  for (const std::string& s : symbols(d)) {
    if (!r.empty()) r += ", ";
    const dim_binding* b = find(s, bindings);
    r += s + " = " + (b == nullptr ? "unbound" : std::to_string(b->value));
  }
  return r;
}

using binding_list = std::span<const dim_binding>;

[[noreturn]] void overflow(const dim& d, binding_list bindings) {
  throw error("dim", printed(d), values(d, bindings), "is beyond 64 bits");
}

std::int64_t times(const dim& d, binding_list bindings, std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) overflow(d, bindings);
  return r;
}

struct fraction {
  std::int64_t num, den;
};

fraction reduced(fraction f) {
  if (f.den < 0) f = {-f.num, -f.den};
  const std::int64_t g = detail::gcd(f.num, f.den);
  return g > 1 ? fraction{f.num / g, f.den / g} : f;
}

void collect(const dim& d, std::set<std::string>& out) {
  for (std::string& s : symbols(d)) out.insert(std::move(s));
}

}  // namespace

std::int64_t evaluate(const dim& d, std::span<const dim_binding> bindings) {
  if (d.fixed()) return d.n;
  const detail::dim_sum s = d.sum();
  fraction total{0, 1};
  for (int i = 0; i < s.terms; ++i) {
    const detail::dim_term& t = s.t[i];
    fraction f{t.num, t.den};
    for (int k = 0; k < t.factors; ++k) {
      const dim_binding* b = find(t.name[k], bindings);
      if (b == nullptr)
        throw error("dim", printed(d), "unbound",
                    std::string("dim ") + t.name[k] + " has no value");
      for (int p = 0; p < t.power[k]; ++p)
        f = reduced({times(d, bindings, f.num, b->value), f.den});
      for (int p = 0; p > t.power[k]; --p) {
        if (b->value == 0)
          throw error("dim", printed(d), values(d, bindings), "must not divide by zero");
        f = reduced({f.num, times(d, bindings, f.den, b->value)});
      }
    }
    std::int64_t sum;
    if (__builtin_add_overflow(times(d, bindings, total.num, f.den),
                               times(d, bindings, f.num, total.den), &sum))
      overflow(d, bindings);
    total = reduced({sum, times(d, bindings, total.den, f.den)});
  }
  if (total.den != 1)
    throw error("dim", printed(d), values(d, bindings), "must divide without remainder");
  return total.num;
}

std::int64_t evaluate_size(const dim& d, std::span<const dim_binding> bindings) {
  const std::int64_t n = evaluate(d, bindings);
  if (n >= 1) return n;
  if (d.fixed()) throw error("dim", "size", std::to_string(n), "a size is at least 1");
  throw error("dim", printed(d), std::to_string(n),
              "a size is at least 1 (" + values(d, bindings) + ")");
}

std::vector<std::int64_t> evaluate(const shape& s, std::span<const dim_binding> bindings) {
  std::vector<std::int64_t> r;
  r.reserve(static_cast<std::size_t>(s.rank));
  for (int i = 0; i < s.rank; ++i) r.push_back(evaluate_size(s[i], bindings));
  return r;
}

attrs evaluate(const attrs& a, std::span<const dim_binding> bindings) {
  attrs r = a;
  for (dim& d : r.d) d = evaluate(d, bindings);
  return r;
}

std::vector<std::string> symbols(const dim& d) {
  std::vector<std::string> r;
  if (d.fixed()) return r;
  const detail::dim_sum s = d.sum();
  for (int i = 0; i < s.terms; ++i)
    for (int k = 0; k < s.t[i].factors; ++k)
      if (std::string name = s.t[i].name[k]; std::find(r.begin(), r.end(), name) == r.end())
        r.push_back(std::move(name));
  return r;
}

std::vector<std::string> symbols(const program_graph& p) {
  std::set<std::string> all;
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    for (int i = 0; i < n.type.s.rank; ++i) collect(n.type.s[i], all);
    for (const dim& d : n.a.d) collect(d, all);
  }
  return {all.begin(), all.end()};
}

void check_bindings(const program_graph& p, std::span<const dim_binding> bindings) {
  const std::string where = "program " + p.name;
  const std::vector<std::string> needed = symbols(p);
  std::set<std::string> known(needed.begin(), needed.end());
  for (const dim& d : p.counts) collect(d, known);
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const dim_binding& b = bindings[i];
    const std::string field = "dim " + printed(b.name), value = std::to_string(b.value);
    std::string all;
    for (const std::string& s : known) all += (all.empty() ? "" : ", ") + s;
    all = known.empty() ? "the program has no symbolic dims"
                        : "the program's symbolic dims are " + all;
    if (b.name.fixed())  // its name is gone: where it stands in the list must do
      throw error(where,
                  "binding " + std::to_string(i + 1) + ", of a dim fixed at " + printed(b.name),
                  value, "only a symbolic dim takes a value; " + all);
    if (!known.contains(b.name.sym)) throw error(where, field, value, all);
    if (b.value < 1) throw error(where, field, value, "a size is at least 1");
    for (std::size_t k = 0; k < i; ++k)
      if (bindings[k].name == b.name && bindings[k].value != b.value)
        throw error(where, field, value,
                    "is already bound to " + std::to_string(bindings[k].value));
  }
  for (const std::string& s : needed)
    if (find(s, bindings) == nullptr)
      throw error(where, "dim " + s, "unbound", "every symbolic dim of a program needs a value");
  for (int id = 0; id < p.g.size(); ++id) evaluate(p.g[id].type.s, bindings);
}

}  // namespace ropewalk
