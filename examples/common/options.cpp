// The command line, by CLI11: the only file that includes it.
#include "options.hpp"

#include <charconv>
#include <limits>

#include <CLI/CLI.hpp>

namespace examples {
namespace {

// A number in [least, most], read strictly: CLI11 takes one that is too large for its type for the
// largest there is, and NaN is in each of its ranges.
template <class T>
CLI::Validator number(T least, T most) {
  const std::string range =
      "from " + CLI::detail::to_string(least) + " to " + CLI::detail::to_string(most);
  return CLI::Validator(
      [=](std::string& text) {
        T v{};
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
        const bool good = code == std::errc() && end == text.data() + text.size();
        return good && v >= least && v <= most ? std::string() : text + " is no number " + range;
      },
      range);
}

constexpr long many = long{1} << 40, largest = std::numeric_limits<long>::max();

}  // namespace

int parse(int argc, char** argv, text_options& o) {
  CLI::App app("Trains a small model on a text, character by character, and lets it write.");
  app.option_defaults()->always_capture_default();
  const auto from = [](long least) { return number<long>(least, many); };
  app.add_option("--text", o.text, "the text to learn from, UTF-8");
  app.add_option("--out", o.out,
                 "folder for the checkpoint, the log and the loss curve; if it has a checkpoint of "
                 "the same run, that is gone on from");
  CLI::Option* fresh =
      app.add_flag("--fresh", o.fresh, "start anew: an old checkpoint is replaced");
  CLI::Option* steps = app.add_option("--steps", o.steps, "steps of the whole run")->check(from(1));
  CLI::Option* batch = app.add_option("--batch", o.batch, "windows of a step")->check(from(1));
  CLI::Option* context =
      app.add_option("--context", o.context, "characters of a window")->check(from(1));
  CLI::Option* rate =
      app.add_option("--lr", o.rate, "the highest learning rate")->check(number<double>(0, 1000));
  app.add_option("--seed", o.seed, "of the weights, the order of the windows, the samples")
      ->check(number<long>(0, largest));
  CLI::Option* evaluate =
      app.add_option("--eval-every", o.evaluate_every,
                     "steps between validations and checkpoints; 0: only at the end")
          ->check(from(0));
  app.add_option("--device", o.device, "what to run on")->check(CLI::IsMember({"cpu"}));
  app.add_option("--threads", o.threads, "0: as many as there are")->check(number<long>(0, 1024));
  app.add_flag("--check", o.check, "stop at the first operation that gives NaN or infinity; slow");
  app.add_flag("--profile", o.profile, "at the end, tell where the time went");
  CLI::Option* sample =
      app.add_option("--sample-every", o.sample_every, "steps between samples; 0: only at the end")
          ->check(from(0));
  app.add_option("--samples", o.samples, "how many samples to write at the end")->check(from(0));
  app.add_option("--length", o.length, "characters of a sample")->check(from(0));
  app.add_option("--temperature", o.temperature, "0: always the likeliest character")
      ->check(number<double>(0, 1000));
  app.add_option("--top-k", o.top_k, "draw from the k likeliest; 0: from all")->check(from(0));
  app.add_option("--top-p", o.top_p, "draw from the fewest that have this probability together")
      ->check(number<double>(0, 1));
  CLI::Option* prompt = app.add_option("--generate-only", o.prompt,
                                       "write on from this text with the weights in --out, and the "
                                       "window that they were trained for");
  for (CLI::Option* training : {fresh, steps, rate, evaluate, sample}) prompt->excludes(training);
  try {
    app.parse(argc, argv);
    if (o.out.empty()) throw CLI::RequiredError("--out");
    o.generate_only = prompt->count() > 0;
    if (o.generate_only && batch->count() == 0) o.batch = 0;
    if (o.generate_only && context->count() == 0) o.context = 0;
    if (o.text.empty() && !o.generate_only) throw CLI::RequiredError("--text");
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return -1;
}

}  // namespace examples
