// The generator's main function: programs in, C++ sources of their kernels out.
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <ropewalk/graph/generate.hpp>
#include <ropewalk/graph/schedule.hpp>

#include "../graph/stages.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

struct command {
  std::string out;
  int files = 1;
  std::vector<build_options> builds;
};

int number(const std::string& option, std::string_view text, int least) {
  int n = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (code != std::errc() || end != text.data() + text.size() || n < least)
    throw error("generator", option, std::string(text),
                "must be a number of at least " + std::to_string(least));
  return n;
}

// "L=4,M=2"
build_options counts(std::string_view text) {
  build_options b;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text = one.size() < text.size() ? text.substr(one.size() + 1) : std::string_view();
    const std::size_t eq = one.find('=');
    if (eq == std::string_view::npos || eq == 0)
      throw error("generator", "--count", std::string(one), "must be NAME=NUMBER");
    b.bindings.push_back(
        {dim(std::string(one.substr(0, eq)).c_str()),
         number("--count " + std::string(one.substr(0, eq)), one.substr(eq + 1), 1)});
  }
  return b;
}

command parse(int argc, char** argv) {
  command c;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (option != "--out" && option != "--files" && option != "--count")
      throw error("generator", "option", option, "is none of --out --files --count");
    if (i + 1 == argc) throw error("generator", "option", option, "wants a value");
    if (option == "--out")
      c.out = argv[i + 1];
    else if (option == "--files")
      c.files = number(option, argv[i + 1], 1);
    else
      c.builds.push_back(counts(argv[i + 1]));
  }
  if (c.out.empty()) throw error("generator", "option --out is missing");
  if (c.builds.empty()) c.builds.emplace_back();
  return c;
}

void write_if_changed(const fs::path& path, const std::string& text) {
  if (std::ifstream in(path, std::ios::binary); in) {
    std::ostringstream old;
    old << in.rdbuf();
    if (old.str() == text) return;
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw error(path.string(), "cannot be written");
}

void generate(const command& c, std::span<const model_program> programs) {
  std::map<std::uint64_t, generated_kernel> kernels;
  for (const model_program& m : programs)
    for (const build_options& b : c.builds) {
      program_graph p;
      try {
        p = m.build(b);
      } catch (const error& e) {
        throw error("program " + std::string(m.name), e.what());
      }
      for (generated_kernel& k : schedule_stages(p).kernels) {
        const auto [at, fresh] = kernels.emplace(k.key, k);
        if (!fresh && at->second.text != k.text)
          throw error("program " + std::string(m.name), "kernel " + k.label, std::to_string(k.key),
                      "another text has this hash");
      }
    }
  // A kernel's file depends on the kernel alone: an edit of the model touches few files.
  std::vector<std::vector<generated_kernel>> files(static_cast<std::size_t>(c.files));
  for (auto& [key, k] : kernels) files[(key >> 32 ^ key) % files.size()].push_back(std::move(k));
  fs::create_directories(c.out);
  for (std::size_t f = 0; f < files.size(); ++f)
    write_if_changed(fs::path(c.out) / ("kernels_" + std::to_string(f) + ".cpp"),
                     kernel_source(files[f]));
}

}  // namespace

int generate_main(int argc, char** argv, std::span<const model_program> programs) {
  try {
    generate(parse(argc, argv), programs);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}

}  // namespace ropewalk
