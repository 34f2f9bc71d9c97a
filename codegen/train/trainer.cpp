// The training loop.
#include "ropewalk/train/trainer.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <numeric>
#include <optional>

#include "ropewalk/core/error.hpp"
#include "ropewalk/train/log.hpp"

namespace ropewalk {
namespace {

// Numbers of the run's random streams, see derive_seed.
constexpr std::uint64_t order_stream = 1, dropout_stream = 2;
constexpr std::size_t recent_steps = 100;
const std::vector<std::string> columns = {"train_loss", "val_loss", "learning_rate", "grad_norm",
                                          "tokens_per_second"};
constexpr const char *log_name = "log.csv", *curve_name = "loss.svg",
                     *checkpoint_name = "checkpoint.safetensors";

bool is_log(std::string_view begin) {
  const std::string header = csv_log::header(log_name, columns);
  return begin.starts_with(header) || header.starts_with(begin);  // cut short, perhaps
}

double seconds_now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

volatile sig_atomic_t caught = 0;
extern "C" void catch_signal(int number) { caught = number; }

// While it lives, the first SIGINT or SIGTERM is noted; a second one has its usual effect.
class signal_guard {
 public:
  explicit signal_guard(bool on) : on_(on) {
    caught = 0;
    if (!on_) return;
    struct sigaction a{};
    a.sa_handler = catch_signal;
    a.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &a, &interrupt_);
    ::sigaction(SIGTERM, &a, &terminate_);
  }
  ~signal_guard() {
    if (!on_) return;
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
  }
  signal_guard(const signal_guard&) = delete;
  int number() const { return on_ ? static_cast<int>(caught) : 0; }

 private:
  bool on_;
  struct sigaction interrupt_{}, terminate_{};
};

// The losses of the last steps, for a mean that a resumption does not break.
class recent_losses {
 public:
  void add(double loss) {
    last_.push_back(loss);
    if (last_.size() > recent_steps) last_.pop_front();
  }
  double mean() const {
    return last_.empty() ? NAN
                         : std::accumulate(last_.begin(), last_.end(), 0.0) /
                               static_cast<double>(last_.size());
  }

 private:
  std::deque<double> last_;
};

void check_least(const char* field, long value, long least) {
  if (value < least)
    throw error("trainer", field, std::to_string(value),
                "must be at least " + std::to_string(least));
}

// Whether the session has the input "rng". Error: it has one that nobody would set.
bool checked_inputs(const session_core& s, bool trains) {
  bool random = false;
  for (const tensor_description& x : s.inputs()) {
    if (trains && x.name == "rng")
      random = true;
    else if (x.name != "tokens" && x.name != "targets" && !(trains && x.name == "learning_rate"))
      throw error("trainer", "program " + s.program_name() + ", input", x.name,
                  trains ? "a trainer sets tokens, targets, learning_rate and rng"
                         : "a trainer sets tokens and targets where it evaluates");
  }
  return random;
}

void set_number(session_core& s, const char* input, float v) {
  s.set(input, host_data(&v, dtype::f32, 1));
}

}  // namespace

std::string trainer::checkpoint_path(const std::string& folder) {
  return folder + "/" + checkpoint_name;
}

trainer::trainer(session_core& train, session_core& evaluate, const text_dataset& data,
                 const lr_schedule& rate, trainer_options options)
    : train_(train),
      evaluate_(evaluate),
      data_(data),
      rate_(rate),
      options_(std::move(options)),
      sampler_(data.train(), options_.batch, data.window(),
               derive_seed(options_.seed, order_stream)) {
  check_least("steps", options_.steps, 1);
  check_least("evaluate_every", options_.evaluate_every, 0);
  check_least("save_every", options_.save_every, 0);
  check_least("visit_every", options_.visit_every, 0);
  if (train_.parameters() != evaluate_.parameters())
    throw error("trainer", "the sessions must share their parameters (session_options)");
  random_ = checked_inputs(train_, true);
  checked_inputs(evaluate_, false);
  const auto n = static_cast<std::size_t>(options_.batch * data.window());
  tokens_.resize(n);
  targets_.resize(n);
  options_.run.insert(options_.run.end(), {{"batch", std::to_string(options_.batch)},
                                           {"window", std::to_string(data.window())},
                                           {"seed", std::to_string(options_.seed)}});
  info_.seed = options_.seed;
  info_.tokenizer = data.tokens().description();
  info_.run = options_.run;
  if (options_.folder.empty()) return;

  folder_ = run_folder(options_.folder);
  folder_.require_own(log_name, is_log);
  folder_.require_own(curve_name, is_loss_curve);
  if (options_.fresh) {
    folder_.require_own(checkpoint_name, is_checkpoint);
    return;
  }
  const std::string path = checkpoint_path(options_.folder);
  if (!std::filesystem::exists(path)) return;
  const checkpoint old(path);
  old.require_run(options_.run);
  if (old.info().tokenizer != info_.tokenizer)
    throw error(path, "metadata tokenizer", "another", "is not that of this run's text");
  if (old.info().step > options_.steps)
    throw error(path, "step", std::to_string(old.info().step),
                "is beyond the " + std::to_string(options_.steps) + " steps of this run");
  try {
    sampler_.restore(old.info().sampler);
  } catch (const error& e) {
    throw error(path, std::string("metadata sampler: ") + e.what());
  }
  old.load(*train_.parameters());
  info_ = old.info();
}

double trainer::take_step() {
  sampler_.next(tokens_, targets_);
  train_.set("tokens", tokens_);
  train_.set("targets", targets_);
  set_number(train_, "learning_rate", static_cast<float>(rate_.at(info_.step)));
  if (random_) {
    constexpr std::uint64_t mask = (1u << 30) - 1;  // see ops/dropout.hpp
    const std::int32_t key[2] = {
        static_cast<std::int32_t>(derive_seed(options_.seed, dropout_stream) & mask),
        static_cast<std::int32_t>(static_cast<std::uint64_t>(info_.step) & mask)};
    train_.set("rng", host_data(key, dtype::i32, 2));
  }
  ++info_.step;
  try {
    train_.run();
  } catch (const error& e) {  // a checked session's, of the first operation that fails
    throw error("step " + std::to_string(info_.step), e.what());
  }
  const double loss = train_.get("loss").item(), norm = train_.get("grad_norm").item();
  if (std::isfinite(loss) && std::isfinite(norm)) return loss;
  throw error("step " + std::to_string(info_.step), std::isfinite(loss) ? "grad_norm" : "loss",
              std::to_string(std::isfinite(loss) ? norm : loss),
              "must be finite: lower the learning rate, look for targets that are no classes, or "
              "open the training session with session_options::check to see the first operation "
              "that fails");
}

double trainer::validation_loss() {
  if (data_.validation().empty()) return NAN;
  sequential_windows windows(data_.validation(), options_.batch, data_.window());
  double sum = 0;
  for (long k = windows.batches_per_epoch(); k > 0; --k) {
    const long rows = windows.next(tokens_, targets_);
    evaluate_.set("tokens", tokens_);
    evaluate_.set("targets", targets_);
    evaluate_.run();
    sum += evaluate_.get("loss").item() * static_cast<double>(rows);
  }
  return sum / static_cast<double>(windows.windows());
}

void trainer::save() const {
  if (!folder_.keeps()) return;
  checkpoint_info now = info_;
  now.sampler = sampler_.state();
  save_checkpoint(checkpoint_path(options_.folder), *train_.parameters(), now);
  const curve curves[] = {csv_curve(folder_.file(log_name), "train_loss"),
                          csv_curve(folder_.file(log_name), "val_loss")};
  save_loss_curve(folder_.file(curve_name), curves);
}

training_result trainer::run() {
  training_result r;
  recent_losses recent;
  std::optional<csv_log> log;
  if (folder_.keeps()) {
    const std::string path = folder_.file(log_name);
    // What cannot be written is told before the first step, not after the last one.
    for (const char* name : {log_name, curve_name, checkpoint_name}) folder_.prepare(name);
    if (info_.step == 0)
      log.emplace(path, columns);
    else
      log.emplace(path, columns, info_.step);
    for (const double loss : csv_curve(path, "train_loss").value) recent.add(loss);
  }
  const signal_guard signals(options_.catch_signals);
  const bool terminal = options_.descriptor >= 0 && ::isatty(options_.descriptor) == 1;
  const auto tokens = static_cast<long>(tokens_.size());
  const long first = info_.step;
  long saved = first;
  double seconds = 0;  // of steps alone
  std::optional<progress> line;
  while (info_.step < options_.steps && signals.number() == 0) {
    if (options_.descriptor >= 0 && !line)
      line.emplace(progress_options{options_.steps, info_.step, options_.progress_every,
                                    options_.descriptor},
                   seconds, terminal);
    const double begin = seconds_now();
    const double loss = take_step(), spent = seconds_now() - begin;
    seconds += spent;
    recent.add(loss);
    if (line) line->update(info_.step, loss, tokens, seconds);

    const bool last = info_.step == options_.steps;
    const auto due = [&](long every) { return last || (every > 0 && info_.step % every == 0); };
    csv_cell validation;
    if (due(options_.evaluate_every) && !data_.validation().empty()) {
      validation = r.validation_loss = validation_loss();
      if (info_.best_step < 0 || r.validation_loss < info_.best_validation) {
        info_.best_validation = r.validation_loss;
        info_.best_step = info_.step;
      }
      line.reset();
      if (options_.descriptor >= 0)
        ::dprintf(options_.descriptor, "step %ld  validation loss %.4f\n", info_.step,
                  r.validation_loss);
    }
    const csv_cell cells[] = {loss, validation, rate_.at(info_.step - 1),
                              train_.get("grad_norm").item(), static_cast<double>(tokens) / spent};
    if (log) log->append(info_.step, cells);
    if (due(options_.save_every)) {
      save();
      saved = info_.step;
    }
    if (!last && options_.visit && options_.visit_every > 0 &&
        info_.step % options_.visit_every == 0 && signals.number() == 0) {
      line.reset();
      options_.visit(info_.step);
    }
  }
  if (saved != info_.step) save();
  if (info_.step == options_.steps && std::isnan(r.validation_loss))
    r.validation_loss = validation_loss();
  r.step = info_.step;
  r.train_loss = recent.mean();
  if (info_.best_step >= 0) r.best_validation = info_.best_validation;
  if (seconds > 0)
    r.tokens_per_second = static_cast<double>((info_.step - first) * tokens) / seconds;
  if (info_.step < options_.steps) r.signal = signals.number();
  return r;
}

std::string fingerprint(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  char name[64];
  std::snprintf(name, sizeof name, "%zu bytes, fnv %016llx", text.size(),
                static_cast<unsigned long long>(h));
  return name;
}

}  // namespace ropewalk
