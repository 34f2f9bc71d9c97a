// The command line, by CLI11: the only file that includes it.
#include "options.hpp"

#include <limits>

#include <CLI/CLI.hpp>

namespace examples {

int parse(int argc, char** argv, text_options& o) {
  CLI::App app("Trains a small model on a text, character by character, and lets it write.");
  app.option_defaults()->always_capture_default();
  const auto from = [](long least) { return CLI::Range(least, long{1} << 40); };
  app.add_option("--text", o.text, "the text to learn from, UTF-8");
  app.add_option("--out", o.out,
                 "folder for the checkpoint, the log and the loss curve; if it has a checkpoint of "
                 "the same run, that is gone on from");
  app.add_flag("--fresh", o.fresh, "start anew: an old checkpoint is replaced");
  app.add_option("--steps", o.steps, "steps of the whole run")->check(from(1));
  app.add_option("--batch", o.batch, "windows of a step")->check(from(1));
  app.add_option("--context", o.context, "characters of a window")->check(from(1));
  app.add_option("--lr", o.rate, "the highest learning rate")->check(CLI::Range(0.0, 1e3));
  app.add_option("--seed", o.seed, "of the weights, the order of the windows, the samples")
      ->check(CLI::Range(0l, std::numeric_limits<long>::max()));  // else -1 is 2^64 - 1
  app.add_option("--eval-every", o.evaluate_every,
                 "steps between validations and checkpoints; 0: only at the end")
      ->check(from(0));
  app.add_option("--device", o.device, "what to run on")->check(CLI::IsMember({"cpu"}));
  app.add_option("--threads", o.threads, "0: as many as there are")->check(CLI::Range(0, 1024));
  app.add_flag("--check", o.check, "stop at the first operation that gives NaN or infinity; slow");
  app.add_flag("--profile", o.profile, "at the end, tell where the time went");
  app.add_option("--sample-every", o.sample_every, "steps between samples; 0: only at the end")
      ->check(from(0));
  app.add_option("--samples", o.samples, "how many samples to write at the end")->check(from(0));
  app.add_option("--length", o.length, "characters of a sample")->check(from(0));
  app.add_option("--temperature", o.temperature, "0: always the likeliest character");
  app.add_option("--top-k", o.top_k, "draw from the k likeliest; 0: from all");
  app.add_option("--top-p", o.top_p, "draw from the fewest that have this probability together");
  const CLI::Option* prompt = app.add_option("--generate-only", o.prompt,
                                             "write on from this text with the weights in --out");
  try {
    app.parse(argc, argv);
    if (o.out.empty()) throw CLI::RequiredError("--out");
    o.generate_only = prompt->count() > 0;
    if (o.text.empty() && !o.generate_only) throw CLI::RequiredError("--text");
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return -1;
}

}  // namespace examples
