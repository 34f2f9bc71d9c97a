// The formulas of the frequency schedules, in wide numbers, rounded once (rope/schedules.hpp).
#include "ropewalk/ops/rope/schedules.hpp"

#include "wide.hpp"

namespace ropewalk {
namespace {

// f[i] = map(i, e^(-2 i log_base / width)), rounded. Products of one ratio lose 2^-98 each.
template <class Map>
void fill_powers(std::span<double> f, const wide& log_base, std::int64_t width, Map map) {
  const wide ratio = exp(log_base * -2.0 / static_cast<double>(width));
  wide power = 1;
  for (std::size_t i = 0; i < f.size(); ++i) {
    f[i] = map(i, power).rounded();
    power = power * ratio;
  }
}

wide ntk_log_base(double base, const wide& factor, std::int64_t width) {
  const double d = static_cast<double>(width);
  return log(wide(base)) + log(factor) * d / (d - 2);
}

// The pair whose wavelength fits n times into the context.
wide pair_of_turns(double n, double base, double context, std::int64_t width) {
  return log(wide(context) / (wide_two_pi * n)) * static_cast<double>(width) /
         (log(wide(base)) * 2.0);
}

}  // namespace

void rope_standard::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  fill_powers(f, log(wide(base)), width, [](std::size_t, const wide& p) { return p; });
}

void rope_linear::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  fill_powers(f, log(wide(base)), width, [&](std::size_t, const wide& p) { return p / factor; });
}

void rope_ntk::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  fill_powers(f, ntk_log_base(base, factor, width), width,
              [](std::size_t, const wide& p) { return p; });
}

void rope_dynamic_ntk::fill(std::span<double> f, std::int64_t width, std::int64_t length) const {
  const double l = static_cast<double>(length);
  const wide s =
      l > original_context ? wide(factor) * l / original_context - (wide(factor) - 1.0) : wide(1);
  fill_powers(f, ntk_log_base(base, s, width), width, [](std::size_t, const wide& p) { return p; });
}

void rope_llama3::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  fill_powers(f, log(wide(base)), width, [&](std::size_t, const wide& p) {
    const wide turns = p * original_context / wide_two_pi;  // C / wavelength
    if (wide(high) < turns) return p;
    if (turns < wide(low)) return p / factor;
    const wide t = (turns - low) / (wide(high) - low);
    return p * (t + (wide(1) - t) / factor);
  });
}

void rope_yarn::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  wide low = pair_of_turns(beta_fast, base, original_context, width);
  wide high = pair_of_turns(beta_slow, base, original_context, width);
  if (truncate) low = floor(low), high = ceil(high);
  const wide last = static_cast<double>(width - 1);
  low = clamp(low, 0.0, last), high = clamp(high, 0.0, last);
  if (!(low < high)) high = low + 0.001;
  const wide slope = wide(1) / (high - low), shrink = wide(1) / factor - 1.0;
  fill_powers(f, log(wide(base)), width, [&](std::size_t i, const wide& p) {
    const wide r = clamp((wide(static_cast<double>(i)) - low) * slope, 0.0, 1.0);
    return p * (r * shrink + 1.0);  // r / factor + (1 - r)
  });
}

void detail::fill_longrope(std::span<double> f, double base, std::span<const double> factors,
                           std::int64_t width) {
  fill_powers(f, log(wide(base)), width,
              [&](std::size_t i, const wide& p) { return p / factors[i % factors.size()]; });
}

void rope_proportional::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  const double rotating = std::floor(share * static_cast<double>(width) / 2);
  fill_powers(f, log(wide(base)), width, [&](std::size_t i, const wide& p) {
    return static_cast<double>(i) < rotating ? p / factor : wide(0);
  });
}

void rope_ggml::fill(std::span<double> f, std::int64_t width, std::int64_t) const {
  wide low, high;
  if (ext_factor != 0) {
    low = floor(pair_of_turns(beta_fast, freq_base, n_ctx_orig, width));
    high = ceil(pair_of_turns(beta_slow, freq_base, n_ctx_orig, width));
    if (low < wide(0)) low = 0.0;
    const wide last = static_cast<double>(width - 1);
    if (last < high) high = last;
  }
  const wide slope = wide(1) / (high - low < wide(0.001) ? wide(0.001) : high - low);
  fill_powers(f, log(wide(freq_base)), width, [&](std::size_t i, const wide& p) {
    if (ext_factor == 0) return p * freq_scale;
    const wide r = wide(1) - clamp((wide(static_cast<double>(i)) - low) * slope, 0.0, 1.0);
    const wide mix = r * ext_factor;
    return p * ((wide(1) - mix) * freq_scale + mix);
  });
}

}  // namespace ropewalk
