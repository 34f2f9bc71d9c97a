// The naive attention: everything in double, one score at a time, as the definition is written.
#include "attention_case.hpp"

#include <algorithm>
#include <sstream>

#include <ropewalk/train/rng.hpp>

namespace attention_case {
namespace {

double ldexp_of(double m, int e) { return std::ldexp(m, e); }

// The nearest value with `bits` of significand and exponents from `low`, ties to even.
double nearest(double x, int bits, int low, double largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  int e = 0;
  std::frexp(x, &e);
  const int unit = std::max(e - bits, low);
  const double y = ldexp_of(std::nearbyint(ldexp_of(x, -unit)), unit);
  return std::abs(y) > largest ? std::copysign(HUGE_VAL, x) : y;
}

}  // namespace

double read_element(dtype type, const std::byte* p) {
  if (type == f64) {
    double x;
    std::memcpy(&x, p, 8);
    return x;
  }
  float x;
  std::uint32_t w = 0;
  if (type == f32) {
    std::memcpy(&x, p, 4);
    return static_cast<double>(x);
  }
  std::memcpy(&w, p, 2);
  if (type == bf16) {
    w <<= 16;
    std::memcpy(&x, &w, 4);
    return static_cast<double>(x);
  }
  const int e = static_cast<int>(w >> 10 & 31);
  const double m = static_cast<double>(w & 1023), sign = w >> 15 != 0 ? -1 : 1;
  if (e == 31) return m == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  return sign * (e == 0 ? ldexp_of(m, -24) : ldexp_of(1024 + m, e - 25));
}

void write_element(dtype type, double x, std::byte* p) {
  if (type == f64) return void(std::memcpy(p, &x, 8));
  const auto y = static_cast<float>(type == bf16 ? nearest(x, 8, -133, 3.39e38) : x);
  std::uint32_t w;
  std::memcpy(&w, &y, 4);
  if (type == f32) return void(std::memcpy(p, &w, 4));
  w >>= 16;
  if (type == f16) {
    const double z = nearest(x, 11, -24, 65504);
    int e = 0;
    std::frexp(z, &e);
    const double m = std::abs(z);
    w = std::signbit(z) ? 0x8000u : 0;
    if (std::isnan(z))
      w |= 0x7E00u;
    else if (std::isinf(z))
      w |= 0x7C00u;
    else if (m < 0x1p-14)
      w |= static_cast<std::uint32_t>(ldexp_of(m, 24));
    else
      w |= static_cast<std::uint32_t>(e + 14) << 10 |
           (static_cast<std::uint32_t>(ldexp_of(m, 11 - e)) & 1023u);
  }
  std::memcpy(p, &w, 2);
}

double rounding(dtype type) {
  return type == f64 ? 0x1p-53 : type == f32 ? 0x1p-24 : type == f16 ? 0x1p-11 : 0x1p-8;
}

tensor::tensor(generator& g, dtype t, long b, long h, long r, long c, bool gaps) : type(t) {
  const long sizes[4] = {b, h, r, c};
  std::copy(sizes, sizes + 4, extent);
  const long gap = gaps ? g.any(0, 3) : 0;
  stride[3] = 1;
  const bool rows_outside = gaps && g.chance(0.5);
  stride[2] = rows_outside ? h * (c + gap) : c + gap;
  stride[1] = rows_outside ? c + gap : r * (c + gap);
  stride[0] = h * r * (c + gap);
  bytes.resize(static_cast<size_t>(b * stride[0]) * dtype_size(t) + dtype_size(t));
}
void tensor::fill(const std::function<double()>& f) {
  for (long b = 0; b < extent[0]; ++b)
    for (long h = 0; h < extent[1]; ++h)
      for (long r = 0; r < extent[2]; ++r)
        for (long c = 0; c < extent[3]; ++c) set(b, h, r, c, f());
}

exact::exact(long b, long h, long r, long c) : extent{b, h, r, c} {
  value.resize(static_cast<size_t>(b * h * r * c));
  size.resize(value.size());
}

// --- contents -----------------------------------------------------------------------------------

void instance::fill(generator& g, dtype q_type, dtype kv_type) {
  type = q_type, computed = q_type == f64 ? f64 : f32;
  a.kv_type = kv_type;
  const auto make = [&](dtype t, long h, long r, long c) {
    tensor x(g, t, a.batch, h, r, c);
    x.fill([&] { return g.normal(); });
    return x;
  };
  q = make(type, a.heads, a.tq, a.dk), k = make(kv_type, a.kv_heads, a.tk, a.dk);
  v = make(kv_type, a.kv_heads, a.tk, a.dv), d_out = make(type, a.heads, a.tq, a.dv);
  out = make(type, a.heads, a.tq, a.dv), lse = make(computed, a.heads, a.tq, 1);
  d_q = make(type, a.heads, a.tq, a.dk), d_k = make(kv_type, a.kv_heads, a.tk, a.dk);
  d_v = make(kv_type, a.kv_heads, a.tk, a.dv);
}
void instance::with_mask(generator& g, dtype mask_type, bool b, bool h, bool r, bool c, bool hide) {
  mask = tensor(g, mask_type, b ? a.batch : 1, h ? a.heads : 1, r ? a.tq : 1, c ? a.tk : 1);
  mask.fill([&] { return hide && g.chance(0.3) ? -HUGE_VAL : g.normal(); });
  const bool kept[4] = {b, h, r, c};
  for (int i = 0; i < 4; ++i)
    if (!kept[i]) mask.stride[i] = 0;
}
void instance::with_slopes(generator& g) {
  slopes = tensor(g, computed, 1, 1, 1, a.heads, false);
  slopes.fill([&] { return g.chance(0.1) ? 0.0 : g.normal(); });
}
void instance::with_sinks(generator& g) {
  sinks = tensor(g, computed, 1, 1, 1, a.heads, false);
  sinks.fill([&] { return g.chance(0.1) ? -HUGE_VAL : g.normal(); });
}
void instance::with_rope(generator& g, long width, long offset, bool interleaved) {
  a.rope.width = width, a.rope.offset = offset, a.rope.interleaved = interleaved;
  cosine = tensor(g, computed, 1, 1, a.tk, width / 2), sine = cosine;
  for (long n = 0; n < a.tk; ++n)
    for (long i = 0; i < width / 2; ++i) {
      const double angle = g.real(-3, 3);
      cosine.set(0, 0, n, i, 1.1 * std::cos(angle)), sine.set(0, 0, n, i, 1.1 * std::sin(angle));
    }
}
void instance::ask_all(generator& g, bool b, bool h, bool r, bool c) {
  d_scale = tensor(g, computed, 1, 1, 1, 1, false);
  d_slopes = tensor(g, computed, 1, 1, 1, a.heads, false);
  if (!sinks.bytes.empty()) d_sinks = d_slopes;
  if (mask.bytes.empty()) return;
  d_mask = tensor(g, computed, b ? a.batch : 1, h ? a.heads : 1, r ? a.tq : 1, c ? a.tk : 1);
  const bool kept[4] = {b, h, r, c};
  for (int i = 0; i < 4; ++i)
    if (!kept[i]) d_mask.stride[i] = 0;
}

void instance::bind() {
  a.start = start.empty() ? nullptr : start.data();
  a.start_stride = static_cast<long>(start.size()) == a.batch ? 1 : 0;
  a.lengths = lengths.empty() ? nullptr : lengths.data();
  a.lengths_stride = static_cast<long>(lengths.size()) == a.batch ? 1 : 0;
  a.documents = documents.empty() ? nullptr : documents.data();
  a.document_count = documents.empty() ? 0 : static_cast<long>(documents.size()) - 1;
  a.q = q.rows<const void*>(), a.k = k.rows<const void*>(), a.v = v.rows<const void*>();
  a.out = out.rows<void*>(), a.lse = lse.rows<void*>(), a.d_out = d_out.rows<const void*>();
  a.d_q = d_q.rows<void*>(), a.d_k = d_k.rows<void*>(), a.d_v = d_v.rows<void*>();
  if (!mask.bytes.empty()) a.mask = mask.mask<const void*>();
  if (!d_mask.bytes.empty()) a.d_mask = d_mask.mask<void*>();
  const auto data = [](tensor& t) -> void* { return t.bytes.empty() ? nullptr : t.bytes.data(); };
  a.slopes = data(slopes), a.sinks = data(sinks), a.d_slopes = data(d_slopes);
  a.d_sinks = data(d_sinks), a.d_scale = data(d_scale);
  a.rope.cosine = data(cosine), a.rope.sine = data(sine), a.rope.row = cosine.stride[2];
}

void instance::run(pool& p, isa set) {
  bind();
  for (const bool back : {false, true}) {
    const auto size = back ? attention_backward_workspace : attention_forward_workspace;
    std::vector<std::byte> room(size(p.threads(), set, type, a) + 1, std::byte{0xff});
    (back ? attention_backward : attention_forward)(p, set, type, a,
                                                    {room.data() + 1, room.size() - 1});
  }
}

std::vector<tensor*> instance::results() {
  return {&out, &lse, &d_q, &d_k, &d_v, &d_mask, &d_slopes, &d_sinks, &d_scale};
}
bool instance::same_results(instance& o) {
  const auto mine = results(), other = o.results();
  for (size_t i = 0; i < mine.size(); ++i)
    if (mine[i]->bytes != other[i]->bytes) return false;
  return true;
}

// --- the definition -----------------------------------------------------------------------------

long instance::position(long b, long j) const {
  return start.empty() ? a.tk - a.tq + j : start[start.size() > 1 ? static_cast<size_t>(b) : 0] + j;
}

bool instance::structure_sees(long b, long j, long n) const {
  const long p = position(b, j);
  if (!lengths.empty() && n >= lengths[lengths.size() > 1 ? static_cast<size_t>(b) : 0])
    return false;
  if (a.causal && n > p) return false;
  if (a.window > 0 && std::abs(p - n) >= a.window) return false;
  if (documents.empty()) return true;
  for (size_t d = 0; d + 1 < documents.size(); ++d)
    if (documents[d] <= p && p < documents[d + 1]) return documents[d] <= n && n < documents[d + 1];
  return false;
}
bool instance::sees(long b, long h, long j, long n) {
  return structure_sees(b, j, n) && (mask.bytes.empty() || mask.get(b, h, j, n) > -HUGE_VAL);
}

void instance::poison() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const long group = a.heads / a.kv_heads;
  for (long b = 0; b < a.batch; ++b) {
    for (long n = 0; n < a.tk; ++n)
      for (long g = 0; g < a.kv_heads; ++g) {
        bool seen = false;
        for (long h = g * group; h < (g + 1) * group; ++h)
          for (long j = 0; j < a.tq && !seen; ++j) seen = sees(b, h, j, n);
        for (long d = 0; d < a.dk && !seen; ++d) k.set(b, g, n, d, nan);
        for (long d = 0; d < a.dv && !seen; ++d) v.set(b, g, n, d, nan);
      }
    for (long h = 0; h < a.heads; ++h)
      for (long j = 0; j < a.tq; ++j) {
        bool sees_some = false;
        for (long n = 0; n < a.tk && !sees_some; ++n) sees_some = structure_sees(b, j, n);
        for (long d = 0; d < a.dk && !sees_some; ++d) q.set(b, h, j, d, nan);
        for (long d = 0; d < a.dv && !sees_some; ++d) d_out.set(b, h, j, d, nan);
      }
  }
}

namespace {

using row = std::vector<double>;

// Rotated features of a row at a position; `back`: by the opposite angles, and sizes of terms.
row rotated(instance& x, row r, long position, bool back, bool sizes) {
  const attention_rope& o = x.a.rope;
  for (long i = 0; i < o.width / 2; ++i) {
    const auto u = static_cast<size_t>(o.offset + (o.interleaved ? 2 * i : i));
    const auto w = static_cast<size_t>(o.interleaved ? static_cast<long>(u) + 1
                                                     : static_cast<long>(u) + o.width / 2);
    double c = x.cosine.get(0, 0, position, i), s = x.sine.get(0, 0, position, i);
    if (back) s = -s;
    const double first = r[u], second = r[w];
    r[u] = sizes ? std::abs(first * c) + std::abs(second * s) : first * c - second * s;
    r[w] = sizes ? std::abs(second * c) + std::abs(first * s) : second * c + first * s;
  }
  return r;
}
row row_of(tensor& t, long b, long h, long r) {
  row x;
  for (long c = 0; c < t.extent[3]; ++c) x.push_back(t.get(b, h, r, c));
  return x;
}

// What may be lost of any value: below the normal ones, and probabilities below e^-87 (e^-708).
double smallest(dtype type) { return type == f64 ? 1e-300 : type == f16 ? 0x1p-25 : 1e-36; }

double worst_of(tensor& got, const exact& want, double unit) {
  double worst = 0;
  for (long b = 0; b < want.extent[0]; ++b)
    for (long h = 0; h < want.extent[1]; ++h)
      for (long r = 0; r < want.extent[2]; ++r)
        for (long c = 0; c < want.extent[3]; ++c) {
          const double x = got.get(b, h, r, c), y = want.value[want.index(b, h, r, c)];
          if (x == y) continue;
          const double size = want.size[want.index(b, h, r, c)];
          const double off = std::abs(x - y) / (unit * size + smallest(got.type));
          worst = std::isnan(off) ? HUGE_VAL : std::max(worst, off);
        }
  return worst;
}

}  // namespace

double instance::error() {
  bind();
  exact e_out(a.batch, a.heads, a.tq, a.dv), e_lse(a.batch, a.heads, a.tq, 1);
  exact e_q(a.batch, a.heads, a.tq, a.dk), e_k(a.batch, a.kv_heads, a.tk, a.dk);
  exact e_v(a.batch, a.kv_heads, a.tk, a.dv), e_slopes(1, 1, 1, a.heads), e_sinks = e_slopes;
  exact e_scale(1, 1, 1, 1), e_mask(a.batch, a.heads, a.tq, a.tk);
  if (!d_mask.bytes.empty())
    e_mask = exact(d_mask.extent[0], d_mask.extent[1], d_mask.extent[2], d_mask.extent[3]);
  const double limit = a.dropout * 0x1p24;
  const auto tk = static_cast<size_t>(a.tk), dk = static_cast<size_t>(a.dk),
             dv = static_cast<size_t>(a.dv);
  for (long b = 0; b < a.batch; ++b)
    for (long h = 0; h < a.heads; ++h) {
      const long g = h / (a.heads / a.kv_heads);
      std::vector<row> keys, values;
      for (long n = 0; n < a.tk; ++n) {
        keys.push_back(rotated(*this, row_of(k, b, g, n), n, false, false));
        values.push_back(row_of(v, b, g, n));
      }
      const double slope = slopes.bytes.empty() ? 1 : slopes.get(0, 0, 0, h);
      const double sink = sinks.bytes.empty() ? -HUGE_VAL : sinks.get(0, 0, 0, h);
      for (long j = 0; j < a.tq; ++j) {
        const long at = position(b, j);
        bool any = false;
        for (long n = 0; n < a.tk; ++n) any = any || structure_sees(b, j, n);
        if (!any) {
          e_lse.add(b, h, j, 0, sink, std::abs(sink));
          continue;
        }
        const row query = rotated(*this, row_of(q, b, h, j), at, false, false);
        const row d = row_of(d_out, b, h, j);
        // Scores: raw q · k, capped / L, mask, final; `rough`: the size that their errors are
        // relative to.
        row raw(tk), capped(tk), bias(tk), s(tk, -HUGE_VAL), p(tk), keep(tk, 1);
        double top = sink, total = 0, rough = 1;
        for (size_t n = 0; n < tk; ++n) {
          const long key = static_cast<long>(n);
          if (!sees(b, h, j, key)) continue;
          double size = 0;
          for (size_t i = 0; i < dk; ++i) {
            raw[n] += query[i] * keys[n][i];
            size += std::abs(query[i] * keys[n][i]);
          }
          s[n] = a.scale * raw[n];
          rough = std::max(rough, std::abs(a.scale) * size);
          if (a.soft_cap > 0) {
            capped[n] = std::tanh(s[n] / a.soft_cap);
            s[n] = a.soft_cap * capped[n];
          }
          if (!mask.bytes.empty()) bias[n] = mask.get(b, h, j, key);
          if (a.distance_bias) bias[n] = -std::abs(static_cast<double>(at - key));
          s[n] += slope * bias[n];
          rough = std::max(rough, std::abs(slope * bias[n]));
          top = std::max(top, s[n]);
          if (a.dropout > 0) {
            const philox_block w =
                philox(a.dropout_key, {{static_cast<std::uint32_t>((b * a.heads + h) * a.tq + j),
                                        static_cast<std::uint32_t>(n), 0, 0}});
            keep[n] = static_cast<double>(w.word[0] >> 8) < limit ? 0 : 1 / (1 - a.dropout);
          }
        }
        if (top > -HUGE_VAL) {
          total = std::exp(sink - top);
          for (size_t n = 0; n < tk; ++n) total += p[n] = std::exp(s[n] - top);
          for (size_t n = 0; n < tk; ++n) p[n] /= total;
        }
        const double log_sum = top > -HUGE_VAL ? top + std::log(total) : -HUGE_VAL;
        e_lse.add(b, h, j, 0, log_sum, rough + std::abs(log_sum));
        row d_p(tk), d_p_size(tk);
        double delta = 0, delta_size = 0;
        for (size_t n = 0; n < tk; ++n) {
          const double z = p[n] * keep[n];
          if (z == 0 && !sees(b, h, j, static_cast<long>(n))) continue;
          for (size_t i = 0; i < dv; ++i) {
            const long c = static_cast<long>(i), key = static_cast<long>(n);
            e_out.add(b, h, j, c, z * values[n][i], rough * z * std::abs(values[n][i]));
            e_v.add(b, g, key, c, z * d[i], rough * z * std::abs(d[i]));
            d_p[n] += keep[n] * d[i] * values[n][i];
            d_p_size[n] += keep[n] * std::abs(d[i] * values[n][i]);
          }
          delta += p[n] * d_p[n];
          delta_size += p[n] * d_p_size[n];
        }
        if (sink > -HUGE_VAL) {
          const double p_sink = std::exp(sink - log_sum);
          e_sinks.add(0, 0, 0, h, -p_sink * delta, rough * p_sink * delta_size);
        }
        row sum(dk), sum_size(dk);
        for (size_t n = 0; n < tk; ++n) {
          if (!sees(b, h, j, static_cast<long>(n))) continue;
          const long key = static_cast<long>(n);
          const double d_s = p[n] * (d_p[n] - delta);
          const double size = rough * p[n] * (d_p_size[n] + delta_size);
          if (!d_mask.bytes.empty())
            e_mask.add(d_mask.stride[0] != 0 ? b : 0, d_mask.stride[1] != 0 ? h : 0,
                       d_mask.stride[2] != 0 ? j : 0, d_mask.stride[3] != 0 ? key : 0, slope * d_s,
                       std::abs(slope) * size);
          e_slopes.add(0, 0, 0, h, d_s * bias[n], size * std::abs(bias[n]));
          const double d_raw = d_s * (a.soft_cap > 0 ? 1 - capped[n] * capped[n] : 1);
          e_scale.add(0, 0, 0, 0, d_raw * raw[n], size * rough / std::max(1e-3, std::abs(a.scale)));
          row back(dk), back_size(dk);
          for (size_t i = 0; i < dk; ++i) {
            sum[i] += a.scale * d_raw * keys[n][i];
            sum_size[i] += std::abs(a.scale * keys[n][i]) * size;
            back[i] = a.scale * d_raw * query[i];
            back_size[i] = std::abs(a.scale * query[i]) * size;
          }
          back = rotated(*this, back, key, true, false);
          back_size = rotated(*this, back_size, key, true, true);
          for (size_t i = 0; i < dk; ++i)
            e_k.add(b, g, key, static_cast<long>(i), back[i], back_size[i]);
        }
        sum = rotated(*this, sum, at, true, false);
        sum_size = rotated(*this, sum_size, at, true, true);
        for (size_t i = 0; i < dk; ++i) e_q.add(b, h, j, static_cast<long>(i), sum[i], sum_size[i]);
      }
    }
  // Gradients feel the rounding of the stored `out` through D.
  const double io = rounding(type), kv = std::max(io, rounding(k.type)), c = rounding(computed);
  double worst = 0;
  const auto check = [&](tensor& got, const exact& want, double unit) {
    if (got.bytes.empty()) return;
    worst = std::max(worst, worst_of(got, want, unit));
  };
  check(out, e_out, io), check(lse, e_lse, c), check(d_q, e_q, io), check(d_k, e_k, kv);
  check(d_v, e_v, std::max(c, rounding(k.type))), check(d_mask, e_mask, io);
  check(d_slopes, e_slopes, io), check(d_sinks, e_sinks, io), check(d_scale, e_scale, io);
  return worst;
}

std::string instance::text() const {
  std::ostringstream t;
  t << dtype_name(type) << " kv " << dtype_name(k.type) << " B " << a.batch << " H " << a.heads
    << "/" << a.kv_heads << " T " << a.tq << "/" << a.tk << " D " << a.dk << "/" << a.dv
    << " scale " << a.scale << " cap " << a.soft_cap << " causal " << a.causal << " window "
    << a.window << " start " << start.size() << " lengths " << lengths.size() << " documents "
    << documents.size() << " mask " << !mask.bytes.empty() << " distance " << a.distance_bias
    << " slopes " << !slopes.bytes.empty() << " sinks " << !sinks.bytes.empty() << " dropout "
    << a.dropout << " rope " << a.rope.width << "+" << a.rope.offset << " d_mask";
  for (const long s : d_mask.stride) t << (s != 0);
  return t.str();
}

}  // namespace attention_case
