// Text into tokens, and tokens into batches of windows: inputs [B, T], targets the same shifted
// by 1.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ropewalk/train/rng.hpp"

namespace ropewalk {

// Text <-> token ids: the bytes themselves (256 ids), or the Unicode code points that occur in a
// text, numbered in ascending order.
class tokenizer {
 public:
  static tokenizer bytes() { return {}; }
  // Errors (also of encode): `where` and the offset of the first byte that is not UTF-8; no text.
  static tokenizer characters(std::string_view text, const std::string& where = "text");

  // A line for a checkpoint's metadata, "bytes" or "characters:<the code points in UTF-8>", and the
  // tokenizer made from it. Errors: any other form; code points repeated or out of order.
  std::string description() const;
  static tokenizer restore(const std::string& description);

  long vocab_size() const {
    return characters_.empty() ? 256 : static_cast<long>(characters_.size());
  }
  // Error: a character that the vocabulary does not have, with its offset.
  std::vector<std::int32_t> encode(std::string_view text, const std::string& where = "text") const;
  // Error: an id outside [0, vocab_size).
  std::string decode(std::span<const std::int32_t> tokens) const;
  bool operator==(const tokenizer&) const = default;

 private:
  std::vector<char32_t> characters_;  // ascending; empty for bytes
};

struct dataset_options {
  long window = 0;          // T, tokens of one row
  double validation = 0.1;  // the part at the end kept for validation; 0: none
};

// A tokenised text in two parts: train is the first int((1 - validation) n) of its n tokens.
// Errors name file, field, value and rule: window < 1; validation outside [0, 1); an empty text; a
// part with fewer than window + 1 tokens.
class text_dataset {
 public:
  text_dataset(std::string_view text, const tokenizer& tokens, const dataset_options& options,
               const std::string& where = "text");
  // The file at `path`, with a given tokenizer (a resumed run) or with its own characters.
  static text_dataset load(const std::string& path, const tokenizer& tokens,
                           const dataset_options& options);
  static text_dataset load_characters(const std::string& path, const dataset_options& options);

  const tokenizer& tokens() const { return tokenizer_; }
  long window() const { return window_; }
  std::span<const std::int32_t> train() const { return std::span(all_).first(split_); }
  std::span<const std::int32_t> validation() const { return std::span(all_).subspan(split_); }

 private:
  tokenizer tokenizer_;
  std::vector<std::int32_t> all_;
  std::size_t split_ = 0;
  long window_ = 0;
};

// Batches of a token sequence that outlives the sampler. next() fills inputs [B, T] and targets
// [B, T] (both exactly B T long, or error) and returns the number of rows that hold a window.
// state() is a line of text; after restore(state()) the batches go on exactly as they would have.
// Errors: batch or window < 1; fewer than window + 1 tokens; a state that is not one, or is of
// another kind of sampler, number of tokens, or window.

// B windows a step, each start in [0, n - T) equally likely, from seed. Always B rows.
class random_windows {
 public:
  random_windows(std::span<const std::int32_t> tokens, long batch, long window, std::uint64_t seed);
  long next(std::span<std::int32_t> inputs, std::span<std::int32_t> targets);
  std::string state() const;
  void restore(const std::string& state);

 private:
  std::span<const std::int32_t> tokens_;
  long batch_, window_;
  rng rng_;
};

// The windows at 0, T, 2 T, ... in order, (n - 1) / T of them an epoch (the up to T - 1 tokens
// after the last whole window are left out). The last batch of an epoch may hold fewer than B rows:
// the rows after them get input 0 and target -100, which cross entropy ignores.
class sequential_windows {
 public:
  sequential_windows(std::span<const std::int32_t> tokens, long batch, long window);
  long next(std::span<std::int32_t> inputs, std::span<std::int32_t> targets);
  std::string state() const;
  void restore(const std::string& state);

  long windows() const { return (static_cast<long>(tokens_.size()) - 1) / window_; }
  long batches_per_epoch() const { return (windows() + batch_ - 1) / batch_; }
  long epoch() const { return epoch_; }  // whole passes done
  void rewind() { epoch_ = offset_ = 0; }

 private:
  std::span<const std::int32_t> tokens_;
  long batch_, window_;
  long epoch_ = 0, offset_ = 0;  // offset: windows of this epoch already given
};

}  // namespace ropewalk
