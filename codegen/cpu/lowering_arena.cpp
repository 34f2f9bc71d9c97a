// The expression arena: hash-consing and the simplification of values.
#include "lowering_arena.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ropewalk {

std::size_t arena::hash::operator()(const expr_node& n) const {
  std::uint64_t h = static_cast<std::uint64_t>(n.op) * 31 + static_cast<std::uint64_t>(n.type);
  auto mix = [&](std::uint64_t x) { h = (h ^ x) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
  mix(static_cast<std::uint32_t>(n.a));
  mix(static_cast<std::uint32_t>(n.b));
  mix(static_cast<std::uint32_t>(n.c));
  mix(static_cast<std::uint32_t>(n.aux));
  mix(std::bit_cast<std::uint64_t>(n.v));
  return h;
}

std::size_t arena::hash::operator()(const affine_form& f) const {
  std::uint64_t h = static_cast<std::uint32_t>(f.constant);
  for (const affine_term& t : f.terms) {
    h = (h ^ static_cast<std::uint32_t>(t.atom)) * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 31) ^ static_cast<std::uint32_t>(t.coefficient)) * 0x9E3779B97F4A7C15ull;
  }
  return h;
}

int arena::put(const expr_node& n) {
  const auto [it, fresh] = index_.try_emplace(n, size());
  if (!fresh) return it->second;
  nodes_.push_back(n);
  std::uint64_t v = 0;
  const int e = size() - 1;
  if (n.op == scalar_op::index) v = bit(n.aux);
  bool with = n.op == scalar_op::reduce;
  for_each_child(e, [&](int k) {
    v |= variables(k);
    with = with || reduces(k);
  });
  reduces_.push_back(with ? 1 : 0);
  defined_.push_back(0);
  if (n.op == scalar_op::reduce)
    for (int r : reduction_of(e).vars)
      if (r < 62) v &= ~bit(r);
  variables_.push_back(v);
  return e;
}

int arena::new_variable(int extent) {
  extents_.push_back(extent);
  return variables_made() - 1;
}

int arena::variable(int var) {
  if (dims_.fixed(variable_extent(var)) && dims_.number(variable_extent(var)) == 1)
    return index_value(dims_.of(std::int64_t{0}));
  return put({.op = scalar_op::index, .type = dtype::i32, .aux = var});
}

int arena::number(double v, dtype d) {
  d = computed_type(d);
  if (d == dtype::i32) return index_value(dims_.of(static_cast<std::int64_t>(v)));
  if (d == dtype::f32) v = static_cast<float>(v);
  if (d == dtype::boolean) v = v != 0;
  return put({.op = scalar_op::constant, .type = d, .v = v});
}

int arena::load(int operand, dtype stored, int element, bool safe, int condition) {
  if (condition >= 0) {
    const expr_node& c = (*this)[condition];
    if (c.op == scalar_op::constant && c.v != 0)
      condition = -1;
    else if (c.op == scalar_op::constant)
      return number(0, stored);
  }
  return put({.op = scalar_op::load,
              .type = computed_type(stored),
              .a = element,
              .b = condition,
              .aux = operand,
              .v = safe ? 1.0 : 0.0});
}

int arena::reduce(reduction kind, std::vector<int> vars, int body) {
  std::erase_if(vars, [&](int v) {
    return dims_.fixed(variable_extent(v)) && dims_.number(variable_extent(v)) == 1;
  });
  if (vars.empty()) return body;
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    const reduce_record& r = reductions_[k];
    if (r.kind == kind && r.body == body && r.vars == vars)
      return put({.op = scalar_op::reduce, .type = (*this)[body].type, .aux = static_cast<int>(k)});
  }
  reductions_.push_back({kind, std::move(vars), body});
  return put({.op = scalar_op::reduce,
              .type = (*this)[body].type,
              .aux = static_cast<int>(reductions_.size()) - 1});
}

int arena::cast(int x, dtype d) {
  const dtype from = (*this)[x].type;
  const bool rounds = d == dtype::f16 || d == dtype::bf16 || d == dtype::u8;
  if (!rounds && computed_type(d) == from) return x;
  if ((*this)[x].op == scalar_op::constant && !rounds)
    return number(d == dtype::i32 ? std::trunc((*this)[x].v) : (*this)[x].v, d);
  if ((*this)[x].op == scalar_op::extent && affine(x).terms.empty() &&
      dims_.fixed(affine(x).constant) && !rounds)
    return number(static_cast<double>(dims_.number(affine(x).constant)), d);
  // aux: the type rounded to, where it is not the type computed in
  return put({.op = scalar_op::cast,
              .type = computed_type(d),
              .a = x,
              .aux = rounds ? static_cast<int>(d) : -1});
}

namespace {

bool fold(scalar_op op, const double* x, dtype d, double& r) {
  switch (op) {
    case scalar_op::add:
      r = x[0] + x[1];
      break;
    case scalar_op::sub:
      r = x[0] - x[1];
      break;
    case scalar_op::mul:
      r = x[0] * x[1];
      break;
    case scalar_op::div:
      r = x[0] / x[1];
      break;
    case scalar_op::min:
      r = x[0] < x[1] ? x[0] : x[1];
      break;
    case scalar_op::max:
      r = x[0] > x[1] ? x[0] : x[1];
      break;
    case scalar_op::pow:
      r = std::pow(x[0], x[1]);
      break;
    case scalar_op::neg:
      r = -x[0];
      break;
    case scalar_op::abs:
      r = std::fabs(x[0]);
      break;
    case scalar_op::exp:
      r = std::exp(x[0]);
      break;
    case scalar_op::log:
      r = std::log(x[0]);
      break;
    case scalar_op::sqrt:
      r = std::sqrt(x[0]);
      break;
    case scalar_op::rsqrt:
      r = 1 / std::sqrt(x[0]);
      break;
    case scalar_op::eq:
      r = x[0] == x[1];
      break;
    case scalar_op::lt:
      r = x[0] < x[1];
      break;
    case scalar_op::le:
      r = x[0] <= x[1];
      break;
    case scalar_op::logical_and:
      r = x[0] != 0 && x[1] != 0;
      break;
    case scalar_op::logical_or:
      r = x[0] != 0 || x[1] != 0;
      break;
    case scalar_op::logical_not:
      r = x[0] == 0;
      break;
    default:
      return false;
  }
  if (d == dtype::f32) r = static_cast<float>(r);
  return true;
}

}  // namespace

int arena::compare(scalar_op op, int a, int b) {
  if (!is_index(a) || !is_index(b)) return put({.op = op, .type = dtype::boolean, .a = a, .b = b});
  const int zero = dims_.of(std::int64_t{0}), minus = dims_.of(std::int64_t{-1});
  if (op == scalar_op::eq) {
    const index_range r = range(index_sum(a, b, -1));
    const bool above = r.low >= 0 && dims_.at_least(r.low, dims_.of(std::int64_t{1}));
    const bool below = r.high >= 0 && dims_.at_least(minus, r.high);
    if (above || below) return number(0, dtype::boolean);
    if (a == b) return number(1, dtype::boolean);
    return put({.op = op, .type = dtype::boolean, .a = a, .b = b});
  }
  // a <= b is a < b + 1; a < b is f < 0 with f = a - b; where f = g x + r, 0 <= r < g, it is x < 0.
  int f = index_sum(a, b, -1);
  if (op == scalar_op::le) f = index_sum(f, index_value(minus));
  for (bool again = true; again;) {
    again = false;
    for (const affine_term& t : form_of(f).terms) {
      const int g =
          dims_.nonnegative(t.coefficient) ? t.coefficient : dims_.mul(t.coefficient, minus);
      if (g == dims_.of(std::int64_t{1})) continue;
      if (const parts p = common_factor(f, g); p.factor >= 0) {
        f = p.multiple;
        again = true;
        break;
      }
    }
  }
  const index_range r = range(f);
  if (r.high >= 0 && dims_.at_least(minus, r.high)) return number(1, dtype::boolean);
  if (r.low >= 0 && dims_.nonnegative(r.low)) return number(0, dtype::boolean);
  const affine_form form = form_of(f);
  return put({.op = scalar_op::lt,
              .type = dtype::boolean,
              .a = index_sum(f, index_value(form.constant), -1),
              .b = index_value(dims_.sub(zero, form.constant))});
}

bool arena::depends(int e, int var) const {
  if ((variables(e) & bit(var)) == 0) return false;
  if (var < 62) return true;
  if ((*this)[e].op == scalar_op::index) return (*this)[e].aux == var;
  bool found = false;
  for_each_child(e, [&](int k) { found = found || depends(k, var); });
  return found;
}

// The part of a condition that does not depend on any of the variables; -1: none.
int arena::without(int condition, const std::vector<int>& vars) {
  if (std::none_of(vars.begin(), vars.end(), [&](int v) { return depends(condition, v); }))
    return condition;
  const expr_node n = (*this)[condition];
  if (n.op != scalar_op::logical_and) return -1;
  const int a = without(n.a, vars), b = without(n.b, vars);
  return a < 0 ? b : b < 0 ? a : apply(scalar_op::logical_and, {a, b});
}

int arena::guard(int e, int condition, std::unordered_map<int, int>& done) {
  if (defined_[static_cast<std::size_t>(e)]) return e;
  if (const auto it = done.find(e); it != done.end()) return it->second;
  const expr_node n = (*this)[e];
  int r = e;
  if (n.op == scalar_op::load) {
    // What the element and an earlier condition load is guarded as well.
    expr_node m = n;
    m.a = guard(n.a, condition, done);
    if (n.b >= 0) m.b = guard(n.b, condition, done);
    if (!safe(e)) m.b = m.b < 0 ? condition : apply(scalar_op::logical_and, {condition, m.b});
    if (m.b >= 0 && (*this)[m.b].op == scalar_op::constant) {
      if ((*this)[m.b].v == 0) return done[e] = number(0, n.type);
      m.b = -1;
    }
    r = put(m);
  } else if (n.op == scalar_op::extent) {
    affine_form f = affine(e);
    bool changed = false;
    for (affine_term& t : f.terms) {
      const int k = guard(t.atom, condition, done);
      changed = changed || k != t.atom;
      t.atom = k;
    }
    if (changed) {
      r = index_value(f.constant);
      for (const affine_term& t : f.terms) r = index_sum(r, index_scale(t.atom, t.coefficient));
    }
  } else if (n.op == scalar_op::reduce) {
    // A condition on the loop variable outside says nothing about the reduction's own loop, and
    // nothing is lost without it: whether a value may be read depends on what the value depends on.
    const reduce_record rec = reduction_of(e);
    if (const int outside = without(condition, rec.vars); outside >= 0) {
      std::unordered_map<int, int> inner;
      const int body = guard(rec.body, outside, outside == condition ? done : inner);
      if (body != rec.body) r = reduce(rec.kind, rec.vars, body);
    }
  } else if (n.a >= 0) {
    expr_node m = n;
    m.a = guard(n.a, condition, done);
    if (n.b >= 0) m.b = guard(n.b, condition, done);
    if (n.c >= 0) m.c = guard(n.c, condition, done);
    if (!(m == n)) r = put(m);
  }
  return done[e] = r;
}

bool arena::is_zero(int e) const {
  const expr_node& n = (*this)[e];
  if (n.op == scalar_op::constant) return n.v == 0 && !std::signbit(n.v);
  return n.op == scalar_op::extent && affine(e).terms.empty() &&
         affine(e).constant == dims_.of(std::int64_t{0});
}

// Whether the condition a is one of those that c is made of by "and".
bool arena::includes(int c, int a) const {
  if (c == a) return true;
  const expr_node& n = (*this)[c];
  return n.op == scalar_op::logical_and && (includes(n.a, a) || includes(n.b, a));
}

int arena::apply(scalar_op op, std::span<const int> args) {
  const int a = args[0], b = args.size() > 1 ? args[1] : -1, c = args.size() > 2 ? args[2] : -1;
  const dtype d = (*this)[a].type;
  auto constant = [&](int e, double v) {
    return e >= 0 && (*this)[e].op == scalar_op::constant && (*this)[e].v == v;
  };
  auto known = [&](int e) { return e < 0 || (*this)[e].op == scalar_op::constant; };

  if (op == scalar_op::select) {
    if (known(a)) return (*this)[a].v != 0 ? b : c;
    std::unordered_map<int, int> yes, no;
    const int x = guard(b, a, yes);
    const int y = guard(c, apply(scalar_op::logical_not, {a}), no);
    if (x == y) return x;
    // A guarded load gives zero by itself.
    if (is_zero(y) && (*this)[x].op == scalar_op::load && (*this)[x].b == a) return x;
    return put({.op = op, .type = (*this)[b].type, .a = a, .b = x, .c = y});
  }
  if (d == dtype::i32) {
    auto whole = [&](int e, std::int64_t& v) {
      const affine_form f = form_of(e);
      if (!f.terms.empty() || !dims_.fixed(f.constant)) return false;
      v = dims_.number(f.constant);
      return true;
    };
    std::int64_t x = 0, y = 0;
    switch (op) {
      case scalar_op::add:
        return index_sum(a, b);
      case scalar_op::sub:
        return index_sum(a, b, -1);
      case scalar_op::neg:
        return index_scale(a, dims_.of(std::int64_t{-1}));
      case scalar_op::mul:
        if (const affine_form f = form_of(b); f.terms.empty()) return index_scale(a, f.constant);
        if (const affine_form f = form_of(a); f.terms.empty()) return index_scale(b, f.constant);
        break;
      case scalar_op::floor_div:
        if (const affine_form f = form_of(b); f.terms.empty()) return floor_div(a, f.constant);
        break;
      case scalar_op::mod:
        if (const affine_form f = form_of(b); f.terms.empty()) return modulo(a, f.constant);
        break;
      case scalar_op::min:
      case scalar_op::max:
        if (a == b) return a;
        if (whole(a, x) && whole(b, y))
          return index_value(dims_.of(op == scalar_op::min ? std::min(x, y) : std::max(x, y)));
        break;
      default:
        break;
    }
  }
  const bool compares = op == scalar_op::eq || op == scalar_op::lt || op == scalar_op::le;
  if (compares && !(known(a) && known(b))) return compare(op, a, b);
  if (known(a) && known(b) && d != dtype::i32) {
    const double x[2] = {(*this)[a].v, b >= 0 ? (*this)[b].v : 0};
    double r = 0;
    const bool boolean = op >= scalar_op::eq && op <= scalar_op::logical_not;
    if (fold(op, x, boolean ? dtype::boolean : d, r))
      return number(r, boolean ? dtype::boolean : d);
  }
  switch (op) {
    case scalar_op::add:
      if (constant(a, 0)) return b;
      if (constant(b, 0)) return a;
      if ((*this)[b].op == scalar_op::neg) return apply(scalar_op::sub, {a, (*this)[b].a});
      break;
    case scalar_op::sub:
      if (constant(b, 0)) return a;
      if (constant(a, 0)) return apply(scalar_op::neg, {b});
      if ((*this)[b].op == scalar_op::neg) return apply(scalar_op::add, {a, (*this)[b].a});
      break;
    case scalar_op::mul:
      if (constant(a, 1)) return b;
      if (constant(b, 1)) return a;
      if (constant(a, -1)) return apply(scalar_op::neg, {b});
      if (constant(b, -1)) return apply(scalar_op::neg, {a});
      break;
    case scalar_op::div:
      if (constant(b, 1)) return a;
      if (known(b) && is_floating(d)) {
        // A power of two divides exactly by multiplying.
        int e = 0;
        if (std::fabs(std::frexp((*this)[b].v, &e)) == 0.5 && std::abs(e) < 100)
          return apply(scalar_op::mul, {a, number(1 / (*this)[b].v, d)});
      }
      break;
    case scalar_op::pow:
      if (constant(b, 1)) return a;
      if (constant(b, 2)) return apply(scalar_op::mul, {a, a});
      if (constant(b, 3)) return apply(scalar_op::mul, {apply(scalar_op::mul, {a, a}), a});
      if (constant(b, -1)) return apply(scalar_op::div, {number(1, d), a});
      break;
    case scalar_op::neg:
      if ((*this)[a].op == scalar_op::neg) return (*this)[a].a;
      break;
    case scalar_op::logical_and:
      if (constant(a, 0) || constant(b, 1) || a == b) return a;
      if (constant(b, 0) || constant(a, 1)) return b;
      if (includes(b, a)) return b;
      if (includes(a, b)) return a;
      return put({.op = op, .type = dtype::boolean, .a = a, .b = b});
    case scalar_op::logical_or:
      if (constant(a, 1) || constant(b, 0) || a == b) return a;
      if (constant(b, 1) || constant(a, 0)) return b;
      return put({.op = op, .type = dtype::boolean, .a = a, .b = b});
    case scalar_op::logical_not:
      if ((*this)[a].op == scalar_op::logical_not) return (*this)[a].a;
      return put({.op = op, .type = dtype::boolean, .a = a});
    case scalar_op::random:
      return put({.op = op, .type = dtype::f32, .a = a, .b = b, .c = c});
    default:
      break;
  }
  return put({.op = op, .type = d, .a = a, .b = b, .c = c});
}

int arena::substitute(int e, substitution& s) {
  if (const auto it = s.exprs.find(e); it != s.exprs.end()) return it->second;
  if (const auto it = s.done.find(e); it != s.done.end()) return it->second;
  const expr_node n = (*this)[e];
  int r = e;
  switch (n.op) {
    case scalar_op::constant:
      break;
    case scalar_op::index:
      if (static_cast<std::size_t>(n.aux) < s.variables.size() &&
          s.variables[static_cast<std::size_t>(n.aux)] >= 0)
        r = s.variables[static_cast<std::size_t>(n.aux)];
      break;
    case scalar_op::extent: {
      const affine_form f = affine(e);
      std::vector<int> atoms;
      bool changed = false;
      for (const affine_term& t : f.terms) {
        atoms.push_back(substitute(t.atom, s));
        changed = changed || atoms.back() != t.atom;
      }
      if (!changed) break;
      affine_form all{.constant = f.constant, .terms = {}};
      r = index_value(f.constant);
      for (std::size_t k = 0; k < atoms.size(); ++k)
        r = index_sum(r, index_scale(atoms[k], f.terms[k].coefficient));
      break;
    }
    case scalar_op::reduce: {
      const reduce_record rec = reduction_of(e);
      auto replaced = [&](int v) {
        return static_cast<std::size_t>(v) < s.variables.size() &&
               s.variables[static_cast<std::size_t>(v)] >= 0;
      };
      if (s.keep_bound && std::any_of(rec.vars.begin(), rec.vars.end(), replaced)) {
        substitution inner{
            .variables = s.variables, .keep_bound = true, .exprs = s.exprs, .done = {}};
        for (int v : rec.vars)
          if (replaced(v)) inner.variables[static_cast<std::size_t>(v)] = -1;
        const int body = substitute(rec.body, inner);
        r = body == rec.body ? e : reduce(rec.kind, rec.vars, body);
        break;
      }
      const int body = substitute(rec.body, s);
      std::vector<int> vars;
      bool changed = body != rec.body;
      for (int v : rec.vars) {
        const int to = static_cast<std::size_t>(v) < s.variables.size()
                           ? s.variables[static_cast<std::size_t>(v)]
                           : -1;
        if (to < 0) {
          vars.push_back(v);
          continue;
        }
        changed = true;
        // The variables of the affine form that replaces v.
        for (const affine_term& t : form_of(to).terms)
          if ((*this)[t.atom].op == scalar_op::index) vars.push_back((*this)[t.atom].aux);
      }
      if (changed) r = reduce(rec.kind, vars, body);
      break;
    }
    case scalar_op::select: {  // its loads are guarded already
      const int c = substitute(n.a, s);
      if ((*this)[c].op == scalar_op::constant) {
        r = substitute((*this)[c].v != 0 ? n.b : n.c, s);
        break;
      }
      const int x = substitute(n.b, s), y = substitute(n.c, s);
      r = x == y ? x : put({.op = n.op, .type = n.type, .a = c, .b = x, .c = y});
      break;
    }
    case scalar_op::floor_div:
      r = floor_div(substitute(n.a, s), n.aux);
      break;
    case scalar_op::mod:
      r = modulo(substitute(n.a, s), n.aux);
      break;
    case scalar_op::load: {
      const int at = substitute(n.a, s);
      const int condition = n.b < 0 ? -1 : substitute(n.b, s);
      if (condition >= 0 && (*this)[condition].op == scalar_op::constant) {
        r = (*this)[condition].v != 0
                ? put({.op = n.op, .type = n.type, .a = at, .b = -1, .aux = n.aux, .v = n.v})
                : number(0, n.type);
      } else {
        r = put({.op = n.op, .type = n.type, .a = at, .b = condition, .aux = n.aux, .v = n.v});
      }
      break;
    }
    case scalar_op::cast: {
      const int x = substitute(n.a, s);
      r = n.aux >= 0 ? cast(x, static_cast<dtype>(n.aux)) : cast(x, n.type);
      break;
    }
    default: {
      int args[3], k = 0;
      if (n.a >= 0) args[k++] = substitute(n.a, s);
      if (n.b >= 0) args[k++] = substitute(n.b, s);
      if (n.c >= 0) args[k++] = substitute(n.c, s);
      r = apply(n.op, std::span<const int>(args, static_cast<std::size_t>(k)));
    }
  }
  return s.done[e] = r;
}

}  // namespace ropewalk
