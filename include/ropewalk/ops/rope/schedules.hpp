// The frequency schedules of rope. A schedule is a value, as a template argument of a model
//   rope(q, half_split, frequencies<rope_llama3{.base = 500000, .factor = 8}>)
// and at run time (ropewalk/rope_schedule.hpp: its table, printed). It is any structural class with
//   name                     of the op in printed graphs
//   by_length                whether the frequencies depend on the current length
//   fault(width)             the first argument that breaks a rule, at rotary width D (0: unknown)
//   magnitude()              m, by which cos and sin are multiplied
//   fill(f, width, length)   the inverse frequencies of pairs 0, 1, ... at rotary width D; `length`
//                            is the largest position + 1, for schedules by_length
// Formulas and sources: docs/rope.md. fill() computes in twice float64 and rounds once
// (codegen/rope/schedules.cpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace ropewalk {

// An argument that breaks a rule: its name, its value, the rule.
struct rope_fault {
  const char* field = nullptr;
  double value = 0;
  const char* rule = "";
  constexpr explicit operator bool() const { return field != nullptr; }
};

namespace op {
// A schedule without its type.
struct rope_filler {
  const char* name;
  const void* schedule;
  rope_fault (*fault)(const void*, std::int64_t width);
  void (*fill)(const void*, std::span<double> f, std::int64_t width, std::int64_t length);
};
}  // namespace op

namespace detail {

// Comparisons only: inf - inf is no constant.
constexpr bool is_finite(double x) {
  return x >= -0x1.fffffffffffffp1023 && x <= 0x1.fffffffffffffp1023;
}

// The natural logarithm in constant evaluation, to 2 ulp: x = 2^k m, m in [sqrt(1/2), sqrt(2)).
constexpr double natural_log(double x) {
  int k = 0;
  while (x >= 1.4142135623730951) x /= 2, ++k;
  while (x < 0.70710678118654757) x *= 2, --k;
  const double s = (x - 1) / (x + 1), z = s * s;
  double p = 0;
  for (int n = 23; n > 0; n -= 2) p = p * z + 1.0 / n;
  return 2 * s * p + k * 0.69314718055994531;
}
constexpr double square_root(double x) {  // x > 0
  double r = x > 1 ? x : 1;
  for (int i = 0; i < 600; ++i) {
    const double next = (r + x / r) / 2;
    if (next >= r) break;
    r = next;
  }
  return r;
}

}  // namespace detail

// Checks arguments one by one; the first rule that is broken stays.
struct rope_rules {
  rope_fault f;
  constexpr rope_rules& require(bool holds, const char* field, double value, const char* rule) {
    if (!holds && !f) f = {field, value, rule};
    return *this;
  }
  constexpr rope_rules& positive(const char* field, double v) {
    return require(v > 0 && detail::is_finite(v), field, v, "must be positive and finite");
  }
  constexpr rope_rules& finite(const char* field, double v) {
    return require(detail::is_finite(v), field, v, "must be finite");
  }
  constexpr rope_rules& above_one(const char* field, double v) {
    return require(v > 1 && detail::is_finite(v), field, v, "must be above 1 and finite");
  }
  constexpr rope_rules& width(std::int64_t w) {
    return require(w >= 0 && w % 2 == 0, "width", static_cast<double>(w),
                   "must be positive and even");
  }
  template <std::size_t N>
  constexpr rope_rules& per_pair(const char* field, const std::array<double, N>& list,
                                 std::int64_t w, bool positive_only) {
    require(N > 0, field, 0, "must not be empty");
    require(w == 0 || w == 2 * static_cast<std::int64_t>(N), field, static_cast<double>(N),
            "must have width / 2 numbers");
    for (const double v : list)
      require(detail::is_finite(v) && (v > 0 || !positive_only), field, v,
              positive_only ? "must hold positive numbers" : "must hold finite numbers");
    return *this;
  }
};

// f_i = base^(-2 i / D). Su et al. 2021.
struct rope_standard {
  double base = 10000;
  static constexpr const char* name = "rope_standard";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}.width(width).positive("base", base).f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// The frequencies themselves; D = 2 N.
template <std::size_t N>
struct rope_list {
  std::array<double, N> frequency{};
  static constexpr const char* name = "rope_list";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}.width(width).per_pair("frequency", frequency, width, false).f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t, std::int64_t) const {
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = frequency[i % N];
  }
};

// standard / factor: positions interpolated. Chen et al. 2023.
struct rope_linear {
  double base = 10000, factor = 1;
  static constexpr const char* name = "rope_linear";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}.width(width).positive("base", base).positive("factor", factor).f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// NTK-aware: standard with base * factor^(D / (D - 2)); D > 2.
struct rope_ntk {
  double base = 10000, factor = 1;
  static constexpr const char* name = "rope_ntk";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}
        .width(width)
        .require(width != 2, "width", 2, "must be above 2 for NTK scaling")
        .positive("base", base)
        .positive("factor", factor)
        .f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// NTK with s = factor L / C - (factor - 1) where the current length L exceeds C, the original
// context; standard below.
struct rope_dynamic_ntk {
  double base = 10000, factor = 1, original_context = 2048;
  static constexpr const char* name = "rope_dynamic_ntk";
  static constexpr bool by_length = true;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}
        .width(width)
        .require(width != 2, "width", 2, "must be above 2 for NTK scaling")
        .positive("base", base)
        .positive("factor", factor)
        .positive("original_context", original_context)
        .f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// Wavelengths l = 2 pi / f below C / high stay, those above C / low are divided by the factor, and
// between t = (C / l - low) / (high - low): f (t + (1 - t) / factor). The defaults are Llama 3.1's.
struct rope_llama3 {
  double base = 500000, factor = 8, low = 1, high = 4, original_context = 8192;
  static constexpr const char* name = "rope_llama3";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}
        .width(width)
        .positive("base", base)
        .positive("factor", factor)
        .positive("low", low)
        .finite("high", high)
        .require(high > low, "high", high, "must exceed low")
        .positive("original_context", original_context)
        .f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// YaRN's temperature of the scores is the square of this: 0.1 mscale ln(factor) + 1; 1 for
// factor <= 1.
constexpr double yarn_mscale(double factor, double mscale = 1) {
  return factor <= 1 ? 1 : 0.1 * mscale * detail::natural_log(factor) + 1;
}

// YaRN. d(n) = D ln(C / (2 pi n)) / (2 ln base), low = d(beta_fast), high = d(beta_slow), within
// [0, D - 1] (`truncate`: low rounded down, high up, first); r = clamp((i - low) / (high - low), 0,
// 1); f = r f / factor + (1 - r) f. Peng et al. 2023; untruncated: gpt-oss.
struct rope_yarn {
  double base = 10000, factor = 1, beta_fast = 32, beta_slow = 1, original_context = 2048;
  bool truncate = true;
  double attention_factor = 0;            // m itself; 0: by the rules below
  double mscale = 0, mscale_all_dim = 0;  // both given: m = mscale(mscale) / mscale(mscale_all_dim)
  static constexpr const char* name = "rope_yarn";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}
        .width(width)
        .above_one("base", base)
        .positive("factor", factor)
        .finite("beta_fast", beta_fast)
        .positive("beta_slow", beta_slow)
        .require(beta_fast > beta_slow, "beta_fast", beta_fast, "must exceed beta_slow")
        .positive("original_context", original_context)
        .require(attention_factor >= 0 && detail::is_finite(attention_factor), "attention_factor",
                 attention_factor, "must not be negative")
        .require(mscale >= 0 && detail::is_finite(mscale), "mscale", mscale, "must not be negative")
        .require(mscale_all_dim >= 0 && detail::is_finite(mscale_all_dim), "mscale_all_dim",
                 mscale_all_dim, "must not be negative")
        .f;
  }
  constexpr double magnitude() const {
    if (attention_factor != 0) return attention_factor;
    if (mscale != 0 && mscale_all_dim != 0)
      return yarn_mscale(factor, mscale) / yarn_mscale(factor, mscale_all_dim);
    return yarn_mscale(factor);
  }
  // What DeepSeek's models multiply the attention scale by, besides m.
  constexpr double attention_scale() const {
    const double m = mscale_all_dim != 0 ? yarn_mscale(factor, mscale_all_dim) : 1;
    return m * m;
  }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// LongRoPE: standard divided by the short list while the current length is at most C, by the long
// one beyond; m = sqrt(1 + ln(factor) / ln C) for factor > 1. Ding et al. 2024; Phi-3.
template <std::size_t N>
struct rope_longrope {
  double base = 10000, factor = 1, original_context = 4096;
  std::array<double, N> short_factors{}, long_factors{};
  double attention_factor = 0;  // m itself; 0: by the rule
  static constexpr const char* name = "rope_longrope";
  static constexpr bool by_length = true;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}
        .width(width)
        .positive("base", base)
        .positive("factor", factor)
        .positive("original_context", original_context)
        .require(factor <= 1 || original_context > 1, "original_context", original_context,
                 "must be above 1")
        .per_pair("short_factors", short_factors, width, true)
        .per_pair("long_factors", long_factors, width, true)
        .require(attention_factor >= 0 && detail::is_finite(attention_factor), "attention_factor",
                 attention_factor, "must not be negative")
        .f;
  }
  constexpr double magnitude() const {
    if (attention_factor != 0) return attention_factor;
    if (factor <= 1) return 1;
    return detail::square_root(1 +
                               detail::natural_log(factor) / detail::natural_log(original_context));
  }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// Only the first floor(share D / 2) pairs rotate, by standard / factor with the exponent over the
// full D; the others stand still. (Gemma's global layers.)
struct rope_proportional {
  double base = 10000, share = 1, factor = 1;
  static constexpr const char* name = "rope_proportional";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    return rope_rules{}
        .width(width)
        .positive("base", base)
        .require(share > 0 && share <= 1, "share", share, "must be above 0 and at most 1")
        .positive("factor", factor)
        .f;
  }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// ggml's parameters of rope_ext as they stand. ext_factor 0: f = freq_scale base^(-2 i / D) and m =
// attn_factor; else both are mixed by a ramp (truncated YaRN), and m grows by
// 1 + 0.1 ln(1 / freq_scale). n_dims is the width of the rotary window, mode is ggml_rope_mode.
struct rope_ggml {
  double freq_base = 10000, freq_scale = 1, ext_factor = 0, attn_factor = 1;
  double beta_fast = 32, beta_slow = 1, n_ctx_orig = 0;
  static constexpr const char* name = "rope_ggml";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t width) const {
    rope_rules r;
    r.width(width)
        .positive("freq_base", freq_base)
        .positive("freq_scale", freq_scale)
        .finite("ext_factor", ext_factor)
        .positive("attn_factor", attn_factor);
    if (ext_factor != 0)
      r.above_one("freq_base", freq_base)
          .finite("beta_fast", beta_fast)
          .positive("beta_slow", beta_slow)
          .require(beta_fast > beta_slow, "beta_fast", beta_fast, "must exceed beta_slow")
          .positive("n_ctx_orig", n_ctx_orig);
    return r.f;
  }
  constexpr double magnitude() const {
    return ext_factor == 0 ? attn_factor
                           : attn_factor * (1 - 0.1 * detail::natural_log(freq_scale));
  }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

namespace detail {
void fill_longrope(std::span<double> f, double base, std::span<const double> factors,
                   std::int64_t width);
}

template <std::size_t N>
void rope_longrope<N>::fill(std::span<double> f, std::int64_t width, std::int64_t length) const {
  const bool within = static_cast<double>(length) <= original_context;
  detail::fill_longrope(f, base, within ? short_factors : long_factors, width);
}

}  // namespace ropewalk
