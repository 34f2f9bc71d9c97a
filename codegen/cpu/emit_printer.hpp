// Prints expressions and loops in a language of kernels.
#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emit.hpp"
#include "emit_language.hpp"

namespace ropewalk {

// Buffer numbers from here on are arrays in a worker's scratch memory.
inline constexpr int scratch_base = 1 << 24;

class printer {
 public:
  printer(arena& a, const buffer_table& types, const language& l = cpp_language())
      : a_(a), types_(types), language_(l) {}

  // Counts how often the expressions under e are used; those used more than once get names.
  void count(int e);
  void forget_counts() { uses_.clear(); }

  void line(const std::string& s) {
    body_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + s + "\n";
  }
  void open(const std::string& s);
  void close();
  std::string fresh(const char* stem) { return stem + std::to_string(next_++); }

  std::string var(int v);           // the name of a loop variable
  std::string dim_text(int dim);    // a number, or n<k> read from dims
  std::string stored_dim(int dim);  // always read from dims
  std::string buffer(int b);        // the name of its pointer
  void written(int b);
  int scratch_array(dtype type, int elements);  // a buffer number
  void name(int e, const std::string& s);       // e is known as s within the current scope

  // Emits what must stand before e can be printed here, then gives its text.
  std::string value(int e);
  std::string address(int e);  // an index value as long
  // Names, at this scope, what is under e and does not depend on the variables of `inner`.
  void hoist(int e, std::uint64_t inner) {
    std::set<std::pair<int, std::uint64_t>> seen;
    hoist(e, inner, seen);
  }
  std::string store_text(int b, const std::string& element, const std::string& v);
  std::string initial(reduction how, dtype d) const;
  static std::string combine(reduction how, dtype d, const std::string& a, const std::string& b);
  static const char* clause(reduction how);
  // Declares a variable of a computed value.
  void variable(dtype d, const std::string& name, const std::string& value) {
    line(std::string(language_.type(d)) + " " + name + " = " + value + ";");
  }

  // Loops over variables, the last one innermost and vectorised; body prints the inside.
  struct accumulator {
    std::string name;
    reduction how;
  };
  template <class Body>
  void loops(const std::vector<int>& vars, const std::vector<accumulator>& acc,
             const std::vector<int>& under, Body body) {
    std::uint64_t inner = 0;
    for (int v : vars) inner |= arena::bit(v);
    for (std::size_t k = 0; k < vars.size(); ++k) {
      for (int e : under) hoist(e, inner);
      if (k + 1 == vars.size()) simd(acc);
      const std::string v = var(vars[k]);
      open("for (" + std::string(language_.index()) + " " + v + " = 0; " + v + " < " +
           dim_text(a_.variable_extent(vars[k])) + "; ++" + v + ") {");
      if (vars[k] < 62) inner &= ~arena::bit(vars[k]);
    }
    body();
    for (std::size_t k = 0; k < vars.size(); ++k) close();
  }
  void simd(const std::vector<accumulator>& acc);

  // The whole function: declarations, then what was printed.
  kernel_text finish(int parallel, std::int64_t grain);

  arena& exprs() { return a_; }

 private:
  std::string inline_text(int e);
  std::string raw_text(int e);
  bool is_long(int e) const;
  void declare(int e);
  void hoist(int e, std::uint64_t inner, std::set<std::pair<int, std::uint64_t>>& seen);
  void ensure(int e);
  void emit_reduce(int e);
  bool trivial(int e) const;
  void set_name(int e, const std::string& s);

  arena& a_;
  const buffer_table& types_;
  const language& language_;
  std::string body_;
  int depth_ = 1, next_ = 0;
  std::vector<std::vector<int>> scopes_{1};
  std::unordered_map<int, std::string> names_;
  std::unordered_map<int, int> uses_;
  std::map<int, std::string> vars_;
  std::vector<int> dims_, buffers_;
  std::set<int> writes_;
  struct array {
    dtype type;
    int elements;
  };
  std::vector<array> arrays_;
};

}  // namespace ropewalk
