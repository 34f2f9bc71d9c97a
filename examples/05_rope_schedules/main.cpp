// Draws the wavelengths of every frequency schedule of rope, and prints their numbers.
//
//   example_rope_schedules [out.svg]
//
// A schedule is a value: it gives one frequency per pair of features, and a magnitude.
#include <cstdio>
#include <exception>

#include <ropewalk/io/file.hpp>

#include "wavelengths.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  try {
    const std::string path = argc > 1 ? argv[1] : "rope_wavelengths.svg";
    const std::vector<named_schedule> all = shown_schedules();
    std::printf("%-18s %10s %14s %14s\n", "schedule", "magnitude", "shortest turn", "longest turn");
    for (const named_schedule& s : all) {
      double longest = 0;
      const std::vector<double> f = s.schedule.frequencies(shown_width, s.length);
      for (const double v : f)
        if (v != 0) longest = std::max(longest, 2 * std::numbers::pi / v);
      std::printf("%-18s %10.4f %14.2f %14.0f\n", s.label.c_str(), s.schedule.magnitude(),
                  2 * std::numbers::pi / f[0], longest);
    }
    // One schedule in full.
    std::printf("\n%s", ropewalk::rope_schedule(ropewalk::rope_llama3{}).table(16).c_str());
    ropewalk::write_file_atomic(path, wavelengths_svg(all, shown_width, shown_context));
    std::printf("\nwritten: %s\n", path.c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
