// Expressions of the scalar language, shared and simplified as they are built. Index arithmetic is
// kept in affine form (sum of coefficient x atom, coefficients are dims), with ranges.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include <ropewalk/graph/lowering.hpp>

#include "lowering_dims.hpp"

namespace ropewalk {

// One expression. What the fields mean by op:
//   constant   v
//   index      aux: loop variable
//   extent     aux: affine form (an index value; a dim is the form without atoms)
//   load       aux: operand, a: element (index value), b: condition under which it may be read, or
//   -1 reduce     aux: reduction record floor_div, mod   a: index value, aux: dim others     a, b,
//   c: arguments
struct expr_node {
  scalar_op op = scalar_op::constant;
  dtype type = dtype::f32;
  int a = -1, b = -1, c = -1, aux = -1;
  double v = 0;
  friend bool operator==(const expr_node&, const expr_node&) = default;
};

struct affine_term {
  int atom, coefficient;  // expression, dim
  friend bool operator==(const affine_term&, const affine_term&) = default;
};
struct affine_form {
  int constant = 0;  // dim
  std::vector<affine_term> terms;
  friend bool operator==(const affine_form&, const affine_form&) = default;
};
struct reduce_record {
  reduction kind = reduction::sum;
  std::vector<int> vars;
  int body = -1;
};
// Values of an index expression: low <= x <= high (dims; -1 unknown).
struct index_range {
  int low = -1, high = -1;
};

class arena {
 public:
  explicit arena(dim_table& dims) : dims_(dims) {}
  dim_table& dims() { return dims_; }

  const expr_node& operator[](int e) const { return nodes_[static_cast<std::size_t>(e)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const affine_form& affine(int e) const {
    return forms_[static_cast<std::size_t>((*this)[e].aux)];
  }
  const reduce_record& reduction_of(int e) const {
    return reductions_[static_cast<std::size_t>((*this)[e].aux)];
  }
  // The loop variables that e depends on, as bits; all variables from 62 on share one bit.
  std::uint64_t variables(int e) const { return variables_[static_cast<std::size_t>(e)]; }
  // Whether there is a reduction in e.
  bool reduces(int e) const { return reduces_[static_cast<std::size_t>(e)] != 0; }
  static std::uint64_t bit(int var) { return std::uint64_t{1} << (var < 62 ? var : 62); }

  int new_variable(int extent);  // returns its number; extent: dim
  int variable_extent(int var) const { return extents_[static_cast<std::size_t>(var)]; }
  int variables_made() const { return static_cast<int>(extents_.size()); }

  int variable(int var);
  int number(double v, dtype d);
  int index_value(int dim_id);  // a dim as an index
  int load(int operand, dtype stored, int element, bool safe, int condition = -1);
  int reduce(reduction kind, std::vector<int> vars, int body);
  int apply(scalar_op op, std::span<const int> args);
  int apply(scalar_op op, std::initializer_list<int> args) {
    return apply(op, std::span<const int>(args.begin(), args.size()));
  }
  int cast(int x, dtype d);

  int index_sum(int a, int b, int sign = 1);
  int index_scale(int a, int dim_id);
  int floor_div(int a, int dim_id);
  int modulo(int a, int dim_id);
  index_range range(int e);
  // True if 0 <= e < extent, provably.
  bool within(int e, int extent);

  // e with expressions in place of loop variables (-1: stays) and of single expressions.
  // A reduction's own variables are replaced with it (a loop that is split in two), or, with
  // keep_bound, left alone (a piece of the loop around it).
  struct substitution {
    std::vector<int> variables;
    bool keep_bound = false;
    std::unordered_map<int, int> exprs;
    std::unordered_map<int, int> done;
  };
  int substitute(int e, substitution& s);

  affine_form form_of(int e) const;  // of any index value
  bool is_index(int e) const { return (*this)[e].type == dtype::i32; }
  // An element address that is always inside its buffer needs no condition.
  bool safe(int load) const { return (*this)[load].v != 0; }
  bool is_zero(int e) const;
  // e is an element inside a node's shape: defined without any condition around it.
  void mark_defined(int e) { defined_[static_cast<std::size_t>(e)] = 1; }

  // Calls f(child) for the direct arguments of e, affine atoms included; a reduce gives its body.
  template <class F>
  void for_each_child(int e, F f) const {
    const expr_node& n = (*this)[e];
    if (n.op == scalar_op::extent) {
      for (const affine_term& t : affine(e).terms) f(t.atom);
    } else if (n.op == scalar_op::reduce) {
      f(reduction_of(e).body);
    } else {
      if (n.a >= 0) f(n.a);
      if (n.b >= 0) f(n.b);
      if (n.c >= 0) f(n.c);
    }
  }

 private:
  int put(const expr_node& n);
  int put_affine(affine_form f);
  void merge_divisions(affine_form& f);
  struct parts {
    int factor = -1, multiple = -1, rest = -1;
  };
  parts common_factor(int y, int d);
  int compare(scalar_op op, int a, int b);
  bool includes(int c, int a) const;
  bool depends(int e, int var) const;
  int without(int condition, const std::vector<int>& vars);
  int guard(int e, int condition, std::unordered_map<int, int>& done);

  struct hash {
    std::size_t operator()(const expr_node& n) const;
    std::size_t operator()(const affine_form& f) const;
  };
  dim_table& dims_;
  std::vector<expr_node> nodes_;
  std::vector<std::uint64_t> variables_;
  std::vector<char> reduces_, defined_;
  std::unordered_map<expr_node, int, hash> index_;
  std::vector<affine_form> forms_;
  std::unordered_map<affine_form, int, hash> form_index_;
  std::vector<reduce_record> reductions_;
  std::vector<int> extents_;
  std::unordered_map<int, index_range> ranges_;
};

// Element types as they are computed: f16 and bf16 in f32, u8 in i32.
constexpr dtype computed_type(dtype d) {
  if (d == dtype::f16 || d == dtype::bf16) return dtype::f32;
  if (d == dtype::u8) return dtype::i32;
  return d;
}

}  // namespace ropewalk
