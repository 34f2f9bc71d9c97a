// Learning-rate schedules: small values with `double at(long step) const`, step counted from 0.
//
// Options are checked when a schedule is made; an error names the option, its value and the rule.
// at() is defined for every step >= 0 (error below), also beyond `total`.
#pragma once
#include <new>
#include <type_traits>

namespace ropewalk {

// base at every step.
class constant_rate {
 public:
  explicit constant_rate(double base);  // base >= 0
  double at(long step) const;

 private:
  double base_;
};

// With w = warmup, n = total, m = min_ratio, x = min((t - w) / (n - w), 1):
//   t < w:        base t / w                               (0 at t = 0)
//   cosine decay: base (m + (1 - m) (1 + cos(pi x)) / 2)   (base m from t = n on)
//   linear decay: base (m + (1 - m) (1 - x))
// min_ratio = 1 is a warm-up into a constant rate.
// Rules: base >= 0, 0 <= warmup < total, 0 <= min_ratio <= 1.
struct warmup_options {
  double base = 0;
  long warmup = 0, total = 0;
  double min_ratio = 0;
};

class warmup_cosine {
 public:
  explicit warmup_cosine(const warmup_options& options);
  double at(long step) const;

 private:
  warmup_options o_;
};

class warmup_linear {
 public:
  explicit warmup_linear(const warmup_options& options);
  double at(long step) const;

 private:
  warmup_options o_;
};

// base factor^floor(t / every). Rules: base >= 0, every >= 1, 0 < factor <= 1.
struct step_options {
  double base = 0;
  long every = 1;
  double factor = 0.1;
};

class step_decay {
 public:
  explicit step_decay(const step_options& options);
  double at(long step) const;

 private:
  step_options o_;
};

// base factor^t. Rules: base >= 0, 0 < factor <= 1.
class exponential_decay {
 public:
  exponential_decay(double base, double factor);
  double at(long step) const;

 private:
  double base_, factor_;
};

// L. Smith's one cycle: half a cosine from max / div up to max at step pct_start total - 1, then
// half a cosine down to max / (div final_div) at step total - 1, which then stays.
// Rules: max >= 0, total >= 2, 0 < pct_start < 1 with pct_start total >= 1, div >= 1, final_div
// >= 1.
struct one_cycle_options {
  double max = 0;
  long total = 0;
  double pct_start = 0.3, div = 25, final_div = 1e4;
};

class one_cycle {
 public:
  explicit one_cycle(const one_cycle_options& options);
  double at(long step) const;

 private:
  one_cycle_options o_;
};

// Any of the above, or the user's own: a trivially copyable type of at most 64 bytes with
// `double at(long) const`, kept inside (no allocation).
class lr_schedule {
 public:
  template <class S>
    requires(!std::is_same_v<S, lr_schedule> && requires(const S& s) { double(s.at(0l)); })
  lr_schedule(const S& s)
      : at_([](const void* p, long t) -> double { return static_cast<const S*>(p)->at(t); }) {
    static_assert(std::is_trivially_copyable_v<S> && sizeof(S) <= sizeof storage_ &&
                      alignof(S) <= alignof(double),
                  "a schedule is a plain value of at most 64 bytes");
    ::new (static_cast<void*>(storage_)) S(s);
  }
  double at(long step) const { return at_(storage_, step); }

 private:
  alignas(double) unsigned char storage_[64] = {};
  double (*at_)(const void*, long);
};

}  // namespace ropewalk
