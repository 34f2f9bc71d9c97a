// Tokenizers, text datasets and samplers: see include/ropewalk/train/data.hpp.
#include "ropewalk/train/data.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "ropewalk/core/error.hpp"
#include "ropewalk/io/file.hpp"
#include "utf8.hpp"

namespace ropewalk {
namespace {

constexpr std::string_view characters_prefix = "characters:";
constexpr std::int32_t ignored_target = -100;

// Calls f(code point, offset) for each character.
template <class F>
void each_code_point(std::string_view text, const std::string& where, F f) {
  char32_t c = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t offset = at;
    if (!next_code_point(text, at, c)) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02X", static_cast<unsigned char>(text[offset]));
      throw error(where, "byte " + std::to_string(offset), hex,
                  "must be UTF-8 for a characters tokenizer (bytes takes any file)");
    }
    f(c, offset);
  }
}

void check_sampler(const char* where, std::size_t tokens, long batch, long window) {
  if (batch < 1) throw error(where, "batch", std::to_string(batch), "must be at least 1");
  if (window < 1) throw error(where, "window", std::to_string(window), "must be at least 1");
  if (tokens < 2 || tokens - 1 < static_cast<std::size_t>(window))
    throw error(where, "tokens", std::to_string(tokens),
                "must be at least window + 1, window = " + std::to_string(window));
}

void check_buffers(const char* where, std::size_t inputs, std::size_t targets, long batch,
                   long window) {
  const auto expected = static_cast<std::size_t>(batch * window);
  if (inputs != expected || targets != expected)
    throw error(where, "inputs, targets",
                std::to_string(inputs) + ", " + std::to_string(targets) + " elements",
                "must be batch window = " + std::to_string(expected) + " each");
}

// Copies the window at `start` into row `row` of both.
void fill_row(std::span<const std::int32_t> tokens, std::size_t start, std::size_t row,
              std::size_t window, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
  const auto from = tokens.subspan(start, window + 1);
  std::copy(from.begin(), from.end() - 1, inputs.subspan(row * window).begin());
  std::copy(from.begin() + 1, from.end(), targets.subspan(row * window).begin());
}

// The part of a state line that says whose it is.
std::string state_head(const char* kind, std::size_t tokens, long window) {
  return std::string(kind) + " tokens=" + std::to_string(tokens) +
         " window=" + std::to_string(window) + " ";
}

std::string_view state_tail(const char* where, const std::string& state, const std::string& head) {
  if (!state.starts_with(head))
    throw error(where, "state", state.substr(0, 80), "must begin with \"" + head + "\"");
  return std::string_view(state).substr(head.size());
}

}  // namespace

tokenizer tokenizer::characters(std::string_view text, const std::string& where) {
  std::vector<bool> seen(0x110000);
  each_code_point(text, where, [&](char32_t c, std::size_t) { seen[c] = true; });
  tokenizer out;
  for (char32_t c = 0; c < seen.size(); ++c)
    if (seen[c]) out.characters_.push_back(c);
  if (out.characters_.empty()) throw error(where, "is empty: no characters to make tokens of");
  return out;
}

std::string tokenizer::description() const {
  if (characters_.empty()) return "bytes";
  std::string out(characters_prefix);
  for (char32_t c : characters_) append_code_point(out, c);
  return out;
}

tokenizer tokenizer::restore(const std::string& description) {
  if (description == "bytes") return {};
  if (!description.starts_with(characters_prefix))
    throw error("tokenizer", "description", description.substr(0, 40),
                "must be \"bytes\" or begin with \"characters:\"");
  tokenizer out;
  const auto list = std::string_view(description).substr(characters_prefix.size());
  each_code_point(list, "tokenizer", [&](char32_t c, std::size_t offset) {
    if (!out.characters_.empty() && c <= out.characters_.back())
      throw error(
          "tokenizer", "characters, byte " + std::to_string(offset), std::to_string(c),
          "must be above the code point before it, " + std::to_string(out.characters_.back()));
    out.characters_.push_back(c);
  });
  if (out.characters_.empty()) throw error("tokenizer", "characters: names no character");
  return out;
}

std::vector<std::int32_t> tokenizer::encode(std::string_view text, const std::string& where) const {
  std::vector<std::int32_t> out;
  out.reserve(text.size());
  if (characters_.empty()) {
    for (char c : text) out.push_back(static_cast<unsigned char>(c));
    return out;
  }
  each_code_point(text, where, [&](char32_t c, std::size_t offset) {
    const auto at = std::ranges::lower_bound(characters_, c);
    if (at == characters_.end() || *at != c) {
      char name[16];
      std::snprintf(name, sizeof name, "U+%04X", static_cast<unsigned>(c));
      throw error(where, "byte " + std::to_string(offset), name,
                  "is not among the " + std::to_string(characters_.size()) +
                      " characters of the vocabulary");
    }
    out.push_back(static_cast<std::int32_t>(at - characters_.begin()));
  });
  return out;
}

std::string tokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::string out;
  for (std::int32_t id : tokens) {
    if (id < 0 || id >= vocab_size())
      throw error("tokenizer", "token", std::to_string(id),
                  "must be in [0, " + std::to_string(vocab_size()) + ")");
    if (characters_.empty())
      out += static_cast<char>(id);
    else
      append_code_point(out, characters_[static_cast<std::size_t>(id)]);
  }
  return out;
}

text_dataset::text_dataset(std::string_view text, const tokenizer& tokens,
                           const dataset_options& options, const std::string& where)
    : tokenizer_(tokens), window_(options.window) {
  if (window_ < 1) throw error(where, "window", std::to_string(window_), "must be at least 1");
  if (!(options.validation >= 0 && options.validation < 1))
    throw error(where, "validation", std::to_string(options.validation), "must be in [0, 1)");
  if (text.empty()) throw error(where, "is empty");
  all_ = tokenizer_.encode(text, where);
  split_ = static_cast<std::size_t>((1 - options.validation) * static_cast<double>(all_.size()));
  auto check = [&](const char* part, std::size_t n) {
    if (n < 2 || n - 1 < static_cast<std::size_t>(window_))
      throw error(where, std::string(part) + " part", std::to_string(n) + " tokens",
                  "must hold window + 1, window = " + std::to_string(window_));
  };
  check("train", split_);
  if (options.validation > 0) check("validation", all_.size() - split_);
}

text_dataset text_dataset::load(const std::string& path, const tokenizer& tokens,
                                const dataset_options& options) {
  return text_dataset(read_file(path), tokens, options, path);
}

text_dataset text_dataset::load_characters(const std::string& path,
                                           const dataset_options& options) {
  const std::string text = read_file(path);
  return text_dataset(text, tokenizer::characters(text, path), options, path);
}

random_windows::random_windows(std::span<const std::int32_t> tokens, long batch, long window,
                               std::uint64_t seed)
    : tokens_(tokens), batch_(batch), window_(window), rng_(seed) {
  check_sampler("random_windows", tokens.size(), batch, window);
}

long random_windows::next(std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
  check_buffers("random_windows", inputs.size(), targets.size(), batch_, window_);
  const auto window = static_cast<std::size_t>(window_);
  for (long row = 0; row < batch_; ++row)
    fill_row(tokens_, rng_.below(tokens_.size() - window), static_cast<std::size_t>(row), window,
             inputs, targets);
  return batch_;
}

std::string random_windows::state() const {
  return state_head("random", tokens_.size(), window_) + to_text(rng_.state());
}

void random_windows::restore(const std::string& state) {
  const auto head = state_head("random", tokens_.size(), window_);
  rng_ = rng(rng_state_from(std::string(state_tail("random_windows", state, head))));
}

sequential_windows::sequential_windows(std::span<const std::int32_t> tokens, long batch,
                                       long window)
    : tokens_(tokens), batch_(batch), window_(window) {
  check_sampler("sequential_windows", tokens.size(), batch, window);
}

long sequential_windows::next(std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
  check_buffers("sequential_windows", inputs.size(), targets.size(), batch_, window_);
  const long rows = std::min(batch_, windows() - offset_);
  for (long row = 0; row < rows; ++row)
    fill_row(tokens_, static_cast<std::size_t>((offset_ + row) * window_),
             static_cast<std::size_t>(row), static_cast<std::size_t>(window_), inputs, targets);
  const auto filled = static_cast<std::size_t>(rows * window_);
  std::ranges::fill(inputs.subspan(filled), 0);
  std::ranges::fill(targets.subspan(filled), ignored_target);
  offset_ += rows;
  if (offset_ == windows()) {
    offset_ = 0;
    ++epoch_;
  }
  return rows;
}

std::string sequential_windows::state() const {
  return state_head("sequential", tokens_.size(), window_) + std::to_string(epoch_) + ":" +
         std::to_string(offset_);
}

void sequential_windows::restore(const std::string& state) {
  const auto head = state_head("sequential", tokens_.size(), window_);
  const auto tail = state_tail("sequential_windows", state, head);
  // epoch:offset has the form of a generator's state; the ranges are this sampler's own.
  const auto [epoch, offset] = rng_state_from(std::string(tail));
  if (epoch > 0x7FFFFFFFFFFFFFFFu || offset >= static_cast<std::uint64_t>(windows()))
    throw error("sequential_windows", "state", state.substr(0, 80),
                "must have an offset below " + std::to_string(windows()));
  epoch_ = static_cast<long>(epoch);
  offset_ = static_cast<long>(offset);
}

}  // namespace ropewalk
