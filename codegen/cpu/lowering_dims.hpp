// Dims as the generator computes with them: polynomials under small numbers, with memory of what
// was added, multiplied and divided before.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <ropewalk/core/dim.hpp>

namespace ropewalk {

// Every distinct polynomial has one number; equal dims have equal numbers.
class dim_table {
 public:
  int of(const dim& d);
  int of(std::int64_t n);
  dim value(int id) const;  // throws where the text of a dim would be too long

  bool fixed(int id) const { return at(id).fixed; }
  std::int64_t number(int id) const { return at(id).n; }

  int add(int a, int b);
  int sub(int a, int b) { return add(a, mul(of(-1), b)); }
  int mul(int a, int b);
  // a / b where that is a polynomial with whole coefficients, else -1. Symbols in a denominator
  // count as dividing what is above them, as in dims ("C/H").
  int divide(int a, int b);
  // True only if d >= 0 whatever the symbols are (each is at least 1).
  bool nonnegative(int d);
  // a >= b, provably.
  bool at_least(int a, int b) { return nonnegative(sub(a, b)); }
  // A value for deciding about sizes: symbols count as 256.
  double guess(int id) const;

 private:
  struct factor {
    int symbol, power;
    friend bool operator==(const factor&, const factor&) = default;
  };
  struct term {
    std::int64_t num = 0, den = 1;
    std::vector<factor> f;  // by symbol
  };
  struct entry {
    bool fixed = false;
    std::int64_t n = 0;
    std::vector<term> terms;
  };
  const entry& at(int id) const { return entries_[static_cast<std::size_t>(id)]; }
  int intern(std::vector<term> terms);
  static void accumulate(std::vector<term>& sum, const term& t);
  static term product(const term& a, const term& b, int sign);
  int remembered(char op, int a, int b, int& slot);

  std::vector<entry> entries_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::int64_t, int> numbers_;
  struct text_hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, int, text_hash, std::equal_to<>> texts_;
  std::unordered_map<std::string, int> keys_;
  std::unordered_map<std::uint64_t, int> sums_, products_, quotients_;
  std::unordered_map<int, bool> nonnegative_;
};

}  // namespace ropewalk
