// attention in float64: plain loops over rows and keys, the score of each pair by its definition.
#include <limits>
#include <vector>

#include "attention_call.hpp"

namespace ropewalk::op {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::uint64_t key_of(const dense& d) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(d.v[0])) |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(d.v[1])))
             << 32;
}

// A row: query j of head h of batch item b, at key position p.
struct row {
  std::int64_t b, h, j, p;
  std::size_t q, out, lse;  // where its elements start
};
// One of its keys: the score after each stage, and where its elements start.
struct pair {
  bool seen = false;
  double dot = 0, capped = 0, bias = 0, score = -infinity;  // bias: the mask, without the slope
  std::size_t k = 0, v = 0, mask = 0;
};

class dense_attention {
 public:
  explicit dense_attention(const reference_call& call)
      : c_(call),
        s_(call.in[0]->extent, call.in[1]->extent, call.in[2]->extent, call.in[0]->extent.size()) {
    window_ = attention_window(c_.a);
    const dense* scale = operand(attention_operand::scale);
    scale_ = scale != nullptr                         ? scale->v[0]
             : (c_.a.i[0] & attention_has_scale) != 0 ? c_.a.f[0]
                                                      : 1 / std::sqrt(static_cast<double>(s_.dk));
    mask_ = operand(attention_operand::mask);
    slopes_ = operand(attention_operand::slopes);
    sinks_ = operand(attention_operand::sinks);
    lengths_ = operand(attention_operand::lengths);
    documents_ = operand(attention_operand::documents);
    start_ = operand(attention_operand::start);
    key_ = operand(attention_operand::dropout);
    const auto values = [](const dense* d) { return [d](std::int64_t i) { return d->v[at(i)]; }; };
    const auto size = [](const dense* d) { return static_cast<std::int64_t>(d->v.size()); };
    if (lengths_) check_attention_lengths(size(lengths_), s_.tk, values(lengths_));
    if (start_) check_attention_start(size(start_), s_.tq, s_.tk, values(start_));
    if (documents_) check_attention_documents(size(documents_), s_.tk, values(documents_));
    if (operand(attention_operand::cosine)) check_attention_rope(s_.tq, s_.tk);
    q_ = rotated(0, s_.heads, s_.tq, 1), k_ = rotated(1, s_.groups, s_.tk, 1);
  }

  const attention_sizes& sizes() const { return s_; }
  double scale() const { return scale_; }
  double cap() const { return c_.a.f[1]; }
  const dense* operand(attention_operand k) const {
    const int i = attention_input(c_.a, k);
    return i < 0 ? nullptr : c_.in[at(i)];
  }
  // q and k as they meet in the scores.
  const std::vector<double>& q() const { return q_; }
  const std::vector<double>& k() const { return k_; }

  template <class F>
  void for_each_row(F f) const {
    for (std::int64_t b = 0; b < s_.batch; ++b)
      for (std::int64_t h = 0; h < s_.heads; ++h)
        for (std::int64_t j = 0; j < s_.tq; ++j) {
          const std::int64_t r = (b * s_.heads + h) * s_.tq + j;
          f(row{b, h, j, position(b, j), at(r * s_.dk), at(r * s_.dv), at(r)});
        }
  }

  double slope(std::int64_t h) const { return slopes_ ? slopes_->v[at(h)] : 1; }
  double sink(std::int64_t h) const { return sinks_ ? sinks_->v[at(h)] : -infinity; }

  pair score(const row& r, std::int64_t n) const {
    pair x;
    x.mask = mask_at(r, n);
    if (!visible(r, n) || (mask_ && mask_->v[x.mask] == -infinity)) return x;
    x.seen = true;
    const std::int64_t group = r.h / (s_.heads / s_.groups);
    const std::int64_t key = (r.b * s_.groups + group) * s_.tk + n;
    x.k = at(key * s_.dk), x.v = at(key * s_.dv);
    for (std::int64_t d = 0; d < s_.dk; ++d) x.dot += q_[r.q + at(d)] * k_[x.k + at(d)];
    x.capped = scale_ * x.dot;
    if (cap() > 0) x.capped = cap() * std::tanh(x.capped / cap());
    if (mask_) x.bias = mask_->v[x.mask];
    if ((c_.a.i[0] & attention_distance_bias) != 0)
      x.bias = -std::fabs(static_cast<double>(r.p - n));
    x.score = x.capped + slope(r.h) * x.bias;
    return x;
  }

  // The factor of a probability: 1, or what dropout makes of it.
  double keep(const row& r, std::int64_t n) const {
    if (key_ == nullptr || key_->v[2] == 0) return 1;
    return attention_keep_factor(key_of(*key_), c_.a.f[2], static_cast<std::int64_t>(r.lse), n);
  }

  // x (q or k: input I) rotated, or rotated back (sign -1).
  std::vector<double> rotated(std::vector<double> x, std::int64_t heads, std::int64_t rows,
                              bool keys, double sign) const {
    const dense *cosine = operand(attention_operand::cosine),
                *sine = operand(attention_operand::sine);
    if (cosine == nullptr) return x;
    const std::int64_t half = cosine->extent[1], offset = c_.a.d[1].n;
    const bool interleaved = (c_.a.i[0] & attention_interleaved) != 0;
    for (std::int64_t b = 0; b < s_.batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t j = 0; j < rows; ++j)
          for (std::int64_t i = 0; i < half; ++i) {
            const std::int64_t base = ((b * heads + h) * rows + j) * s_.dk + offset;
            double& u = x[at(base + (interleaved ? 2 * i : i))];
            double& w = x[at(base + (interleaved ? 2 * i + 1 : i + half))];
            const std::size_t t = at((keys ? j : position(b, j)) * half + i);
            const double cs = cosine->v[t], sn = sign * sine->v[t], first = u;
            u = first * cs - w * sn;
            w = w * cs + first * sn;
          }
    return x;
  }

 private:
  std::vector<double> rotated(std::size_t input, std::int64_t heads, std::int64_t rows,
                              double sign) const {
    return rotated(c_.in[input]->v, heads, rows, input == 1, sign);
  }
  std::int64_t position(std::int64_t b, std::int64_t j) const {
    if (start_ == nullptr) return s_.tk - s_.tq + j;
    return static_cast<std::int64_t>(of_item(start_, b)) + j;
  }
  static double of_item(const dense* d, std::int64_t b) {
    return d->v[d->v.size() == 1 ? 0 : at(b)];
  }
  bool visible(const row& r, std::int64_t n) const {
    const bool causal = (c_.a.i[0] & attention_causal) != 0;
    if (causal && n > r.p) return false;
    if (window_ > 0 && std::abs(r.p - n) >= window_) return false;
    if (lengths_ && static_cast<double>(n) >= of_item(lengths_, r.b)) return false;
    return documents_ == nullptr || (document(n) >= 0 && document(n) == document(r.p));
  }
  // The document of a position; -1 in none.
  std::int64_t document(std::int64_t p) const {
    for (std::size_t i = 0; i + 1 < documents_->v.size(); ++i)
      if (documents_->v[i] <= static_cast<double>(p) &&
          static_cast<double>(p) < documents_->v[i + 1])
        return static_cast<std::int64_t>(i);
    return -1;
  }
  std::size_t mask_at(const row& r, std::int64_t n) const {
    if (mask_ == nullptr) return 0;
    const auto& e = mask_->extent;
    const std::size_t rank = e.size();
    const std::int64_t heads = rank >= 3 ? e[rank - 3] : 1;
    const std::int64_t b = rank >= 4 && e[0] > 1 ? r.b : 0, h = heads > 1 ? r.h : 0;
    return at(((b * heads + h) * s_.tq + r.j) * s_.tk + n);
  }

  const reference_call& c_;
  attention_sizes s_;
  std::int64_t window_ = 0;
  double scale_ = 1;
  const dense *mask_, *slopes_, *sinks_, *lengths_, *documents_, *start_, *key_;
  std::vector<double> q_, k_;
};

}  // namespace

void attention_family::reference(const reference_call& c) {
  const dense_attention a(c);
  const std::int64_t tk = a.sizes().tk, dv = a.sizes().dv;
  a.for_each_row([&](const row& r) {
    double top = a.sink(r.h), total = 0;
    for (std::int64_t n = 0; n < tk; ++n) top = std::max(top, a.score(r, n).score);
    double& lse = c.out[1].v[r.lse];
    lse = top;
    if (top == -infinity) return;
    total = std::exp(a.sink(r.h) - top);
    for (std::int64_t n = 0; n < tk; ++n) total += std::exp(a.score(r, n).score - top);
    lse = top + std::log(total);
    for (std::int64_t n = 0; n < tk; ++n) {
      const pair x = a.score(r, n);
      if (!x.seen) continue;
      const double p = std::exp(x.score - top) / total * a.keep(r, n);
      for (std::int64_t d = 0; d < dv; ++d)
        c.out[0].v[r.out + at(d)] += p * c.in[2]->v[x.v + at(d)];
    }
  });
}

void attention_backward_family::reference(const reference_call& c) {
  const dense_attention a(c);
  const auto first = static_cast<std::size_t>(attention_inputs(c.a));
  const auto &v = c.in[2]->v, &out = c.in[first]->v, &lse = c.in[first + 1]->v,
             &g = c.in[first + 2]->v;
  const std::int64_t tk = a.sizes().tk, dk = a.sizes().dk, dv = a.sizes().dv;
  const auto wanted = [&](int k) { return wants(c.a, k); };
  a.for_each_row([&](const row& r) {
    double total = 0;  // rowsum(dO * O)
    for (std::int64_t d = 0; d < dv; ++d) total += g[r.out + at(d)] * out[r.out + at(d)];
    if (wanted(5) && lse[r.lse] != -infinity)
      c.out[5].v[at(r.h)] -= std::exp(a.sink(r.h) - lse[r.lse]) * total;
    for (std::int64_t n = 0; n < tk; ++n) {
      const pair x = a.score(r, n);
      if (!x.seen) continue;
      const double p = std::exp(x.score - lse[r.lse]), keep = a.keep(r, n);
      double dp = 0;
      for (std::int64_t d = 0; d < dv; ++d) {
        dp += keep * g[r.out + at(d)] * v[x.v + at(d)];
        c.out[2].v[x.v + at(d)] += p * keep * g[r.out + at(d)];
      }
      const double ds = p * (dp - total);
      if (wanted(3)) c.out[3].v[x.mask] += a.slope(r.h) * ds;
      if (wanted(4)) c.out[4].v[at(r.h)] += ds * x.bias;
      const double ratio = a.cap() > 0 ? x.capped / a.cap() : 0, inner = ds * (1 - ratio * ratio);
      if (wanted(6)) c.out[6].v[0] += inner * x.dot;
      for (std::int64_t d = 0; d < dk; ++d) {
        c.out[0].v[r.q + at(d)] += a.scale() * inner * a.k()[x.k + at(d)];
        c.out[1].v[x.k + at(d)] += a.scale() * inner * a.q()[r.q + at(d)];
      }
    }
  });
  c.out[0].v = a.rotated(std::move(c.out[0].v), a.sizes().heads, a.sizes().tq, false, -1);
  c.out[1].v = a.rotated(std::move(c.out[1].v), a.sizes().groups, tk, true, -1);
}

void attention_keep_family::reference(const reference_call& c) {
  const std::int64_t columns = c.out[0].extent[3];
  for (std::size_t i = 0; i < c.out[0].v.size(); ++i) {
    const auto e = static_cast<std::int64_t>(i);
    c.out[0].v[i] = attention_keep_factor(key_of(*c.in[0]), c.in[0]->v[2] == 0 ? 0 : c.a.f[2],
                                          e / columns, e % columns);
  }
}

}  // namespace ropewalk::op
