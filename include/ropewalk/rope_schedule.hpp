// Frequency schedules of rope at run time: their numbers, printed tables, schedules from lists of
// any length, and the order of weight rows that turns one pairing of a checkpoint into the other.
//
//   ropewalk::rope_schedule s = ropewalk::rope_llama3{.factor = 32};
//   std::vector<double> f = s.frequencies(128);
//   std::puts(s.table(128).c_str());
//
// A model takes a schedule as a template argument (frequencies<rope_llama3{...}>), or, where it is
// known at run time only, as values: frequencies_from(input<"f", f64, D / 2>) and
// magnitude_from(input<"m", f64>).
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ropewalk/ops/rope/options.hpp"

namespace ropewalk {

// Lists whose length is known at run time only; see rope_list and rope_longrope.
struct rope_frequency_list {
  std::vector<double> frequency{};
  static constexpr const char* name = "rope_frequency_list";
  static constexpr bool by_length = false;
  rope_fault fault(std::int64_t width) const;
  double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};
struct rope_longrope_list {
  double base = 10000, factor = 1, original_context = 4096;
  std::vector<double> short_factors{}, long_factors{};
  double attention_factor = 0;
  static constexpr const char* name = "rope_longrope_list";
  static constexpr bool by_length = true;
  rope_fault fault(std::int64_t width) const;
  double magnitude() const;
  void fill(std::span<double> f, std::int64_t width, std::int64_t length) const;
};

// A schedule of any class.
class rope_schedule {
 public:
  // Error: an argument that breaks a rule, by name and value.
  template <class Schedule>
    requires requires(const Schedule& s) { s.fault(std::int64_t{}); }
  rope_schedule(const Schedule& s)  // NOLINT: implicit, schedules are values
      : value_(std::make_shared<Schedule>(s)),
        filler_{Schedule::name, value_.get(),
                [](const void* p, std::int64_t width) {
                  return static_cast<const Schedule*>(p)->fault(width);
                },
                [](const void* p, std::span<double> f, std::int64_t width, std::int64_t length) {
                  static_cast<const Schedule*>(p)->fill(f, width, length);
                }},
        by_length_(Schedule::by_length) {
    check(0);
    magnitude_ = s.magnitude();
  }

  std::string name() const { return filler_.name; }
  bool by_length() const { return by_length_; }
  // m, by which cos and sin are multiplied.
  double magnitude() const { return magnitude_; }
  // The inverse frequencies of the width / 2 pairs, to the last bit; `length` is the current
  // length, which schedules by_length need. Errors: a width that is not positive and even, or that
  // the schedule does not fit; such a schedule without a positive length.
  std::vector<double> frequencies(std::int64_t width, std::int64_t length = 0) const;
  // A line per pair: number, inverse frequency, wavelength in positions (inf where it stands
  // still).
  std::string table(std::int64_t width, std::int64_t length = 0) const;

 private:
  void check(std::int64_t width) const;

  std::shared_ptr<const void> value_;
  op::rope_filler filler_;
  bool by_length_;
  double magnitude_ = 1;
};

// Row r of a q or k projection for pairs `to` is row result[r] of the same projection for pairs
// `from`: weight [heads * head_dim, in], bias [heads * head_dim]. Only the rotary window's rows
// move (width 0: all of a head). Errors: a size that is not positive; a window that is odd or does
// not fit.
std::vector<std::int64_t> rope_row_order(std::int64_t heads, std::int64_t head_dim,
                                         rope_pairing from, rope_pairing to, std::int64_t width = 0,
                                         std::int64_t offset = 0);

}  // namespace ropewalk
