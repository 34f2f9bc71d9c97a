// Polynomials of dims.
#include "lowering_dims.hpp"

#include <algorithm>

namespace ropewalk {
namespace {

std::uint64_t pair_key(int a, int b) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
         static_cast<std::uint32_t>(b);
}

void reduce(std::int64_t& num, std::int64_t& den) {
  if (den < 0) num = -num, den = -den;
  if (const std::int64_t g = detail::gcd(num, den); g > 1) num /= g, den /= g;
}

}  // namespace

int dim_table::of(std::int64_t n) {
  const auto [it, fresh] = numbers_.try_emplace(n, static_cast<int>(entries_.size()));
  if (fresh) {
    entry e{.fixed = true, .n = n, .terms = {}};
    if (n != 0) e.terms.push_back({.num = n, .den = 1, .f = {}});
    entries_.push_back(std::move(e));
  }
  return it->second;
}

int dim_table::of(const dim& d) {
  if (d.fixed()) return of(d.n);
  if (const auto it = texts_.find(std::string_view(d.sym)); it != texts_.end()) return it->second;
  const detail::dim_sum s = d.sum();
  std::vector<term> terms;
  for (int i = 0; i < s.terms; ++i) {
    term t{.num = s.t[i].num, .den = s.t[i].den, .f = {}};
    for (int k = 0; k < s.t[i].factors; ++k) {
      const std::string name = s.t[i].name[k];
      auto at = std::find(symbols_.begin(), symbols_.end(), name);
      if (at == symbols_.end()) at = symbols_.insert(at, name);
      t.f.push_back({static_cast<int>(at - symbols_.begin()), s.t[i].power[k]});
    }
    std::sort(t.f.begin(), t.f.end(), [](auto& a, auto& b) { return a.symbol < b.symbol; });
    accumulate(terms, t);
  }
  return texts_[d.sym] = intern(std::move(terms));
}

dim dim_table::value(int id) const {
  if (fixed(id)) return {number(id)};
  dim r = 0;
  for (const term& t : at(id).terms) {
    dim m = t.num;
    for (const factor& f : t.f)
      for (int p = 0; p < f.power; ++p)
        m = m * dim(symbols_[static_cast<std::size_t>(f.symbol)].c_str());
    for (const factor& f : t.f)
      for (int p = 0; p > f.power; --p)
        m = m / dim(symbols_[static_cast<std::size_t>(f.symbol)].c_str());
    if (t.den != 1) {
      detail::dim_sum s = m.sum();
      for (int i = 0; i < s.terms; ++i) s.t[i].den *= t.den, detail::reduce_fraction(s.t[i]);
      m = dim(s);
    }
    r = r + m;
  }
  return r;
}

void dim_table::accumulate(std::vector<term>& sum, const term& t) {
  if (t.num == 0) return;
  auto less = [](const term& a, const term& b) {
    return std::lexicographical_compare(
        a.f.begin(), a.f.end(), b.f.begin(), b.f.end(), [](const factor& x, const factor& y) {
          return x.symbol != y.symbol ? x.symbol < y.symbol : x.power < y.power;
        });
  };
  const auto at = std::lower_bound(sum.begin(), sum.end(), t, less);
  if (at == sum.end() || !(at->f == t.f)) {
    sum.insert(at, t);
    return;
  }
  at->num = at->num * t.den + t.num * at->den;
  at->den *= t.den;
  reduce(at->num, at->den);
  if (at->num == 0) sum.erase(at);
}

dim_table::term dim_table::product(const term& a, const term& b, int sign) {
  term r{.num = a.num * (sign > 0 ? b.num : b.den),
         .den = a.den * (sign > 0 ? b.den : b.num),
         .f = {}};
  reduce(r.num, r.den);
  std::size_t i = 0, j = 0;
  while (i < a.f.size() || j < b.f.size()) {
    if (j == b.f.size() || (i < a.f.size() && a.f[i].symbol < b.f[j].symbol)) {
      r.f.push_back(a.f[i++]);
    } else if (i == a.f.size() || b.f[j].symbol < a.f[i].symbol) {
      r.f.push_back({b.f[j].symbol, sign * b.f[j].power}), ++j;
    } else {
      const int p = a.f[i].power + sign * b.f[j].power;
      if (p != 0) r.f.push_back({a.f[i].symbol, p});
      ++i, ++j;
    }
  }
  return r;
}

int dim_table::intern(std::vector<term> terms) {
  if (terms.empty()) return of(std::int64_t{0});
  if (terms.size() == 1 && terms[0].f.empty() && terms[0].den == 1) return of(terms[0].num);
  std::string key;
  for (const term& t : terms) {
    key += std::to_string(t.num) + "/" + std::to_string(t.den);
    for (const factor& f : t.f)
      key += "," + std::to_string(f.symbol) + "^" + std::to_string(f.power);
    key += ";";
  }
  const auto [it, fresh] = keys_.try_emplace(key, static_cast<int>(entries_.size()));
  if (fresh) entries_.push_back({.fixed = false, .n = 0, .terms = std::move(terms)});
  return it->second;
}

int dim_table::add(int a, int b) {
  if (fixed(a) && fixed(b)) return of(number(a) + number(b));
  if (a > b) std::swap(a, b);
  const std::uint64_t k = pair_key(a, b);
  if (const auto it = sums_.find(k); it != sums_.end()) return it->second;
  std::vector<term> terms = at(a).terms;
  for (const term& t : at(b).terms) accumulate(terms, t);
  const int r = intern(std::move(terms));
  return sums_[k] = r;
}

int dim_table::mul(int a, int b) {
  if (fixed(a) && fixed(b)) return of(number(a) * number(b));
  if (a > b) std::swap(a, b);
  const std::uint64_t k = pair_key(a, b);
  if (const auto it = products_.find(k); it != products_.end()) return it->second;
  std::vector<term> terms;
  for (const term& x : at(a).terms)
    for (const term& y : at(b).terms) accumulate(terms, product(x, y, 1));
  const int r = intern(std::move(terms));
  return products_[k] = r;
}

int dim_table::divide(int a, int b) {
  if (fixed(a) && fixed(b)) {
    if (number(b) == 0 || number(a) % number(b) != 0) return -1;
    return of(number(a) / number(b));
  }
  const std::uint64_t k = pair_key(a, b);
  if (const auto it = quotients_.find(k); it != quotients_.end()) return it->second;
  int r = -1;
  if (a == b) {
    r = of(std::int64_t{1});
  } else if (at(b).terms.size() == 1) {
    std::vector<term> terms;
    bool whole = true;
    for (const term& x : at(a).terms) {
      const term q = product(x, at(b).terms[0], -1);
      // A power below what the dividend had is not a polynomial; a coefficient must stay whole
      // unless the dividend's was a fraction already ("T/2" is a dim).
      for (const factor& f : q.f) {
        int before = 0;
        for (const factor& g : x.f)
          if (g.symbol == f.symbol) before = g.power;
        if (f.power < 0 && f.power < before) whole = false;
      }
      if (q.den != 1 && q.den > x.den) whole = false;
      accumulate(terms, q);
    }
    if (whole) r = intern(std::move(terms));
  } else {
    // The quotient of two sums only where b is a common factor times one term.
    const entry& x = at(a);
    const entry& y = at(b);
    if (x.terms.size() == y.terms.size()) {
      const term q = product(x.terms[0], y.terms[0], -1);
      bool good = q.den == 1;
      for (const factor& f : q.f) good = good && f.power > 0;
      if (good) {
        std::vector<term> terms;
        accumulate(terms, q);
        const int id = intern(std::move(terms));
        if (mul(id, b) == a) r = id;
      }
    }
  }
  return quotients_[k] = r;
}

bool dim_table::nonnegative(int d) {
  if (fixed(d)) return number(d) >= 0;
  if (const auto it = nonnegative_.find(d); it != nonnegative_.end()) return it->second;
  // Each negative term is covered by positive terms whose monomials are multiples of its own.
  std::vector<term> positive;
  for (const term& t : at(d).terms)
    if (t.num > 0) positive.push_back(t);
  bool ok = true;
  for (const term& t : at(d).terms) {
    if (t.num > 0) continue;
    std::int64_t num = -t.num, den = t.den;
    for (term& p : positive) {
      if (num == 0) break;
      if (p.num == 0) continue;
      const term q = product(p, t, -1);
      if (std::any_of(q.f.begin(), q.f.end(), [](const factor& f) { return f.power < 0; }))
        continue;
      // take min(p, t) from both
      if (p.num * den >= num * p.den) {
        p.num = p.num * den - num * p.den;
        p.den *= den;
        reduce(p.num, p.den);
        num = 0;
      } else {
        num = num * p.den - p.num * den;
        den *= p.den;
        reduce(num, den);
        p.num = 0;
      }
    }
    if (num != 0) {
      ok = false;
      break;
    }
  }
  return nonnegative_[d] = ok;
}

double dim_table::guess(int id) const {
  if (fixed(id)) return static_cast<double>(number(id));
  double r = 0;
  for (const term& t : at(id).terms) {
    double m = static_cast<double>(t.num) / static_cast<double>(t.den);
    for (const factor& f : t.f) {
      for (int p = 0; p < f.power; ++p) m *= 256;
      for (int p = 0; p > f.power; --p) m /= 256;
    }
    r += m;
  }
  return r;
}

}  // namespace ropewalk
