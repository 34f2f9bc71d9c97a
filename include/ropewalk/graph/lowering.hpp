// The scalar language that pull ops are lowered to, and that every emitter prints.
//
// An op says what ONE element of its result is: out[i0, i1, ...] = expression of elements of its
// inputs, index arithmetic, and reductions over further indices. Example (permute):
//   scalar lower(lowering& l) { return l.in(0, {l.index(1), l.index(0)}); }
// and a row sum:
//   scalar lower(lowering& l) {
//     return l.reduce(reduction::sum, {l.extent(0, 1)},
//                     [&](std::span<const scalar> r) { return l.in(0, {l.index(0), r[0]}); });
//   }
#pragma once
#include <initializer_list>
#include <span>
#include <vector>

#include "ropewalk/graph/op.hpp"

namespace ropewalk {

enum class scalar_op : std::uint8_t {
  constant,  // a number
  extent,    // the value of a dim
  index,     // a loop index
  load,      // an element of an input
  reduce,    // over further loop indices
  add, sub, mul, div, min, max, pow,         // arithmetic; div is exact on floats
  floor_div, mod,                             // indices only, non-negative
  neg, abs, exp, log, sqrt, rsqrt, sin, cos, tanh, erf,
  eq, lt, le, logical_and, logical_or, logical_not,  // bool results
  select,                                     // c ? a : b, only the chosen load is read
  cast,                                       // to the expression's type
  random,                                     // (seed, counter) -> uniform f32 in [0, 1), Philox
};

enum class reduction : std::uint8_t { sum, max, min, argmax };  // argmax: i32, lowest index wins

// A handle to an expression of the scalar language. Arithmetic on handles builds expressions.
struct scalar {
  lowering* owner = nullptr;
  int id = -1;
};

// What an op's `lower` talks to. One object per lowered node; implemented by the generator.
class lowering {
 public:
  // A reference to a callable scalar(std::span<const scalar>), valid during the call it is passed to.
  class body {
   public:
    template <class F>
    body(const F& f)  // NOLINT: implicit, lambdas are passed as they are
        : object_(&f), call_([](const void* o, std::span<const scalar> r) {
            return (*static_cast<const F*>(o))(r);
          }) {}
    scalar operator()(std::span<const scalar> r) const { return call_(object_, r); }

   private:
    const void* object_;
    scalar (*call_)(const void*, std::span<const scalar>);
  };
  virtual ~lowering() = default;

  virtual const attrs& options() const = 0;
  virtual const tensor_type& type() const = 0;              // of the result
  virtual const tensor_type& type(int input) const = 0;
  virtual int inputs() const = 0;

  virtual scalar index(int axis) = 0;                        // of the result element
  virtual scalar extent(const dim& d) = 0;                   // a dim as an index value
  virtual scalar number(double v, dtype d) = 0;
  virtual scalar in(int input, std::span<const scalar> at) = 0;
  virtual scalar reduce(reduction kind, std::span<const dim> extents, const body& f) = 0;
  virtual scalar apply(scalar_op op, std::span<const scalar> args) = 0;
  virtual scalar cast(scalar x, dtype d) = 0;
  virtual dtype type_of(scalar x) const = 0;

  scalar in(int input, std::initializer_list<scalar> at) {
    return in(input, std::span<const scalar>(at.begin(), at.size()));
  }
  // The element of an input that NumPy broadcasting pairs with this result element.
  scalar arg(int input) {
    const shape& s = type(input).s;
    std::vector<scalar> at;
    for (int a = 0; a < s.rank; ++a)
      at.push_back(s[a] == dim(1) ? number(0, dtype::i32) : index(a + type().s.rank - s.rank));
    return in(input, at);
  }
  scalar reduce(reduction kind, std::initializer_list<dim> extents, const body& f) {
    return reduce(kind, std::span<const dim>(extents.begin(), extents.size()), f);
  }
  scalar extent(int input, int axis) { return extent(type(input).s[axis]); }
  scalar apply(scalar_op op, std::initializer_list<scalar> args) {
    return apply(op, std::span<const scalar>(args.begin(), args.size()));
  }
};

// A number beside an expression takes the expression's type.
inline scalar number_like(scalar x, double v) {
  return x.owner->number(v, x.owner->type_of(x));
}

inline scalar operator+(scalar a, scalar b) { return a.owner->apply(scalar_op::add, {a, b}); }
inline scalar operator-(scalar a, scalar b) { return a.owner->apply(scalar_op::sub, {a, b}); }
inline scalar operator*(scalar a, scalar b) { return a.owner->apply(scalar_op::mul, {a, b}); }
inline scalar operator/(scalar a, scalar b) { return a.owner->apply(scalar_op::div, {a, b}); }
inline scalar operator-(scalar a) { return a.owner->apply(scalar_op::neg, {a}); }
inline scalar operator+(scalar a, double b) { return a + number_like(a, b); }
inline scalar operator-(scalar a, double b) { return a - number_like(a, b); }
inline scalar operator*(scalar a, double b) { return a * number_like(a, b); }
inline scalar operator/(scalar a, double b) { return a / number_like(a, b); }
inline scalar operator+(double a, scalar b) { return number_like(b, a) + b; }
inline scalar operator-(double a, scalar b) { return number_like(b, a) - b; }
inline scalar operator*(double a, scalar b) { return number_like(b, a) * b; }
inline scalar operator/(double a, scalar b) { return number_like(b, a) / b; }
inline scalar operator<(scalar a, scalar b) { return a.owner->apply(scalar_op::lt, {a, b}); }
inline scalar operator<=(scalar a, scalar b) { return a.owner->apply(scalar_op::le, {a, b}); }
inline scalar operator==(scalar a, scalar b) { return a.owner->apply(scalar_op::eq, {a, b}); }
inline scalar operator&&(scalar a, scalar b) {
  return a.owner->apply(scalar_op::logical_and, {a, b});
}
inline scalar operator||(scalar a, scalar b) {
  return a.owner->apply(scalar_op::logical_or, {a, b});
}
inline scalar operator!(scalar a) { return a.owner->apply(scalar_op::logical_not, {a}); }
inline scalar select(scalar c, scalar a, scalar b) {
  return c.owner->apply(scalar_op::select, {c, a, b});
}

// Where the element of this result lies in a row-major tensor of shape `from` with as many elements:
// linear in `to` (the result's shape), taken apart in `from`, group by group where products of dims
// agree. Implemented by the generator.
std::vector<scalar> reshape_index(lowering& l, const shape& to, const shape& from);

}  // namespace ropewalk
