// The training loop: reproducible, resumable, what it logs, how it stops, what it refuses.
#include "ropewalk/train/trainer.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>

#include "io/scratch.hpp"
#include "ropewalk/infer/generate.hpp"
#include "ropewalk/train/log.hpp"
#include "train/tiny_run.hpp"

using namespace testing;

namespace {

std::string bits_after(int threads, long steps) {
  tiny_run r(threads);
  r.with({.steps = steps}).run();
  return r.bits();
}

// Of a folder of a run.
std::string checkpoint_in(const scratch_folder& dir) {
  return read_file(trainer::checkpoint_path(dir.path));
}

}  // namespace

TEST_CASE("twenty steps give the same bits in every run and for every number of threads") {
  const std::string one = bits_after(1, 20);
  CHECK(one != bits_after(1, 19));
  CHECK(bits_after(1, 20) == one);
  CHECK(bits_after(2, 20) == one);
  CHECK(bits_after(2, 20) == one);
  CHECK(bits_after(3, 20) == one);
}

TEST_CASE("the model learns, and the log says so") {
  scratch_folder dir;
  tiny_run r;
  trainer t = r.with({.steps = 150, .evaluate_every = 50, .folder = dir.path}, 1e-2);
  const double before = t.validation_loss();
  const training_result done = t.run();
  CHECK(done.step == 150);
  CHECK(done.signal == 0);
  CHECK(done.tokens_per_second > 0);
  CHECK(before == doctest::Approx(std::log(r.data.tokens().vocab_size())).epsilon(0.05));
  CHECK(done.validation_loss < 0.6 * before);
  CHECK(done.validation_loss == t.validation_loss());
  const std::string log = dir / "log.csv";
  const curve loss = csv_curve(log, "train_loss"), validation = csv_curve(log, "val_loss");
  REQUIRE(loss.step.size() == 150);
  CHECK(validation.step == std::vector<double>{50, 100, 150});
  CHECK(validation.value.back() == done.validation_loss);
  double sum = 0;
  for (std::size_t k = 50; k < 150; ++k) sum += loss.value[k];
  CHECK(done.train_loss == doctest::Approx(sum / 100));
  CHECK(csv_curve(log, "grad_norm").value.size() == 150);
  CHECK(csv_curve(log, "learning_rate").value[7] == 1e-2);
  CHECK(std::filesystem::exists(dir / "loss.svg"));
  const checkpoint c(trainer::checkpoint_path(dir.path));
  CHECK(c.info().best_validation == done.best_validation);
  CHECK(c.info().tokenizer == r.data.tokens().description());
  CHECK(dir.files() == 3);
}

TEST_CASE("validation counts every window once, the last partial batch too") {
  long partial = 0;
  for (long words = 100; words < 106; ++words) {
    tiny_run r(1, tiny_words(1, words));
    trainer t = r.with({});
    session_core one =
        session<tiny_text::evaluate>(cpu(1), tiny_sizes(r.data, 1), {.parameters = r.weights});
    sequential_windows windows(r.data.validation(), 1, window);
    partial += windows.windows() % batch != 0;
    double sum = 0;
    std::vector<std::int32_t> x(window), y(window);
    for (long k = 0; k < windows.windows(); ++k) {
      windows.next(x, y);
      one.set("tokens", x);
      one.set("targets", y);
      one.run();
      sum += one.get("loss").item();
    }
    CHECK(t.validation_loss() ==
          doctest::Approx(sum / static_cast<double>(windows.windows())).epsilon(1e-6));
  }
  CHECK(partial > 0);
}

TEST_CASE("a run in pieces ends where a run in one piece does") {
  scratch_folder whole, parts;
  tiny_run r;
  r.with({.steps = 30, .evaluate_every = 7, .folder = whole.path}).run();
  long done = 0;
  for (const long steps : {1, 2, 13, 14, 30, 30}) {
    tiny_run p(2, tiny_words(1, 120), 5);
    trainer t = p.with({.steps = steps, .evaluate_every = 7, .folder = parts.path});
    CHECK(t.step() == done);
    done = steps;
    CHECK(t.run().step == steps);
    if (steps == 30) CHECK(p.bits() == r.bits());
  }
  CHECK(csv_curve(parts / "log.csv", "train_loss").value ==
        csv_curve(whole / "log.csv", "train_loss").value);
  const checkpoint a(trainer::checkpoint_path(whole.path)), b(trainer::checkpoint_path(parts.path));
  CHECK(a.info().sampler == b.info().sampler);
}

TEST_CASE("SIGINT and SIGTERM end a run after the step, with a checkpoint to go on from") {
  tiny_run r;
  r.with({.steps = 12}).run();
  for (const int number : {SIGINT, SIGTERM}) {
    scratch_folder dir;
    tiny_run a;
    const training_result stopped = a.with({.steps = 12,
                                            .folder = dir.path,
                                            .visit_every = 5,
                                            .visit =
                                                [&](long step) {
                                                  if (step == 5) ::raise(number);
                                                }})
                                        .run();
    CHECK(stopped.signal == number);
    CHECK(stopped.step == 5);
    CHECK(checkpoint(trainer::checkpoint_path(dir.path)).info().step == 5);
    tiny_run b;
    const training_result done = b.with({.steps = 12, .folder = dir.path}).run();
    CHECK(done.signal == 0);
    CHECK(done.step == 12);
    CHECK(b.bits() == r.bits());
  }
}

TEST_CASE("a loss that is not finite names the step and leaves the checkpoint") {
  scratch_folder dir;
  tiny_run a;
  a.with({.steps = 4, .folder = dir.path}).run();
  const std::string before = checkpoint_in(dir);
  const std::string message =
      message_of([&] { a.with({.steps = 9, .folder = dir.path}, 1e38).run(); });
  CHECK(has(message, "step 6"));
  CHECK(has(message, "must be finite"));
  CHECK(checkpoint_in(dir) == before);
  // A checked session says which operation it was.
  tiny_run b;
  b.train = session<tiny_text::train>(cpu(1), tiny_sizes(b.data, batch),
                                      {.parameters = b.weights, .check = true});
  const std::string first = message_of([&] { b.with({.steps = 9}, 1e38).run(); });
  INFO(first);
  CHECK(has(first, "[step 1]"));
  CHECK(has(first, "the first kernel that made a NaN"));
}

TEST_CASE("checkpoints of another run are refused, and nothing is written") {
  scratch_folder dir;
  {
    tiny_run a;
    a.with({.steps = 6, .folder = dir.path, .run = {{"text", "one"}}}).run();
  }
  const std::string checkpoint_before = checkpoint_in(dir), log = read_file(dir / "log.csv");
  tiny_run a;
  const std::string before = a.bits(), path = trainer::checkpoint_path(dir.path);
  const auto refused = [&](tiny_run& r, trainer_options o, const std::string& part) {
    o.folder = dir.path;
    const std::string message = message_of([&] { r.with(o); });
    INFO(message);
    return has(message, path) && has(message, part);
  };
  CHECK(refused(a, {.run = {{"text", "two"}}}, "text = one"));
  CHECK(refused(a, {.run = {{"model", "small"}}}, "model = nothing"));
  CHECK(refused(a, {.steps = 5, .run = {{"text", "one"}}}, "step = 6"));
  CHECK(a.bits() == before);
  tiny_run more(1, tiny_words(1, 120) + "!");
  CHECK(refused(more, {}, "tokenizer"));
  tiny_run longer(1, tiny_words(1, 121));
  CHECK(has(message_of([&] { longer.with({.folder = dir.path}); }), "tokens="));
  CHECK(checkpoint_in(dir) == checkpoint_before);
  CHECK(read_file(dir / "log.csv") == log);
  // Unless it is asked for.
  trainer t = more.with({.steps = 3, .folder = dir.path, .fresh = true});
  CHECK(t.step() == 0);
  t.run();
  CHECK(checkpoint(path).info().step == 3);
  CHECK(csv_curve(dir / "log.csv", "train_loss").step.size() == 3);
}

TEST_CASE("files of others in the folder are refused, and left as they are") {
  const std::pair<const char*, const char*> foreign[] = {
      {"log.csv", "step,train_loss,accuracy\n1,2,3\n"},
      {"log.csv", "time;value"},
      {"loss.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect/></svg>"},
      {"loss.svg", "x"},
      {"checkpoint.safetensors", "{}"}};
  for (const auto& [name, text] : foreign)
    for (const bool fresh : {false, true}) {
      scratch_folder dir;
      write_file_atomic(dir / name, text);
      tiny_run a;
      const std::string message =
          message_of([&] { a.with({.steps = 2, .folder = dir.path, .fresh = fresh}).run(); });
      INFO(message);
      CHECK(has(message, "[" + dir / name + "]"));
      CHECK(read_file(dir / name) == text);
      CHECK(dir.files() == 1);
    }
  // Weights that are no checkpoint, even if the run starts anew.
  scratch_folder dir;
  save_safetensors(dir / "checkpoint.safetensors", {}, {{"format", "pt"}});
  const std::string before = checkpoint_in(dir);
  tiny_run a;
  CHECK(has(message_of([&] { a.with({.folder = dir.path, .fresh = true}); }),
            "is not of a training"));
  CHECK(checkpoint_in(dir) == before);
  // What a run left behind, cut short or empty, is its own.
  for (const char* log : {"", "step,train_l",
                          "step,train_loss,val_loss,learning_rate,grad_norm,"
                          "tokens_per_second\n1,2,,3,4,5\n"}) {
    scratch_folder own;
    write_file_atomic(own / "log.csv", log);
    write_file_atomic(own / "loss.svg", "");
    tiny_run b;
    CHECK(b.with({.steps = 2, .folder = own.path}).run().step == 2);
    tiny_run again;
    again.with({.steps = 3, .folder = own.path, .fresh = true}).run();
    CHECK(csv_curve(own / "log.csv", "train_loss").step.size() == 3);
  }
}

TEST_CASE("what cannot be written is told before the first step") {
  for (const char* name : {"log.csv", "loss.svg", "checkpoint.safetensors"})
    for (const bool early : {false, true}) {
      scratch_folder dir;
      tiny_run a;
      const std::string before = a.bits();
      const auto block = [&] { std::filesystem::create_directory(dir / name); };
      if (early) block();
      const std::string message = message_of([&] {
        trainer t = a.with({.steps = 2, .folder = dir.path});
        if (!early) block();
        t.run();
      });
      INFO(message);
      CHECK(has(message, "[" + dir / name + "]"));
      CHECK(has(message, "regular file"));
      CHECK(a.bits() == before);
    }
}

TEST_CASE("what killed runs left unfinished is removed, and nothing else") {
  scratch_folder dir;
  const std::vector<std::string> left = {"log.csv.tmp-12-0", "checkpoint.safetensors.tmp-4711-17"},
                                 others = {"log.csv.tmp-mine", "notes.tmp-12-0", "log.csv.old"};
  for (const auto& names : {left, others})
    for (const std::string& name : names) write_file_atomic(dir / name, "x");
  tiny_run a;
  a.with({.steps = 1, .folder = dir.path}).run();
  for (const std::string& name : left) CHECK(!std::filesystem::exists(dir / name));
  for (const std::string& name : others) CHECK(read_file(dir / name) == "x");
  CHECK(dir.files() == 6);
}

TEST_CASE("a second run in the same folder is kept out, whoever holds it") {
  scratch_folder dir;
  tiny_run a, b;
  {
    trainer first = a.with({.steps = 4, .folder = dir.path, .visit_every = 2, .visit = [&](long) {
                              const std::string message =
                                  message_of([&] { b.with({.folder = dir.path}); });
                              CHECK(message == "[" + dir.path +
                                                   "] another run is at work in this folder: wait "
                                                   "for it, or choose another one");
                            }});
    CHECK(has(message_of([&] { b.with({.folder = dir.path + "/"}); }), "another run"));
    trainer moved = std::move(first);
    CHECK(has(message_of([&] { b.with({.folder = dir.path}); }), "another run"));
    CHECK(moved.run().step == 4);
    // A checkpoint can be read meanwhile.
    CHECK(checkpoint(trainer::checkpoint_path(dir.path)).info().step == 4);
  }
  CHECK(b.with({.folder = dir.path}).step() == 4);
}

TEST_CASE("inputs that no trainer sets are refused") {
  tiny_run a;
  session_core swapped =
      session<tiny_text::noisy>(cpu(1), tiny_sizes(a.data, batch), {.parameters = a.weights});
  const auto refused = [&](session_core& train, session_core& evaluate) {
    return message_of(
        [&] { trainer(train, evaluate, a.data, constant_rate(1), {.steps = 1, .batch = batch}); });
  };
  CHECK(refused(a.train, a.evaluate) == "");
  CHECK(has(refused(a.train, swapped), "program noisy, input = rng"));
  CHECK(has(refused(a.train, a.train), "program train, input = "));
}

TEST_CASE("options out of range, and sessions that share nothing, are refused") {
  tiny_run a, b;
  CHECK(has(message_of([&] { a.with({.steps = -1}); }), "steps = -1"));
  CHECK(has(message_of([&] { a.with({.evaluate_every = -2}); }), "evaluate_every = -2"));
  CHECK(has(message_of([&] { a.with({.save_every = -2}); }), "save_every = -2"));
  CHECK(has(message_of([&] {
              trainer(a.train, b.evaluate, a.data, constant_rate(1), {.steps = 1, .batch = batch});
            }),
            "share"));
  CHECK(has(message_of([&] {
              trainer(a.train, a.evaluate, a.data, constant_rate(1), {.steps = 1, .batch = 0});
            }),
            "batch"));
  scratch_folder dir;
  write_file_atomic(dir / "file", "x");
  CHECK(has(message_of([&] { a.with({.folder = dir / "file/below"}).run(); }), dir / "file"));
}

TEST_CASE("generation draws what the window predicts") {
  tiny_run r;
  r.with({.steps = 100}, 1e-2).run();
  session_core one =
      session<tiny_text::generate>(cpu(1), tiny_sizes(r.data, 1), {.parameters = r.weights});
  const tokenizer& tokens = r.data.tokens();
  token_sampler greedy({.temperature = 0});
  // Below a window and beyond it; in one go and token by token.
  std::vector<std::int32_t> all = tokens.encode("the ship ");
  const std::vector<std::int32_t> prompt = all;
  for (int k = 0; k < 20; ++k) {
    const auto next = generate(one, all, 1, greedy);
    REQUIRE(next.size() == 1);
    all.push_back(next[0]);
  }
  long told = 0;
  const auto drawn = generate(one, prompt, 20, greedy, [&](std::int32_t) { ++told; });
  CHECK(told == 20);
  CHECK(std::vector<std::int32_t>(all.begin() + 9, all.end()) == drawn);
  // What stands behind the last token does not matter: a window of just these tokens agrees.
  for (long n = 1; n < window; ++n) {
    std::vector<dim_binding> sizes = tiny_sizes(r.data, 1);
    sizes[1].value = n;
    session_core fitting = session<tiny_text::generate>(cpu(1), sizes, {.parameters = r.weights});
    const std::vector<std::int32_t> part(all.begin(), all.begin() + n);
    CHECK(generate(fitting, part, 1, greedy) == generate(one, part, 1, greedy));
  }
  CHECK(generate(one, prompt, 0, greedy).empty());
  CHECK(has(message_of([&] { generate(one, {}, 1, greedy); }), "prompt"));
  CHECK(has(message_of([&] { generate(one, prompt, -1, greedy); }), "count = -1"));
}
