// The training loop over a text: steps, validation, log, loss curve, checkpoints, resumption.
//
//   session<gpt::train> train(device, dims, {.parameters = weights});
//   session<gpt::evaluate> evaluate(device, dims, {.parameters = weights});
//   trainer t(train, evaluate, data, warmup_cosine({.base = 1e-3, .warmup = 100, .total = 2000}),
//             {.steps = 2000, .batch = 16, .folder = "out"});
//   training_result r = t.run();
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "ropewalk/runtime/session.hpp"
#include "ropewalk/train/checkpoint.hpp"
#include "ropewalk/train/data.hpp"
#include "ropewalk/train/run_folder.hpp"
#include "ropewalk/train/schedule.hpp"

namespace ropewalk {

struct trainer_options {
  long steps = 0;           // of the whole run, those before a resumption included
  long batch = 1;           // B, windows of a step; of both sessions
  std::uint64_t seed = 0;   // of the order of the windows, and of dropout
  long evaluate_every = 0;  // steps between validations; 0: only after the last step
  long save_every = 0;      // steps between checkpoints; 0: only at the end or a stop
  // Where log.csv, loss.svg and checkpoint.safetensors go; made if missing. "": nothing is kept.
  std::string folder{};
  bool fresh = false;  // start anew although the folder has a checkpoint
  // What else must be the same for a checkpoint to be gone on from: model, dims, text. The seed,
  // the batch, the window, the tokenizer and the number of tokens are compared without being named.
  metadata_list run{};
  bool catch_signals = true;   // SIGINT and SIGTERM end the run after the step, with a checkpoint
  double progress_every = 10;  // seconds between plain progress lines, see progress_options
  int descriptor = 2;          // where they go; -1: nowhere
  // Called every so many steps, between two of them: to show samples, say. 0: never.
  long visit_every = 0;
  std::function<void(long step)> visit{};
};

struct training_result {
  long step = 0;                                                      // steps done in the whole run
  double train_loss = 0;                                              // mean of the last 100 steps
  double validation_loss = std::numeric_limits<double>::quiet_NaN();  // NaN: not measured
  double best_validation = std::numeric_limits<double>::quiet_NaN();
  double tokens_per_second = 0;  // of this process, in steps alone; 0 without a step
  int signal = 0;                // that stopped the run before its last step; 0: it is complete
};

// Drives a program that minimizes (inputs "tokens", "targets" [B, T] and "learning_rate", with
// dropout "rng" as well; outputs "loss" and "grad_norm") and one with the output "loss" of the same
// tokens and targets, which share their parameters. The learning rate of step n (n = 1, 2, ...) is
// rate.at(n - 1).
//
// A run with a folder that holds a checkpoint goes on from it, bit by bit as if it had not stopped.
// log.csv has a row a step (loss, learning rate, norm of the gradient before clipping, tokens per
// second) and the validation loss where it was measured: the mean over all whole windows of the
// validation part. A signal a second time ends the process at once, as without a trainer.
class trainer {
 public:
  // Takes the folder (run_folder) until it is destroyed, opens the checkpoint if there is one, and
  // loads it. Errors: steps or batch < 1, other numbers negative; sessions with different
  // parameters, or with inputs that the trainer does not know; those of run_folder; a log.csv,
  // loss.svg or, with `fresh`, checkpoint that no trainer has written; those of checkpoint; a
  // checkpoint of another run or of more than `steps` steps. No file is written before run().
  trainer(session_core& train, session_core& evaluate, const text_dataset& data,
          const lr_schedule& rate, trainer_options options);

  // Errors: a loss or a norm that is not finite (the step is named; no checkpoint is written);
  // those of the sessions, and of writing.
  training_result run();
  // The mean loss over the validation part, now. NaN where the data has none.
  double validation_loss();
  // Steps done: those of the checkpoint until run() adds to them.
  long step() const { return info_.step; }

  static std::string checkpoint_path(const std::string& folder);

 private:
  void save() const;
  double take_step();
  session_core& train_;
  session_core& evaluate_;
  const text_dataset& data_;
  lr_schedule rate_;
  trainer_options options_;
  run_folder folder_;
  bool random_ = false;  // the program has the input "rng"
  random_windows sampler_;
  checkpoint_info info_;
  std::vector<std::int32_t> tokens_, targets_;  // [B, T]
};

// "4047392 bytes, fnv 00a1...": names a text among others, for trainer_options::run.
std::string fingerprint(std::string_view text);

}  // namespace ropewalk
