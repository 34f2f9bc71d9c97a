// The generator as a program: its files, that unchanged ones stay untouched, its faults.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include <ropewalk/graph/generate.hpp>
#include <ropewalk/graph/schedule.hpp>

#include "build.hpp"

using namespace testing;
namespace fs = std::filesystem;

namespace {

const dim B{"B"}, T{"T"};

program_graph chain(const build_options& o) {
  builder b("chain");
  int x = b.input("x", {B, T});
  for (std::int64_t k = 0; k < (o.bindings.empty() ? 1 : o.bindings[0].value); ++k)
    x = b.sub(b.tanh(x), b.sum(x, 2, true));
  b.output("y", x);
  return b.p;
}
program_graph other(const build_options&) {
  builder b("other");
  b.output("y", b.sum(b.mul(b.input("x", {B, T}), b.param("w", {T})), 1));
  return b.p;
}
program_graph failing(const build_options&) { throw ropewalk::error("flatten", "no layers"); }

const model_program programs[] = {model_program_of<chain>("chain"),
                                  model_program_of<other>("other")};
const model_program bad[] = {model_program_of<failing>("failing")};

int run(std::vector<std::string> arguments, std::span<const model_program> of = programs) {
  arguments.insert(arguments.begin(), "generator");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  return generate_main(static_cast<int>(argv.size()), argv.data(), of);
}

std::string text_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  std::ostringstream s;
  s << in.rdbuf();
  return s.str();
}

struct folder {
  fs::path path = fs::temp_directory_path() / ("ropewalk_generate_" + std::to_string(getpid()));
  folder() { fs::remove_all(path); }
  ~folder() { fs::remove_all(path); }
  std::string file(int k) const {
    return (path / ("kernels_" + std::to_string(k) + ".cpp")).string();
  }
};

}  // namespace

TEST_CASE("every kernel is in one file, whatever their number") {
  for (const int files : {1, 3}) {
    const folder f;
    REQUIRE(run({"--out", f.path.string(), "--files", std::to_string(files)}) == 0);
    int seen = 0;
    for (const model_program& m : programs)
      for (const generated_kernel& k : make_schedule(m.build({})).kernels) {
        int in = 0;
        for (int n = 0; n < files; ++n) in += contains(text_of(f.file(n)), k.text) ? 1 : 0;
        CHECK(in == 1);
        ++seen;
      }
    CHECK(seen > 1);
    CHECK(fs::exists(f.file(files - 1)));
    CHECK(!fs::exists(f.file(files)));
  }
}

TEST_CASE("a second run touches nothing; an edit is seen; counts add kernels") {
  const folder f;
  const std::vector<std::string> command{"--out", f.path.string(), "--files", "2"};
  REQUIRE(run(command) == 0);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(5);
  for (const int k : {0, 1}) fs::last_write_time(f.file(k), old);
  const auto before = fs::last_write_time(f.file(0));
  const std::string first = text_of(f.file(0)), second = text_of(f.file(1));
  REQUIRE(run(command) == 0);
  CHECK(fs::last_write_time(f.file(0)) == before);
  CHECK(fs::last_write_time(f.file(1)) == before);
  std::ofstream(f.file(1)) << "// edited";
  REQUIRE(run(command) == 0);
  CHECK(text_of(f.file(1)) == second);
  CHECK(fs::last_write_time(f.file(0)) == before);
  std::vector<std::string> more = command;
  for (const char* c : {"L=1", "L=3"}) more.insert(more.end(), {"--count", c});
  REQUIRE(run(more) == 0);
  CHECK(text_of(f.file(0)).size() + text_of(f.file(1)).size() >= first.size() + second.size());
}

TEST_CASE("faults end with 2") {
  const folder f;
  const std::string out = f.path.string();
  CHECK(run({}) == 2);
  CHECK(run({"--out"}) == 2);
  CHECK(run({"--out", out, "--fiels", "2"}) == 2);
  CHECK(run({"--out", out, "--files", "0"}) == 2);
  CHECK(run({"--out", out, "--files", "2x"}) == 2);
  CHECK(run({"--out", out, "--count", "L"}) == 2);
  CHECK(run({"--out", out, "--count", "L=0"}) == 2);
  CHECK(run({"--out", out, "--count", "=3"}) == 2);
  CHECK(run({"--out", out}, bad) == 2);
  CHECK(!fs::exists(f.path));
  CHECK(run({"--out", "/dev/null/here"}) == 2);
}
