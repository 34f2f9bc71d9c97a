// Progress lines, the CSV file over stops and resumptions, and the loss curve.
#include "ropewalk/train/log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"
#include "ropewalk/io/file.hpp"
#include "ropewalk/train/rng.hpp"

using namespace ropewalk;

namespace {

long count(const std::string& text, const std::string& part) {
  long n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

struct open_file {
  int descriptor;
  explicit open_file(const std::string& path)
      : descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)) {}
  ~open_file() { ::close(descriptor); }
};

}  // namespace

TEST_CASE("durations and progress lines") {
  const std::pair<double, const char*> durations[] = {
      {0, "0s"},         {59.4, "59s"},    {59.6, "1m 00s"}, {65, "1m 05s"},
      {3599, "59m 59s"}, {3600, "1h 00m"}, {7830, "2h 10m"}, {90000, "1d 01h"},
      {-1, "?"},         {INFINITY, "?"},  {NAN, "?"}};
  for (auto [seconds, text] : durations) CHECK(duration_text(seconds) == text);
  CHECK(progress_text(120, 1000, 2.34561, 12345, 80) ==
        "step 120/1000  loss 2.3456  12.3k tokens/s  1m 20s left");
  CHECK(progress_text(1, 2, NAN, 0, -1) == "step 1/2  loss nan");
  CHECK(progress_text(1, 2, 0, 999.6, -1) == "step 1/2  loss 0.0000  1.00k tokens/s");
  CHECK(progress_text(1, 2, 0, 4.56e6, -1) == "step 1/2  loss 0.0000  4.56M tokens/s");
}

TEST_CASE("plain lines: the first, the last, and one every so often") {
  scratch_folder dir;
  {
    open_file out(dir / "log");
    progress p({.total = 100, .every = 10, .descriptor = out.descriptor}, 0, false);
    for (long step = 1; step <= 100; ++step) p.update(step, 1.5, 50, double(step) * 0.5);
  }
  const std::string text = read_file(dir / "log");
  CHECK(count(text, "\n") == 6);  // steps 1, 21, 41, 61, 81 and 100
  CHECK(count(text, "\r") == 0);
  CHECK(has(text, "step 1/100  loss 1.5000  100 tokens/s  50s left\n"));
  CHECK(has(text, "step 41/100  loss 1.5000  100 tokens/s  30s left\n"));
  CHECK(text.ends_with("step 100/100  loss 1.5000  100 tokens/s\n"));
}

TEST_CASE("a terminal's line is rewritten, and ended when the run ends") {
  scratch_folder dir;
  {
    open_file out(dir / "log");
    progress p({.total = 1000, .first = 900, .descriptor = out.descriptor}, 0, true);
    for (long step = 901; step <= 1000; ++step) p.update(step, 1, 10, double(step - 900) * 0.02);
  }
  const std::string text = read_file(dir / "log");
  CHECK(text.starts_with("\rstep 901/1000  loss 1.0000  500 tokens/s  2s left\x1b[K\r"));
  CHECK(count(text, "\r") > 15);
  CHECK(count(text, "\r") < 25);  // ten a second
  CHECK(count(text, "\n") == 1);
  CHECK(text.ends_with("\x1b[K\n"));
}

TEST_CASE("progress: a change of speed shows within a minute; a closed pipe stops nothing") {
  scratch_folder dir;
  {
    open_file out(dir / "log");
    progress p({.total = 10000, .every = 0, .descriptor = out.descriptor}, 0, false);
    double now = 0;
    for (long step = 1; step <= 1000; ++step) p.update(step, 1, 10, now += 0.1);
    for (long step = 1001; step <= 1120; ++step) p.update(step, 1, 10, now += 1);
  }
  const std::string text = read_file(dir / "log");
  CHECK(has(text, "step 1000/10000  loss 1.0000  100 tokens/s  15m 00s left"));
  const auto line = text.substr(text.find("step 1120/"));
  const double rate = std::stod(line.substr(line.find("1.0000  ") + 8));
  CHECK(rate > 10);
  CHECK(rate < 13);
  progress closed({.total = 2, .descriptor = -1}, 0, true);
  closed.update(1, 1, 1, 1);
  CHECK(has(message_of([&] { progress({.total = 0}); }), "total = 0"));
  CHECK(has(message_of([&] { progress({.total = 1, .every = NAN}); }), "every = "));
}

TEST_CASE("CSV rows read back as the same numbers; gaps stay gaps") {
  scratch_folder dir;
  rng r(1);
  curve train, validation;
  {
    csv_log log(dir / "log.csv", {"train", "validation"});
    for (long step = 3; step < 900; step += 1 + static_cast<long>(r.below(5))) {
      const csv_cell a = std::ldexp(r.normal(), static_cast<int>(r.below(400)) - 200);
      csv_cell b;
      if (r.below(3) == 0) b = r.below(2) ? r.normal() : r.below(2) ? INFINITY : -INFINITY;
      log.append(step, std::vector{a, b});
      train.step.push_back(double(step)), train.value.push_back(a.value);
      if (b.given) validation.step.push_back(double(step)), validation.value.push_back(b.value);
    }
    log.append(1000, std::vector<csv_cell>{NAN, {}});
  }
  const auto t = csv_curve(dir / "log.csv", "train"), v = csv_curve(dir / "log.csv", "validation");
  REQUIRE(t.step.size() == train.step.size() + 1);
  CHECK(std::isnan(t.value.back()));
  CHECK(std::equal(train.value.begin(), train.value.end(), t.value.begin()));
  CHECK(v.step == validation.step);
  CHECK(v.value == validation.value);
  CHECK(v.label == "validation");
  CHECK(read_file(dir / "log.csv").starts_with("step,train,validation\n3,"));
}

TEST_CASE("a run killed at any byte and resumed at any step leaves the file of one whole run") {
  scratch_folder dir;
  auto append = [](csv_log& log, long step) {
    log.append(step, std::vector<csv_cell>{step / 7.0, step % 3 ? csv_cell() : csv_cell(1.0)});
  };
  const std::vector<std::string> columns{"a", "b"};
  {
    csv_log log(dir / "whole", columns);
    for (long step = 1; step <= 7; ++step) append(log, step);
  }
  const std::string whole = read_file(dir / "whole");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut)
    for (long resumed : {0l, 1l, 4l, 7l}) {
      // A checkpoint of step s exists only after the rows up to s are written.
      if (resumed && cut < whole.find('\n' + std::to_string(resumed) + ',') + 1) continue;
      write_file_atomic(dir / "cut", whole.substr(0, cut));
      const auto rows = count(whole.substr(0, cut), "\n") - 1;
      {
        csv_log log(dir / "cut", columns, resumed);
        for (long step = std::min(resumed, std::max(rows, 0l)) + 1; step <= 7; ++step)
          append(log, step);
      }
      CHECK(read_file(dir / "cut") == whole);
    }
  {
    csv_log log(dir / "new", columns, 7);  // resumed, but the log is gone
    append(log, 8);
  }
  CHECK(has(read_file(dir / "new"), "step,a,b\n8,"));
  {
    csv_log log(dir / "new", columns);
  }  // not resumed: begun anew
  CHECK(read_file(dir / "new") == "step,a,b\n");
  CHECK(dir.files() == 3);
}

TEST_CASE("CSV faults") {
  scratch_folder dir;
  const std::string path = dir / "log.csv";
  auto resume = [&](const std::string& text) {
    write_file_atomic(path, text);
    return message_of([&] { csv_log(path, {"a"}, 5); });
  };
  CHECK(resume("step,a\n1,2\n") == "");
  CHECK(has(resume("step,b\n1,2\n"), "log.csv] header = step,b: must be step,a"));
  CHECK(has(resume("step,a,b\n"), "header = step,a,b"));
  CHECK(has(resume("steq"), "header = steq"));
  CHECK(has(resume("step,a\n1,2\nx,2\n"), "line 3 = x,2: must begin with a step"));
  CHECK(has(resume("step,a\n-1,2\n"), "line 2 = -1,2"));
  CHECK(has(resume("step,a\n\n"), "line 2 = "));
  CHECK(read_file(path) == "step,a\n\n");  // refused, not changed
  CHECK(has(message_of([&] { csv_log(path, {"a,b"}); }), "column = \"a,b\""));
  CHECK(has(message_of([&] { csv_log(path, {""}); }), "column = \"\""));
  CHECK(has(message_of([&] { csv_log(dir / "no/log", {"a"}); }), "/no/log]"));

  csv_log log(path, {"a"});
  const std::vector<csv_cell> one{1.0};
  log.append(5, one);
  CHECK(has(message_of([&] { log.append(5, one); }), "step = 5: must be above the one before, 5"));
  CHECK(has(message_of([&] { log.append(6, {}); }), "cells = 0: must be as many"));
  CHECK(has(message_of([&] { csv_curve(path, "b"); }), "column = b"));
  CHECK(has(message_of([&] { csv_curve(path, "step"); }), "column = step"));
  write_file_atomic(dir / "bad", "step,a\n1,2x\n");
  CHECK(has(message_of([&] { csv_curve(dir / "bad", "a"); }), "line 2, a = 2x: must be a number"));
}

TEST_CASE("a row that the disk does not take whole is taken back") {
  scratch_folder dir;
  csv_log log(dir / "log", {"a"});
  const std::vector<csv_cell> cell{0.123456789012345};
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small{57, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  log.append(1, cell);
  log.append(2, cell);
  auto message = message_of([&] { log.append(3, cell); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_MESSAGE(has(message, "step 3 cannot be written"), message);
  CHECK(read_file(dir / "log") == "step,a\n1,0.123456789012345\n2,0.123456789012345\n");
  log.append(3, cell);  // and can be tried again
  CHECK(read_file(dir / "log").ends_with("\n3,0.123456789012345\n"));
}

TEST_CASE("the loss curve: a line a curve, gaps at NaN, thinned, escaped") {
  scratch_folder dir;
  rng r(1);
  curve train{"train <&> \xFF\x01", {}, {}}, validation{"validation", {}, {}};
  for (int i = 1; i <= 100'000; ++i) {
    train.step.push_back(i);
    train.value.push_back(1.4 + 2.8 * std::exp(-i / 9000.0) + 0.05 * r.normal());
    if (i % 5000 == 0)
      validation.step.push_back(i), validation.value.push_back(train.value.back() + 0.1);
  }
  train.value[50'000] = NAN;
  train.value[70'000] = 1e301;
  train.value[90'000] = INFINITY;
  const double highest = 9.25;
  train.value[12'345] = highest;  // a spike must survive the thinning
  const std::vector<curve> curves{train, validation};
  save_loss_curve(dir / "a.svg", curves, "loss of \"run\" & more");
  const std::string svg = read_file(dir / "a.svg");
  CHECK(svg.size() < 100'000);
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "<polyline") == 5);  // three gaps in train
  CHECK(count(svg, "<circle") == 20);
  CHECK(has(svg, "train &lt;&amp;> ??"));
  CHECK(has(svg, "loss of \"run\" &amp; more"));
  CHECK(has(svg, ">100000</text>"));
  CHECK(has(svg, ">10</text>"));
  CHECK(count(svg, "nan") == 0);
  CHECK(count(svg, "inf") == 0);
  CHECK(has(svg, ",76.2 "));  // the spike: y = 9.25 of an axis from 0 to 10
  // To look at it: ROPEWALK_KEEP_SVG=curve.svg test_train_log.
  if (const char* keep = std::getenv("ROPEWALK_KEEP_SVG")) write_file_atomic(keep, svg);
}

TEST_CASE("loss curves without points, with one, flat, tiny and huge") {
  scratch_folder dir;
  const std::vector<std::vector<double>> cases[] = {{{}, {}},
                                                    {{1}, {2}},
                                                    {{1, 2, 3}, {0, 0, 0}},
                                                    {{1, 2}, {NAN, NAN}},
                                                    {{0, 1}, {1e-9, 2e-9}},
                                                    {{0, 1e12}, {-1e299, 1e299}},
                                                    {{1e6, 1e6 + 1}, {5, 5.0000000001}}};
  for (const auto& c : cases) {
    save_loss_curve(dir / "a.svg", std::vector<curve>{{"x", c[0], c[1]}});
    const std::string svg = read_file(dir / "a.svg");
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(count(svg, "nan") == 0);
    CHECK(count(svg, "inf") == 0);
    CHECK(count(svg, "text-anchor=\"end\"") >= 2);
    CHECK(count(svg, "text-anchor=\"end\"") < 20);
  }
  CHECK(has(message_of([&] { save_loss_curve(dir / "a", std::vector<curve>{{"x", {1}, {}}}); }),
            "curve x = 0 values: must be as many as its steps, 1"));
  CHECK(has(message_of([&] { save_loss_curve(dir / "no/a", {}); }), "/no/a]"));
}
