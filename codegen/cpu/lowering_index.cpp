// Index arithmetic of the arena: affine forms, quotients, remainders, ranges.
#include <algorithm>

#include "lowering_arena.hpp"

namespace ropewalk {

affine_form arena::form_of(int e) const {
  if ((*this)[e].op == scalar_op::extent) return affine(e);
  return {.constant = dims_.of(std::int64_t{0}), .terms = {{e, dims_.of(std::int64_t{1})}}};
}

int arena::index_value(int dim_id) { return put_affine({.constant = dim_id, .terms = {}}); }

int arena::put_affine(affine_form f) {
  const int zero = dims_.of(std::int64_t{0}), one = dims_.of(std::int64_t{1});
  std::erase_if(f.terms, [&](const affine_term& t) { return t.coefficient == zero; });
  if (f.terms.size() == 1 && f.constant == zero && f.terms[0].coefficient == one)
    return f.terms[0].atom;
  const auto [it, fresh] = form_index_.try_emplace(f, static_cast<int>(forms_.size()));
  if (fresh) forms_.push_back(f);
  return put({.op = scalar_op::extent, .type = dtype::i32, .aux = it->second});
}

int arena::index_sum(int a, int b, int sign) {
  affine_form x = form_of(a);
  const affine_form y = form_of(b);
  auto signed_dim = [&](int d) { return sign > 0 ? d : dims_.mul(d, dims_.of(std::int64_t{-1})); };
  x.constant = dims_.add(x.constant, signed_dim(y.constant));
  for (const affine_term& t : y.terms) {
    const auto at = std::lower_bound(x.terms.begin(), x.terms.end(), t.atom,
                                     [](const affine_term& u, int atom) { return u.atom < atom; });
    if (at != x.terms.end() && at->atom == t.atom)
      at->coefficient = dims_.add(at->coefficient, signed_dim(t.coefficient));
    else
      x.terms.insert(at, {t.atom, signed_dim(t.coefficient)});
  }
  merge_divisions(x);
  return put_affine(std::move(x));
}

// k D floor(x / D) + k (x mod D) is k x, also under floors and remainders of a common divisor.
void arena::merge_divisions(affine_form& f) {
  const int zero = dims_.of(std::int64_t{0});
  for (bool again = true; again;) {
    again = false;
    std::erase_if(f.terms, [&](const affine_term& t) { return t.coefficient == zero; });
    for (std::size_t i = 0; i < f.terms.size() && !again; ++i) {
      const affine_term low = f.terms[i];
      const expr_node m = (*this)[low.atom];
      if (m.op != scalar_op::mod) continue;
      for (std::size_t j = 0; j < f.terms.size() && !again; ++j) {
        if (i == j) continue;
        const affine_term high = f.terms[j];
        if (high.coefficient != dims_.mul(low.coefficient, m.aux)) continue;
        const expr_node h = (*this)[high.atom];
        int merged = -1;
        if (high.atom == floor_div(m.a, m.aux)) {
          merged = m.a;
        } else if (h.op == scalar_op::mod && h.a == floor_div(m.a, m.aux)) {
          merged = modulo(m.a, dims_.mul(h.aux, m.aux));
        } else {
          continue;
        }
        f.terms.erase(f.terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        f.terms.erase(f.terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        const int sum = index_sum(put_affine(f), index_scale(merged, low.coefficient));
        f = form_of(sum);
        again = true;
      }
    }
  }
}

int arena::index_scale(int a, int dim_id) {
  affine_form x = form_of(a);
  x.constant = dims_.mul(x.constant, dim_id);
  for (affine_term& t : x.terms) t.coefficient = dims_.mul(t.coefficient, dim_id);
  return put_affine(std::move(x));
}

namespace {

// c = q D + r with 0 <= r < D for numbers; symbols go to q where D divides them.
std::pair<int, int> split_constant(dim_table& dims, int c, int d) {
  const int zero = dims.of(std::int64_t{0});
  if (dims.fixed(c) && dims.fixed(d)) {
    const std::int64_t n = dims.number(c), m = dims.number(d);
    std::int64_t q = n / m, r = n % m;
    if (r < 0) r += m, --q;
    return {dims.of(q), dims.of(r)};
  }
  if (const int q = dims.divide(c, d); q >= 0) return {q, zero};
  return {zero, c};
}

}  // namespace

// y as g x + r with 0 <= r < g, where the coefficient g divides d: then y / d is x / (d / g).
arena::parts arena::common_factor(int y, int d) {
  const int zero = dims_.of(std::int64_t{0}), one = dims_.of(std::int64_t{1});
  const affine_form f = form_of(y);
  for (const affine_term& t : f.terms) {
    const int g = dims_.nonnegative(t.coefficient)
                      ? t.coefficient
                      : dims_.mul(t.coefficient, dims_.of(std::int64_t{-1}));
    if (g == one || dims_.divide(d, g) < 0) continue;
    affine_form multiple{.constant = zero, .terms = {}}, rest{.constant = zero, .terms = {}};
    const auto [q, r] = split_constant(dims_, f.constant, g);
    multiple.constant = q, rest.constant = r;
    for (const affine_term& u : f.terms) {
      if (const int k = dims_.divide(u.coefficient, g); k >= 0)
        multiple.terms.push_back({u.atom, k});
      else
        rest.terms.push_back(u);
    }
    const int low = put_affine(std::move(rest));
    if (!within(low, g)) continue;
    return {g, put_affine(std::move(multiple)), low};
  }
  return {};
}

int arena::floor_div(int a, int d) {
  const int zero = dims_.of(std::int64_t{0}), one = dims_.of(std::int64_t{1});
  if (d == one) return a;
  const affine_form x = form_of(a);
  affine_form quotient{.constant = zero, .terms = {}}, rest{.constant = zero, .terms = {}};
  std::tie(quotient.constant, rest.constant) = split_constant(dims_, x.constant, d);
  for (const affine_term& t : x.terms) {
    if (const int q = dims_.divide(t.coefficient, d); q >= 0)
      quotient.terms.push_back({t.atom, q});
    else
      rest.terms.push_back(t);
  }
  const int r = put_affine(rest);
  const index_range bounds = range(r);
  if (bounds.low >= 0 && bounds.high >= 0 && dims_.nonnegative(bounds.low) &&
      dims_.at_least(d, dims_.add(bounds.high, one)))
    return put_affine(std::move(quotient));
  const bool splits = !(quotient.terms.empty() && quotient.constant == zero) && bounds.low >= 0 &&
                      dims_.nonnegative(bounds.low);
  const int whole = splits ? put_affine(std::move(quotient)) : -1;
  const int y = splits ? r : a;
  int q = -1;
  if ((*this)[y].op == scalar_op::floor_div) {
    q = floor_div((*this)[y].a, dims_.mul((*this)[y].aux, d));
  } else if ((*this)[y].op == scalar_op::mod && dims_.divide((*this)[y].aux, d) >= 0) {
    const expr_node m = (*this)[y];
    q = modulo(floor_div(m.a, d), dims_.divide(m.aux, d));
  } else {
    const parts f = common_factor(y, d);
    if (f.factor >= 0) q = floor_div(f.multiple, dims_.divide(d, f.factor));
    if (q < 0) q = put({.op = scalar_op::floor_div, .type = dtype::i32, .a = y, .aux = d});
  }
  return splits ? index_sum(whole, q) : q;
}

int arena::modulo(int a, int d) {
  const int zero = dims_.of(std::int64_t{0}), one = dims_.of(std::int64_t{1});
  if (d == one) return index_value(zero);
  const affine_form x = form_of(a);
  affine_form rest{.constant = split_constant(dims_, x.constant, d).second, .terms = {}};
  for (const affine_term& t : x.terms)
    if (dims_.divide(t.coefficient, d) < 0) rest.terms.push_back(t);
  const int r = put_affine(std::move(rest));
  const index_range bounds = range(r);
  const bool nonneg = bounds.low >= 0 && dims_.nonnegative(bounds.low);
  if (nonneg && bounds.high >= 0 && dims_.at_least(d, dims_.add(bounds.high, one))) return r;
  const int y = nonneg ? r : a;
  if ((*this)[y].op == scalar_op::mod && dims_.divide((*this)[y].aux, d) >= 0)
    return modulo((*this)[y].a, d);
  if (const parts f = common_factor(y, d); f.factor >= 0)
    return index_sum(index_scale(modulo(f.multiple, dims_.divide(d, f.factor)), f.factor), f.rest);
  return put({.op = scalar_op::mod, .type = dtype::i32, .a = y, .aux = d});
}

index_range arena::range(int e) {
  const expr_node n = (*this)[e];
  const int zero = dims_.of(std::int64_t{0}), minus = dims_.of(std::int64_t{-1});
  if (n.op == scalar_op::index) return {zero, dims_.add(variable_extent(n.aux), minus)};
  if (n.type != dtype::i32) return {};
  if (const auto it = ranges_.find(e); it != ranges_.end()) return it->second;
  index_range r;
  if (n.op == scalar_op::mod) {
    r = {zero, dims_.add(n.aux, minus)};
  } else if (n.op == scalar_op::floor_div) {
    const index_range x = range(n.a);
    if (x.low >= 0 && dims_.nonnegative(x.low)) {
      r.low = zero;
      if (x.high >= 0 && dims_.fixed(x.high) && dims_.fixed(n.aux)) {
        r.high = dims_.of(dims_.number(x.high) / dims_.number(n.aux));
      } else if (x.high >= 0) {
        const int count = dims_.divide(dims_.add(x.high, dims_.of(std::int64_t{1})), n.aux);
        if (count >= 0) r.high = dims_.add(count, minus);
      }
    }
  } else if (n.op == scalar_op::extent) {
    const affine_form f = affine(e);
    r = {f.constant, f.constant};
    for (const affine_term& t : f.terms) {
      const index_range x = range(t.atom);
      const bool positive = dims_.nonnegative(t.coefficient);
      const bool negative = !positive && dims_.nonnegative(dims_.mul(t.coefficient, minus));
      const int low = positive ? x.low : negative ? x.high : -1;
      const int high = positive ? x.high : negative ? x.low : -1;
      r.low = r.low < 0 || low < 0 ? -1 : dims_.add(r.low, dims_.mul(t.coefficient, low));
      r.high = r.high < 0 || high < 0 ? -1 : dims_.add(r.high, dims_.mul(t.coefficient, high));
    }
  } else if (n.op == scalar_op::select) {
    const index_range x = range(n.b), y = range(n.c);
    if (x.low >= 0 && y.low >= 0)
      r.low = dims_.at_least(x.low, y.low) ? y.low : dims_.at_least(y.low, x.low) ? x.low : -1;
    if (x.high >= 0 && y.high >= 0)
      r.high = dims_.at_least(x.high, y.high)   ? x.high
               : dims_.at_least(y.high, x.high) ? y.high
                                                : -1;
  }
  return ranges_[e] = r;
}

bool arena::within(int e, int extent) {
  const index_range r = range(e);
  return r.low >= 0 && r.high >= 0 && dims_.nonnegative(r.low) &&
         dims_.at_least(extent, dims_.add(r.high, dims_.of(std::int64_t{1})));
}

}  // namespace ropewalk
