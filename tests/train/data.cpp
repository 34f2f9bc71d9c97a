// Text to tokens to batches: round trips, which windows come, and exact resumption.
#include "ropewalk/train/data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"
#include "ropewalk/io/file.hpp"

using namespace ropewalk;

namespace {

using ints = std::vector<std::int32_t>;

ints counting(long n) {
  ints out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

const std::string mixed = "h\xC3\xA9llo \xE2\x82\xAC \xF0\x9F\x98\x80 z";  // é, €, an emoji

}  // namespace

TEST_CASE("decode(encode(text)) is the text; a restored tokenizer is the same") {
  rng r(1);
  std::string all_bytes;
  for (int i = 0; i < 1000; ++i) all_bytes += static_cast<char>(r.below(256));
  const auto bytes = tokenizer::bytes();
  CHECK(bytes.vocab_size() == 256);
  CHECK(bytes.decode(bytes.encode(all_bytes)) == all_bytes);
  CHECK(tokenizer::restore(bytes.description()) == bytes);

  // Every length of UTF-8, first and last code points of each, around the surrogates.
  std::string edges("\0\x7f\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 18);
  edges += "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF";
  for (const std::string& text : {mixed, edges, std::string("a"), std::string(9, '\0')}) {
    const auto t = tokenizer::characters(text);
    CHECK(t.decode(t.encode(text)) == text);
    CHECK(tokenizer::restore(t.description()) == t);
    CHECK(tokenizer::characters(t.description().substr(11)) == t);
  }
  const auto t = tokenizer::characters("banana \xC3\xA9");
  CHECK(t.vocab_size() == 5);
  CHECK(t.description() == "characters: abn\xC3\xA9");
  CHECK(t.encode("n \xC3\xA9") == ints{3, 0, 4});
}

TEST_CASE("tokenizer faults name the offset or the rule") {
  const auto t = tokenizer::characters("abc");
  CHECK(has(message_of([&] { t.encode("ab\xE2\x82\xAC", "f.txt"); }),
            "[f.txt] byte 2 = U+20AC: is not among the 3 characters"));
  CHECK(has(message_of([&] { t.decode(ints{0, 3}); }), "token = 3: must be in [0, 3)"));
  CHECK(has(message_of([&] { t.decode(ints{-1}); }), "token = -1"));
  CHECK(has(message_of([&] { tokenizer::bytes().decode(ints{256}); }), "token = 256"));
  CHECK(has(message_of([&] { tokenizer::characters(""); }), "is empty"));
  // Stray continuation, overlong 2 / 3 / 4, surrogate, above U+10FFFF, cut short, bytes never used.
  for (const char* bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98",
        "\xC3(", "\xE2(\xAC", "\xFE", "\xFF"}) {
    const auto message = message_of([&] { tokenizer::characters(std::string("xyz") + bad); });
    CHECK_MESSAGE(has(message, "[text] byte 3 = 0x"), message);
  }
  for (const char* bad : {"", "byte", "bytes ", "characters", "characters:", "characters:ba",
                          "characters:aa", "characters:\xFF", "unigram:abc"})
    CHECK_MESSAGE(message_of([&] { tokenizer::restore(bad); }) != "", bad);
}

TEST_CASE("a dataset splits at int((1 - validation) n) and loses nothing") {
  scratch_folder dir;
  for (long n : {40l, 100l, 1003l, 9999l})
    for (double part : {0.0, 0.1, 0.25, 0.5}) {
      std::string text;
      for (long i = 0; i < n; ++i) text += static_cast<char>('a' + i * i % 26);
      write_file_atomic(dir / "t", text);
      const dataset_options options{.window = 3, .validation = part};
      const auto d = text_dataset::load(dir / "t", tokenizer::bytes(), options);
      CHECK(d.train().size() == static_cast<std::size_t>((1 - part) * double(n)));
      CHECK(d.train().size() + d.validation().size() == text.size());
      CHECK(d.tokens().decode(d.train()) + d.tokens().decode(d.validation()) == text);
      const auto c = text_dataset::load_characters(dir / "t", options);
      CHECK(c.tokens().decode(c.train()) + c.tokens().decode(c.validation()) == text);
      CHECK(c.tokens() == tokenizer::characters(text));
    }
}

TEST_CASE("dataset faults name the file, the field and the rule") {
  scratch_folder dir;
  auto fault = [&](const std::string& text, dataset_options o) {
    write_file_atomic(dir / "t", text);
    return message_of([&] { text_dataset::load(dir / "t", tokenizer::bytes(), o); });
  };
  const std::string ten(10, 'x');
  CHECK(fault(ten, {.window = 4, .validation = 0.5}) == "");
  CHECK(has(fault(ten, {.window = 5, .validation = 0.5}),
            "/t] train part = 5 tokens: must hold window + 1, window = 5"));
  CHECK(has(fault(ten, {.window = 3}), "validation part = 1 tokens"));
  CHECK(fault(ten, {.window = 9, .validation = 0}) == "");
  CHECK(has(fault(ten, {.window = 10, .validation = 0}), "train part = 10 tokens"));
  CHECK(has(fault(ten, {.window = 9'000'000'000'000'000'000, .validation = 0}), "train part"));
  CHECK(has(fault("", {.window = 1}), "/t] is empty"));
  CHECK(has(fault(ten, {.window = 0}), "window = 0"));
  CHECK(has(fault(ten, {}), "window = 0"));
  CHECK(has(fault(ten, {.window = 1, .validation = 1}), "validation = 1.0"));
  CHECK(has(fault(ten, {.window = 1, .validation = -0.1}), "validation = -0.1"));
  CHECK(has(message_of([&] { text_dataset::load_characters(dir / "no", {.window = 1}); }), "/no]"));
  write_file_atomic(dir / "t", "caf\xE9 is Latin-1, a b c d e f g h");
  CHECK(has(message_of([&] { text_dataset::load_characters(dir / "t", {.window = 1}); }),
            "/t] byte 3 = 0xE9: must be UTF-8"));
}

TEST_CASE("random windows: targets are inputs shifted, every start comes, seeds differ") {
  const auto tokens = counting(23);
  random_windows a(tokens, 4, 5, 1), b(tokens, 4, 5, 2);
  ints x(20), y(20), x2(20), y2(20);
  std::set<int> starts;
  bool differ = false;
  for (int step = 0; step < 200; ++step) {
    REQUIRE(a.next(x, y) == 4);
    b.next(x2, y2);
    differ |= x != x2;
    for (std::size_t row = 0; row < 4; ++row) {
      starts.insert(x[row * 5]);
      for (std::size_t i = 0; i < 5; ++i) {
        CHECK(x[row * 5 + i] == x[row * 5] + static_cast<int>(i));
        CHECK(y[row * 5 + i] == x[row * 5 + i] + 1);
      }
    }
  }
  CHECK(differ);
  CHECK(starts.size() == 18);  // 0 to n - T - 1
  CHECK(*starts.rbegin() == 17);
}

TEST_CASE("sequential windows: each once an epoch, the last partial batch too") {
  for (long n : {6l, 7l, 11l, 23l, 101l})
    for (long window : {1l, 2l, 5l})
      for (long batch : {1l, 3l, 8l}) {
        const auto tokens = counting(n);
        sequential_windows s(tokens, batch, window);
        ints x(static_cast<std::size_t>(batch * window)), y(x.size());
        for (long epoch = 0; epoch < 2; ++epoch) {
          long token = 0;
          for (long step = 0; step < s.batches_per_epoch(); ++step) {
            CHECK(s.epoch() == epoch);
            const long rows = s.next(x, y);
            CHECK((rows == batch || step + 1 == s.batches_per_epoch()));
            for (std::size_t i = 0; i < x.size(); ++i) {
              const bool filled = i < static_cast<std::size_t>(rows * window);
              CHECK(x[i] == (filled ? token : 0));
              CHECK(y[i] == (filled ? token + 1 : -100));
              token += filled;
            }
          }
          CHECK(token == (n - 1) / window * window);
        }
        CHECK(s.epoch() == 2);
        s.rewind();
        s.next(x, y);
        CHECK(x[0] == 0);
      }
}

TEST_CASE("after restore(state()) the batches are those of a run that never stopped") {
  rng r(5);
  for (int round = 0; round < 100; ++round) {
    const long window = 1 + static_cast<long>(r.below(6)),
               batch = 1 + static_cast<long>(r.below(4));
    const auto tokens = counting(window + 1 + static_cast<long>(r.below(40)));
    const std::uint64_t seed = r.bits64();
    auto law = [&](auto whole, auto resumed) {
      ints x(static_cast<std::size_t>(batch * window)), y(x.size()), x2(x), y2(x);
      for (auto steps = r.below(12); steps-- > 0;) whole.next(x, y);
      const std::string state = whole.state();
      resumed.next(x2, y2);  // somewhere else first
      resumed.restore(state);
      CHECK(resumed.state() == state);
      for (int step = 0; step < 12; ++step) {
        CHECK(whole.next(x, y) == resumed.next(x2, y2));
        CHECK((x == x2 && y == y2));
        CHECK(whole.state() == resumed.state());
      }
    };
    law(random_windows(tokens, batch, window, seed), random_windows(tokens, batch, window, 0));
    law(sequential_windows(tokens, batch, window), sequential_windows(tokens, batch, window));
  }
}

TEST_CASE("sampler faults") {
  const auto tokens = counting(10);
  ints x(6), y(6);
  CHECK(has(message_of([&] { random_windows(tokens, 0, 3, 1); }), "batch = 0"));
  CHECK(has(message_of([&] { sequential_windows(tokens, 1, 0); }), "window = 0"));
  CHECK(
      has(message_of([&] { random_windows(tokens, 1, 10, 1); }), "tokens = 10: must be at least"));
  CHECK(has(message_of([&] { sequential_windows({}, 1, 1); }), "tokens = 0"));
  random_windows a(tokens, 2, 3, 1);
  sequential_windows s(tokens, 2, 3);
  CHECK(has(message_of([&] { a.next(std::span(x).first(5), y); }), "must be batch window = 6"));
  CHECK(has(message_of([&] { s.next(x, std::span(y).first(3)); }), "must be batch window = 6"));
  CHECK(has(message_of([&] { a.restore(s.state()); }), "must begin with \"random tokens=10"));
  CHECK(has(message_of([&] { s.restore(a.state()); }), "must begin with \"sequential tokens=10"));
  CHECK(has(message_of([&] { a.restore(random_windows(tokens, 2, 4, 1).state()); }), "window=3"));
  CHECK(has(message_of([&] { a.restore("random tokens=10 window=3 7"); }), "seed:position"));
  CHECK(has(message_of([&] { s.restore("sequential tokens=10 window=3 0:3"); }), "below 3"));
  CHECK(has(message_of([&] { s.restore("sequential tokens=10 window=3 9223372036854775808:0"); }),
            "must have"));
}
