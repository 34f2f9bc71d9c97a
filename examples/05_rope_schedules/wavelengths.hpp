// The wavelengths of rope's schedules as SVG: how many positions each pair of features needs for a
// full turn, on a logarithmic axis.
#pragma once
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include <ropewalk/rope_schedule.hpp>

namespace examples {

struct named_schedule {
  std::string label;
  ropewalk::rope_schedule schedule;
  std::int64_t length = 0;  // the current length, for schedules by length
};

inline constexpr std::int64_t shown_width = 128, shown_context = 4096, shown_length = 32768;

// Every schedule of the library for a model of 4096 positions that is to reach 32768.
inline std::vector<named_schedule> shown_schedules() {
  using namespace ropewalk;
  constexpr double factor = 8, context = static_cast<double>(shown_context);
  std::vector<double> list, shorts, longs;
  for (int i = 0; i < shown_width / 2; ++i) {
    list.push_back(std::exp2(-i / 4.0));
    shorts.push_back(1);
    longs.push_back(1 + 30 / (1 + std::exp(-(i - 40) / 4.0)));
  }
  return {
      {"standard", rope_standard{}},
      {"explicit list", rope_frequency_list{list}},
      {"linear", rope_linear{.factor = factor}},
      {"NTK", rope_ntk{.factor = factor}},
      {"dynamic NTK", rope_dynamic_ntk{.factor = factor, .original_context = context},
       shown_length},
      {"Llama 3", rope_llama3{.base = 10000, .factor = factor, .original_context = context}},
      {"YaRN", rope_yarn{.factor = factor, .original_context = context}},
      {"YaRN untruncated",
       rope_yarn{.factor = factor, .original_context = context, .truncate = false}},
      {"LongRoPE", rope_longrope_list{10000, factor, context, shorts, longs}, shown_length},
      {"proportional", rope_proportional{.base = 1e6, .share = 0.5}},
      {"ggml", rope_ggml{.freq_scale = 1 / factor, .ext_factor = 0.5, .n_ctx_orig = context}},
  };
}

// Pairs to the right, positions per turn upwards; a pair that stands still is left out.
inline std::string wavelengths_svg(const std::vector<named_schedule>& schedules, std::int64_t width,
                                   std::int64_t context) {
  constexpr double wide = 840, high = 520, left = 60, top = 40, plot_wide = 590, plot_high = 420;
  constexpr double decades = 7;
  // Told apart by people with any colour vision (Okabe and Ito's set), repeated with dashes.
  constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73",
                                     "#cc79a7", "#e69f00", "#56b4e9"};
  const auto format = [](const char* pattern, auto... values) {
    char b[256];
    std::snprintf(b, sizeof b, pattern, values...);
    return std::string(b);
  };
  const auto x = [&](double pair) {
    return left + plot_wide * pair / (static_cast<double>(width) / 2 - 1);
  };
  const auto y = [&](double wave) { return top + plot_high * (1 - std::log10(wave) / decades); };
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      wide, high, wide, high);
  svg += format(
      "<text x=\"%g\" y=\"24\" font-size=\"16\">Positions per turn of each pair, width "
      "%ld</text>\n",
      left, static_cast<long>(width));
  for (int d = 0; d <= static_cast<int>(decades); ++d) {
    const double at = y(std::pow(10, d));
    svg += format("<path d=\"M%g %.1fH%g\" stroke=\"#ddd\"/>\n", left, at, left + plot_wide);
    svg +=
        format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">1e%d</text>\n", left - 8, at + 4, d);
  }
  for (std::int64_t pair = 0; pair < width / 2; pair += 8)
    svg += format("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%ld</text>\n",
                  x(static_cast<double>(pair)), top + plot_high + 20, static_cast<long>(pair));
  svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">pair</text>\n",
                left + plot_wide / 2, top + plot_high + 42);
  const double limit = y(static_cast<double>(context));
  svg += format("<path d=\"M%g %.1fH%g\" stroke=\"#333\" stroke-dasharray=\"2 3\"/>\n", left, limit,
                left + plot_wide);
  svg += format("<text x=\"%g\" y=\"%.1f\">original context</text>\n", left + 6, limit - 6);
  for (std::size_t k = 0; k < schedules.size(); ++k) {
    const named_schedule& s = schedules[k];
    const std::string stroke = format("fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s",
                                      colours[k % std::size(colours)],
                                      k < std::size(colours) ? "" : " stroke-dasharray=\"6 3\"");
    const std::vector<double> f = s.schedule.frequencies(width, s.length);
    svg += "<polyline " + stroke + " points=\"";
    for (std::size_t i = 0; i < f.size(); ++i)
      if (f[i] != 0)
        svg += format("%.1f,%.1f ", x(static_cast<double>(i)), y(2 * std::numbers::pi / f[i]));
    svg += "\"/>\n";
    const double row = top + 14 + 24 * static_cast<double>(k), key = left + plot_wide + 20;
    svg += "<path " + stroke + format(" d=\"M%g %gH%g\"/>\n", key, row - 4, key + 28);
    svg += format("<text x=\"%g\" y=\"%g\">%s</text>\n", key + 36, row, s.label.c_str());
  }
  return svg + "</svg>\n";
}

}  // namespace examples
