// The loss curve as SVG: see include/ropewalk/train/log.hpp.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ropewalk/core/error.hpp"
#include "ropewalk/io/file.hpp"
#include "ropewalk/train/log.hpp"
#include "utf8.hpp"

namespace ropewalk {
namespace {

constexpr double width = 840, height = 480, left = 70, right = 40, top = 48, bottom = 56;
constexpr double plot_width = width - left - right, plot_height = height - top - bottom;
// Told apart by people with any colour vision, and in grey (Okabe and Ito's set).
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};

std::string format(const char* pattern, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

// Text for XML: marks escaped, control characters and what is not UTF-8 replaced.
std::string xml(const std::string& text) {
  std::string out;
  char32_t c = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!next_code_point(text, at, c)) {
      ++at;
      c = '?';
    }
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      append_code_point(out, c < 0x20 || c == 0xFFFE || c == 0xFFFF ? U'?' : c);
  }
  return out;
}

// The ends of an axis and its ticks, at multiples of 1, 2 or 5 times a power of ten.
struct axis {
  double low, high, tick;
  axis(double least, double greatest, int ticks) : low(least), high(greatest) {
    if (!(low <= high)) low = 0, high = 1;  // no finite value at all
    if (high - low < 1e-12 * std::max(std::abs(low), std::abs(high)) || high == low) {
      const double room = std::max(std::abs(low) * 0.1, 1e-3);
      low -= room, high += room;
    }
    const double rough = (high - low) / ticks, unit = std::pow(10, std::floor(std::log10(rough)));
    tick = (rough <= unit * 1.0001 ? 1 : rough <= 2 * unit ? 2 : rough <= 5 * unit ? 5 : 10) * unit;
  }
  void widen() {
    low = std::floor(low / tick + 1e-9) * tick;
    high = std::ceil(high / tick - 1e-9) * tick;
  }
  double part(double v) const { return (v - low) / (high - low); }
  // As many decimals as the tick needs.
  std::string label(double v) const {
    if (std::abs(v) < tick * 1e-6) v = 0;
    const double size = std::max(std::abs(low), std::abs(high));
    if (size >= 1e7 || size < 1e-3) return format("%.3g", v);
    return format("%.*f", std::max(0, static_cast<int>(-std::floor(std::log10(tick) + 1e-9))), v);
  }
};

// Beyond 1e300 the width of an axis overflows: as good as infinite.
bool drawable(double v) { return std::abs(v) < 1e300; }

struct point {
  double x, y;
};

// The first, least, greatest and last point of every pixel column, in order, if that is fewer.
std::vector<point> thinned(const std::vector<point>& points) {
  if (static_cast<double>(points.size()) <= 2 * plot_width) return points;
  std::vector<point> out;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    const double column = std::floor(points[begin].x);
    while (end < points.size() && std::floor(points[end].x) == column) ++end;
    auto [least, greatest] = std::minmax_element(
        points.begin() + static_cast<long>(begin), points.begin() + static_cast<long>(end),
        [](const point& a, const point& b) { return a.y < b.y; });
    std::size_t keep[] = {begin, static_cast<std::size_t>(least - points.begin()),
                          static_cast<std::size_t>(greatest - points.begin()), end - 1};
    std::ranges::sort(keep);
    for (std::size_t i = 0; i < 4; ++i)
      if (i == 0 || keep[i] != keep[i - 1]) out.push_back(points[keep[i]]);
  }
  return out;
}

std::string line_of(const std::vector<point>& points, const char* colour, double thickness) {
  std::string out = format(
      "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" "
      "stroke-linejoin=\"round\" points=\"",
      colour, thickness);
  for (const point& p : thinned(points)) out += format("%.1f,%.1f ", p.x, p.y);
  return out + "\"/>\n";
}

// What every curve begins with.
std::string head() {
  return format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      width, height, width, height);
}

}  // namespace

bool is_loss_curve(std::string_view begin) { return begin.starts_with(head()); }

void save_loss_curve(const std::string& path, std::span<const curve> curves,
                     const std::string& title) {
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  for (const curve& c : curves) {
    if (c.step.size() != c.value.size())
      throw error(path, "curve " + c.label, std::to_string(c.value.size()) + " values",
                  "must be as many as its steps, " + std::to_string(c.step.size()));
    for (std::size_t i = 0; i < c.step.size(); ++i) {
      if (!drawable(c.value[i]) || !drawable(c.step[i])) continue;
      x_low = std::min(x_low, c.step[i]), x_high = std::max(x_high, c.step[i]);
      y_low = std::min(y_low, c.value[i]), y_high = std::max(y_high, c.value[i]);
    }
  }
  const axis x(x_low, x_high, 8);
  axis y(y_low, y_high, 6);
  y.widen();
  auto at = [&](double step, double value) {
    return point{left + x.part(step) * plot_width, top + (1 - y.part(value)) * plot_height};
  };

  std::string svg = head();
  svg += format("<text x=\"%g\" y=\"28\" font-size=\"16\">", left) + xml(title) + "</text>\n";

  for (double v = std::ceil(y.low / y.tick - 1e-9) * y.tick; v <= y.high + y.tick * 1e-6;
       v += y.tick) {
    const double py = at(x.low, v).y;
    svg += format("<path d=\"M%g %.1fH%g\" stroke=\"#e4e4e4\"/>\n", left, py, width - right);
    svg += format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">", left - 8, py + 4.5) +
           y.label(v) + "</text>\n";
  }
  for (double v = std::ceil(x.low / x.tick - 1e-9) * x.tick; v <= x.high + x.tick * 1e-6;
       v += x.tick) {
    const double px = at(v, y.low).x;
    svg += format("<path d=\"M%.1f %gv5\" stroke=\"#333\"/>\n", px, height - bottom);
    svg += format("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">", px, height - bottom + 20) +
           x.label(v) + "</text>\n";
  }
  svg += format("<path d=\"M%g %gV%gH%g\" fill=\"none\" stroke=\"#333\"/>\n", left, top,
                height - bottom, width - right);
  svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">step</text>\n",
                left + plot_width / 2, height - 14);

  for (std::size_t k = 0; k < curves.size(); ++k) {
    const curve& c = curves[k];
    const char* colour = colours[k % std::size(colours)];
    std::vector<point> run;
    double last = NAN;
    auto flush = [&] {
      if (!run.empty()) svg += line_of(run, colour, k == 0 ? 1.2 : 2.0);
      // A lone point would draw nothing, and the few points of a validation loss are worth seeing.
      if (run.size() == 1 || c.step.size() <= 60)
        for (const point& p : run)
          svg +=
              format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", p.x, p.y, colour);
      run.clear();
    };
    for (std::size_t i = 0; i < c.step.size(); ++i) {
      if (!drawable(c.value[i]) || !drawable(c.step[i])) {
        flush();
        continue;
      }
      last = c.value[i];
      run.push_back(at(c.step[i], last));
    }
    flush();
    const double row = top + 16 + 20 * static_cast<double>(k), column = width - right - 190;
    svg +=
        format("<path d=\"M%g %gh24\" stroke=\"%s\" stroke-width=\"2\"/>\n", column, row, colour);
    svg += format("<text x=\"%g\" y=\"%g\">", column + 32, row + 4.5) + xml(c.label) +
           (std::isnan(last) ? "" : format(", last %.4g", last)) + "</text>\n";
  }
  write_file_atomic(path, svg + "</svg>\n");
}

}  // namespace ropewalk
