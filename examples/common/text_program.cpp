// Learning a text and writing on from it, with any model: data, sessions, trainer, samples.
#include "text_program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

#include <ropewalk/infer/generate.hpp>
#include <ropewalk/train/trainer.hpp>

namespace examples {
namespace {

using namespace ropewalk;

using dims = std::vector<dim_binding>;
dims sizes(long batch, long context, long vocabulary) {
  return {{dim("B"), batch}, {dim("T"), context}, {dim("V"), vocabulary}};
}

token_sampler sampler_of(const text_options& o, std::uint64_t number) {
  return token_sampler({.temperature = o.temperature,
                        .top_k = o.top_k,
                        .top_p = o.top_p,
                        .seed = derive_seed(o.seed, 1000 + number)});
}

// Writes `o.length` characters that follow the prompt, as they are drawn.
void write_sample(session_core& generator, const tokenizer& tokens, const std::string& prompt,
                  const text_options& o, std::uint64_t number) {
  token_sampler sampler = sampler_of(o, number);
  const std::vector<std::int32_t> start = tokens.encode(prompt, "prompt");
  if (start.empty()) throw error("prompt", "is empty: nothing to write on from");
  std::fputs(prompt.c_str(), stdout);
  generate(generator, start, o.length, sampler, [&](std::int32_t token) {
    std::fputs(tokens.decode(std::span(&token, 1)).c_str(), stdout);
    std::fflush(stdout);
  });
  std::fputs("\n", stdout);
}

// Output that went nowhere (a full disk, a closed pipe) is an error, if the only one.
void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw error("standard output", "cannot be written");
}

// A checkpoint says which characters its model knows, and for which window it was trained.
int write_only(const text_model& model, const text_options& o) {
  const checkpoint from(trainer::checkpoint_path(o.out));
  metadata_list run{{"model", model.description}};
  if (o.batch > 0) run.emplace_back("batch", std::to_string(o.batch));
  if (o.context > 0) run.emplace_back("window", std::to_string(o.context));
  if (!o.text.empty()) run.emplace_back("text", fingerprint(read_file(o.text)));
  from.require_run(run);
  const tokenizer tokens = from.tokens();
  session_core generator =
      model.generate(cpu(o.threads), sizes(1, from.window(), tokens.vocab_size()),
                     {.check = o.check, .profile = o.profile});
  load_weights(from.path(), *generator.parameters());
  for (long k = 0; k < o.samples; ++k) {
    write_sample(generator, tokens, o.prompt, o, static_cast<std::uint64_t>(k));
    check_output();
  }
  if (o.profile) std::fputs(generator.profile().c_str(), stderr);
  return 0;
}

int train(const text_model& model, const text_options& o) {
  sampler_of(o, 0);  // a mistake in these options is told before the training, not after it
  std::signal(SIGPIPE, SIG_IGN);  // who reads the samples may go away: the training stays
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error with a name, not an end
  // The text, cut into characters; its last twentieth is kept for validation.
  const std::string text = read_file(o.text);
  const text_dataset data(text, tokenizer::characters(text, o.text),
                          {.window = o.context, .validation = 0.05}, o.text);
  const tokenizer& tokens = data.tokens();

  // Three programs that share one set of weights.
  const device on = cpu(o.threads);
  const auto weights = std::make_shared<parameter_store>(o.seed);
  const dims many = sizes(o.batch, o.context, tokens.vocab_size()),
             one = sizes(1, o.context, tokens.vocab_size());
  const session_options shared{.parameters = weights};
  session_core training =
      model.train(on, many, {.parameters = weights, .check = o.check, .profile = o.profile});
  session_core evaluation = model.evaluate(on, many, shared);
  session_core generator = model.generate(on, one, shared);

  // A sample starts a new line, or with the text's first character where it has but one line.
  const std::string start =
      text.find('\n') != text.npos ? "\n" : tokens.decode(data.train().first(1));
  const auto sample = [&](long number) {
    if (std::ferror(stdout) != 0) return;
    std::printf("--- sample after step %ld ---\n", number);
    write_sample(generator, tokens, start, o, static_cast<std::uint64_t>(number));
  };

  const warmup_cosine rate(
      {.base = o.rate, .warmup = std::min(100l, o.steps / 10), .total = o.steps, .min_ratio = 0.1});
  trainer t(training, evaluation, data, rate,
            {.steps = o.steps,
             .batch = o.batch,
             .seed = o.seed,
             .evaluate_every = o.evaluate_every,
             .save_every = o.evaluate_every,
             .folder = o.out,
             .fresh = o.fresh,
             .run = {{"model", model.description}, {"text", fingerprint(text)}},
             .visit_every = o.sample_every,
             .visit = sample});
  std::size_t count = 0;
  for (const parameter_store::entry& e : weights->entries()) {
    std::size_t n = e.state ? 0 : 1;
    for (const std::int64_t extent : e.extent) n *= static_cast<std::size_t>(extent);
    count += n;
  }
  std::fprintf(stderr, "%s: %zu parameters; %s; %zu + %zu characters of %ld kinds\n",
               model.description.c_str(), count, on.name().c_str(), data.train().size(),
               data.validation().size(), tokens.vocab_size());
  if (t.step() > 0)
    std::fprintf(stderr, "going on from step %ld of %s\n", t.step(),
                 trainer::checkpoint_path(o.out).c_str());

  const training_result r = t.run();
  if (o.profile) std::fputs(training.profile().c_str(), stderr);
  if (r.signal != 0) {
    std::fprintf(stderr,
                 "stopped after step %ld of %ld; the same command goes on from there (%s)\n",
                 r.step, o.steps, trainer::checkpoint_path(o.out).c_str());
    return 128 + r.signal;
  }
  for (long k = 0; k < o.samples; ++k) {
    std::printf("--- sample %ld after step %ld ---\n", k + 1, r.step);
    write_sample(generator, tokens, start, o, static_cast<std::uint64_t>(r.step + k));
  }
  std::printf("step %ld train_loss %.4f val_loss %.4f tokens_per_second %.0f\n", r.step,
              r.train_loss, r.validation_loss, r.tokens_per_second);
  check_output();
  return 0;
}

}  // namespace

int text_main(int argc, char** argv, const text_model& model, const text_options& defaults) {
  text_options o = defaults;
  if (const int code = parse(argc, argv, o); code >= 0) return code;
  try {
    return o.generate_only ? write_only(model, o) : train(model, o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}

}  // namespace examples
