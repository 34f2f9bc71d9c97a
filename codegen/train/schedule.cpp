// The rules of the learning-rate schedules: see include/ropewalk/train/schedule.hpp.
#include "ropewalk/train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

std::string text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", v);
  return buffer;
}
std::string text(long v) { return std::to_string(v); }

// `holds` is false for NaN too: conditions are written so that NaN fails them.
template <class T>
void check(bool holds, const char* where, const char* field, T value, const char* rule) {
  if (!holds) throw error(where, field, text(value), rule);
}

bool rate(double v) { return v >= 0 && std::isfinite(v); }
constexpr const char* rate_rule = "must be finite and not negative";

long checked(long step, const char* where) {
  check(step >= 0, where, "step", step, "must not be negative");
  return step;
}

warmup_options checked(const warmup_options& o, const char* where) {
  check(rate(o.base), where, "base", o.base, rate_rule);
  check(o.total >= 1, where, "total", o.total, "must be at least 1");
  check(o.warmup >= 0, where, "warmup", o.warmup, "must not be negative");
  check(o.warmup < o.total, where, "warmup", o.warmup,
        ("must be below total, " + text(o.total)).c_str());
  check(o.min_ratio >= 0 && o.min_ratio <= 1, where, "min_ratio", o.min_ratio, "must be in [0, 1]");
  return o;
}

// Calls decay(x) after the warm-up, x in [0, 1] the part of the decay that is over.
template <class F>
double warmed(const warmup_options& o, long t, F decay) {
  if (t < o.warmup) return o.base * static_cast<double>(t) / static_cast<double>(o.warmup);
  const double x = static_cast<double>(t - o.warmup) / static_cast<double>(o.total - o.warmup);
  return o.base * (o.min_ratio + (1 - o.min_ratio) * decay(std::min(x, 1.0)));
}

// From `a` at x = 0 to `b` at x = 1 along half a cosine.
double half_cosine(double a, double b, double x) {
  return b + (a - b) * (1 + std::cos(std::numbers::pi * x)) / 2;
}

}  // namespace

constant_rate::constant_rate(double base) : base_(base) {
  check(rate(base), "constant_rate", "base", base, rate_rule);
}
double constant_rate::at(long step) const {
  checked(step, "constant_rate");
  return base_;
}

warmup_cosine::warmup_cosine(const warmup_options& o) : o_(checked(o, "warmup_cosine")) {}
double warmup_cosine::at(long step) const {
  return warmed(o_, checked(step, "warmup_cosine"), [](double x) { return half_cosine(1, 0, x); });
}

warmup_linear::warmup_linear(const warmup_options& o) : o_(checked(o, "warmup_linear")) {}
double warmup_linear::at(long step) const {
  return warmed(o_, checked(step, "warmup_linear"), [](double x) { return 1 - x; });
}

step_decay::step_decay(const step_options& o) : o_(o) {
  check(rate(o.base), "step_decay", "base", o.base, rate_rule);
  check(o.every >= 1, "step_decay", "every", o.every, "must be at least 1");
  check(o.factor > 0 && o.factor <= 1, "step_decay", "factor", o.factor, "must be in (0, 1]");
}
double step_decay::at(long step) const {
  const long times = checked(step, "step_decay") / o_.every;
  return o_.base * std::pow(o_.factor, static_cast<double>(times));
}

exponential_decay::exponential_decay(double base, double factor) : base_(base), factor_(factor) {
  check(rate(base), "exponential_decay", "base", base, rate_rule);
  check(factor > 0 && factor <= 1, "exponential_decay", "factor", factor, "must be in (0, 1]");
}
double exponential_decay::at(long step) const {
  return base_ * std::pow(factor_, static_cast<double>(checked(step, "exponential_decay")));
}

one_cycle::one_cycle(const one_cycle_options& o) : o_(o) {
  const char* where = "one_cycle";
  check(rate(o.max), where, "max", o.max, rate_rule);
  check(o.total >= 2, where, "total", o.total, "must be at least 2");
  check(o.pct_start > 0 && o.pct_start < 1, where, "pct_start", o.pct_start, "must be in (0, 1)");
  check(o.pct_start * static_cast<double>(o.total) >= 1, where, "pct_start", o.pct_start,
        "times total must be at least 1");
  check(o.div >= 1 && std::isfinite(o.div), where, "div", o.div, "must be at least 1");
  check(o.final_div >= 1 && std::isfinite(o.final_div), where, "final_div", o.final_div,
        "must be at least 1");
}
double one_cycle::at(long step) const {
  const double t = static_cast<double>(checked(step, "one_cycle"));
  const double last = static_cast<double>(o_.total - 1);
  const double top = o_.pct_start * static_cast<double>(o_.total) - 1;
  const double first = o_.max / o_.div;
  if (t < top) return half_cosine(first, o_.max, t / top);
  return half_cosine(o_.max, first / o_.final_div, std::min((t - top) / (last - top), 1.0));
}

}  // namespace ropewalk
