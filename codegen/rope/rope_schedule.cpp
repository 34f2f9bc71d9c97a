// Rope's schedules at run time.
#include "ropewalk/rope_schedule.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

std::string number_text(double v) {
  char b[40];
  std::snprintf(b, sizeof b, "%.10g", v);
  return b;
}

// The rules of a list: one number per pair.
void require_list(rope_rules& r, const char* field, const std::vector<double>& list,
                  std::int64_t width, bool positive) {
  r.require(!list.empty(), field, 0, "must not be empty");
  r.require(width == 0 || width == 2 * static_cast<std::int64_t>(list.size()), field,
            static_cast<double>(list.size()), "must have width / 2 numbers");
  for (const double v : list)
    r.require(std::isfinite(v) && (v > 0 || !positive), field, v,
              positive ? "must hold positive numbers" : "must hold finite numbers");
}

}  // namespace

rope_fault rope_frequency_list::fault(std::int64_t width) const {
  rope_rules r;
  require_list(r.width(width), "frequency", frequency, width, false);
  return r.f;
}
void rope_frequency_list::fill(std::span<double> f, std::int64_t, std::int64_t) const {
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = frequency[i % frequency.size()];
}

rope_fault rope_longrope_list::fault(std::int64_t width) const {
  const rope_longrope<1> numbers{base, factor, original_context, {1}, {1}, attention_factor};
  rope_rules r{numbers.fault(0)};
  r.width(width);
  require_list(r, "short_factors", short_factors, width, true);
  require_list(r, "long_factors", long_factors, width, true);
  return r.f;
}
double rope_longrope_list::magnitude() const {
  return rope_longrope<1>{base, factor, original_context, {1}, {1}, attention_factor}.magnitude();
}
void rope_longrope_list::fill(std::span<double> f, std::int64_t width, std::int64_t length) const {
  const bool within = static_cast<double>(length) <= original_context;
  detail::fill_longrope(f, base, within ? short_factors : long_factors, width);
}

void rope_schedule::check(std::int64_t width) const {
  if (const rope_fault bad = filler_.fault(filler_.schedule, width))
    throw error(filler_.name, bad.field, number_text(bad.value), bad.rule);
}

std::vector<double> rope_schedule::frequencies(std::int64_t width, std::int64_t length) const {
  if (width <= 0)
    throw error(filler_.name, "width", std::to_string(width), "must be positive and even");
  check(width);
  if (by_length_ && length <= 0)
    throw error(filler_.name, "length", std::to_string(length),
                "must be positive: the frequencies depend on the current length");
  std::vector<double> f(static_cast<std::size_t>(width / 2));
  filler_.fill(filler_.schedule, f, width, length);
  return f;
}

std::string rope_schedule::table(std::int64_t width, std::int64_t length) const {
  std::string r = name() + ", width " + std::to_string(width) +
                  (by_length_ ? ", length " + std::to_string(length) : "") + ", magnitude " +
                  number_text(magnitude_) + "\npair inverse_frequency wavelength\n";
  const std::vector<double> f = frequencies(width, length);
  for (std::size_t i = 0; i < f.size(); ++i) {
    char line[96];
    std::snprintf(line, sizeof line, "%zu %.17g %.6g\n", i, f[i],
                  2 * std::numbers::pi / std::fabs(f[i]));
    r += line;
  }
  return r;
}

std::vector<std::int64_t> rope_row_order(std::int64_t heads, std::int64_t head_dim,
                                         rope_pairing from, rope_pairing to, std::int64_t width,
                                         std::int64_t offset) {
  const auto require = [](bool holds, const char* field, std::int64_t v, const char* rule) {
    if (!holds) throw error("rope_row_order", field, std::to_string(v), rule);
  };
  require(heads > 0, "heads", heads, "must be positive");
  require(head_dim > 0, "head_dim", head_dim, "must be positive");
  require(offset >= 0 && offset % 2 == 0, "offset", offset, "must be even and not negative");
  if (width == 0) width = head_dim - offset;
  require(width > 0 && width % 2 == 0, "width", width, "must be positive and even");
  require(offset + width <= head_dim, "width", width, "must fit into the head behind the offset");
  // Where feature `part` of pair i lies.
  const auto place = [&](rope_pairing p, std::int64_t i, std::int64_t part) {
    return offset + (p == rope_pairing::half_split ? i + part * (width / 2) : 2 * i + part);
  };
  std::vector<std::int64_t> r(static_cast<std::size_t>(heads * head_dim));
  for (std::size_t k = 0; k < r.size(); ++k) r[k] = static_cast<std::int64_t>(k);
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < width / 2; ++i)
      for (std::int64_t part = 0; part < 2; ++part)
        r[static_cast<std::size_t>(h * head_dim + place(to, i, part))] =
            h * head_dim + place(from, i, part);
  return r;
}

}  // namespace ropewalk
