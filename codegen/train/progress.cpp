// The progress line: see include/ropewalk/train/log.hpp.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "ropewalk/core/error.hpp"
#include "ropewalk/train/log.hpp"

namespace ropewalk {
namespace {

constexpr double fade_seconds = 30, terminal_every = 0.1;

double clock_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// Columns of the terminal, 80 where it does not say.
std::size_t width_of(int descriptor) {
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

// 987, 12.3k, 4.56M: three digits.
std::string short_count(double v) {
  static const char* const units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (v >= 999.5 && unit + 1 < std::size(units)) {
    v /= 1000;
    ++unit;
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[unit]);
  return buffer;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0 && seconds < 1e12)) return "?";
  const long s = std::lround(seconds);
  char buffer[48];
  if (s < 60)
    std::snprintf(buffer, sizeof buffer, "%lds", s);
  else if (s < 3600)
    std::snprintf(buffer, sizeof buffer, "%ldm %02lds", s / 60, s % 60);
  else if (s < 86400)
    std::snprintf(buffer, sizeof buffer, "%ldh %02ldm", s / 3600, s % 3600 / 60);
  else
    std::snprintf(buffer, sizeof buffer, "%ldd %02ldh", s / 86400, s % 86400 / 3600);
  return buffer;
}

std::string progress_text(long step, long total, double loss, double tokens_per_second,
                          double seconds_left) {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "step %ld/%ld  loss %.4f", step, total, loss);
  std::string line = buffer;
  if (tokens_per_second > 0) line += "  " + short_count(tokens_per_second) + " tokens/s";
  if (seconds_left >= 0) line += "  " + duration_text(seconds_left) + " left";
  return line;
}

progress::progress(const progress_options& options)
    : progress(options, clock_now(), ::isatty(options.descriptor) == 1) {}

progress::progress(const progress_options& options, double now, bool terminal)
    : options_(options), terminal_(terminal), step_(options.first), last_(now), shown_(now) {
  if (options.total < 1)
    throw error("progress", "total", std::to_string(options.total), "must be at least 1");
  if (!(options.every >= 0))
    throw error("progress", "every", std::to_string(options.every), "must not be negative");
}

progress::~progress() {
  if (open_line_) show("\n");
}

void progress::show(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = ::write(options_.descriptor, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

void progress::update(long step, double loss, long tokens) {
  update(step, loss, tokens, clock_now());
}

void progress::update(long step, double loss, long tokens, double now) {
  const bool first = steps_ == 0 && seconds_ == 0;
  const double elapsed = std::max(now - last_, 0.0), keep = std::exp(-elapsed / fade_seconds);
  seconds_ = seconds_ * keep + elapsed;
  steps_ = steps_ * keep + static_cast<double>(step - step_);
  tokens_ = tokens_ * keep + static_cast<double>(tokens);
  step_ = step;
  last_ = now;
  const double pause = terminal_ ? terminal_every : options_.every;
  if (!first && step != options_.total && now - shown_ < pause) return;
  shown_ = now;

  const bool known = seconds_ > 0 && steps_ > 0;
  const double left = static_cast<double>(options_.total - step) * seconds_ / steps_;
  std::string line = progress_text(step, options_.total, loss, known ? tokens_ / seconds_ : 0,
                                   known && step < options_.total ? left : -1);
  if (!terminal_) {
    show(line + "\n");
    return;
  }
  line.resize(std::min(line.size(), width_of(options_.descriptor) - 1));  // never wraps
  show("\r" + line + "\x1b[K");
  open_line_ = true;
}

}  // namespace ropewalk
