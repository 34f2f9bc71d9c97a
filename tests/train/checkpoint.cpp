// Checkpoints: what is written is what is read; whatever is wrong is named and changes nothing.
#include "ropewalk/train/checkpoint.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "io/scratch.hpp"
#include "ropewalk/core/leaf.hpp"
#include "ropewalk/runtime/pool.hpp"

using namespace ropewalk;

namespace {

graph_node leaf(const std::string& path, bool state, dtype d) {
  return {state ? &state_info : &param_info, detail::leaf_attrs(init_normal(1)), {d, {}}, {}, path};
}

// Parameters and states of every floating type, with random values.
struct some_store {
  parameter_store s;
  pool threads{1};
  explicit some_store(std::uint64_t seed) : s(seed) {
    add("h.0.weight", false, f32, {3, 4});
    add("h.0.bias", false, f32, {4});
    add("half", false, f16, {5});
    add("brain", false, bf16, {1, 7});
    add("adam_m.h.0.weight", true, f32, {3, 4});
    add("step", true, f64, {});
  }
  void add(const std::string& path, bool state, dtype d, std::vector<std::int64_t> extent) {
    s.require(leaf(path, state, d), extent, threads);
  }
  std::string bits(bool states = true) const {
    std::string all;
    for (const parameter_store::entry& e : s.entries()) {
      if (e.state && !states) continue;
      const tensor_view t = s.at(e.path);
      all.append(static_cast<const char*>(t.ref().data), t.elements() * dtype_size(t.type()));
    }
    return all;
  }
};

checkpoint_info some_info() {
  return {.step = 1234567890123,
          .seed = 0xFFFFFFFFFFFFFFFFull,
          .sampler = "random tokens=9 3:4",
          .tokenizer = "characters:\n\"aé",
          .best_validation = 0.1 + 0.2,
          .best_step = 77,
          .run = {{"model", "gpt, C = 4"}, {"text", "9 bytes"}}};
}

// The tensors of a checkpoint, to be written again with a fault.
struct edited {
  std::vector<file_tensor> tensors;
  metadata_list metadata;
  file_tensor& tensor(const std::string& name) {
    for (file_tensor& t : tensors)
      if (t.name == name) return t;
    throw std::runtime_error(name);
  }
  std::string& field(const std::string& key) {
    for (auto& [k, v] : metadata)
      if (k == key) return v;
    throw std::runtime_error(key);
  }
};

// What loading says of the file after `fault`; the store must be as it was before.
std::string said(const std::string& path, const std::string& to,
                 const std::function<void(edited&)>& fault, bool weights = false) {
  const tensor_file file(path);
  edited e{file.tensors(), file.metadata()};
  fault(e);
  save_safetensors(to, e.tensors, e.metadata);
  some_store other(3);
  const std::string before = other.bits();
  const std::string message = message_of([&] {
    if (weights)
      load_weights(to, other.s);
    else
      checkpoint(to).load(other.s);
  });
  CHECK((message.empty() || other.bits() == before));
  return message;
}

bool names(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& p : parts)
    if (!has(message, p)) {
      MESSAGE(message, " lacks ", p);
      return false;
    }
  return true;
}

}  // namespace

TEST_CASE("a checkpoint gives back every bit and every field") {
  scratch_folder dir;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const some_store from(seed);
    save_checkpoint(dir / "c", from.s, some_info());
    some_store to(seed + 100);
    REQUIRE(to.bits() != from.bits());
    const checkpoint c(dir / "c");
    c.load(to.s);
    CHECK(to.bits() == from.bits());
    const checkpoint_info want = some_info(), got = c.info();
    CHECK(got.step == want.step);
    CHECK(got.seed == want.seed);
    CHECK(got.sampler == want.sampler);
    CHECK(got.tokenizer == want.tokenizer);
    CHECK(got.best_validation == want.best_validation);
    CHECK(got.best_step == want.best_step);
    CHECK(got.run == want.run);
    CHECK(dir.files() == 1);

    some_store weights(seed + 200);
    const std::string before = weights.bits();
    load_weights(dir / "c", weights.s);
    CHECK(weights.bits(false) == from.bits(false));
    CHECK(weights.s.at("step").item() != from.s.at("step").item());
  }
  // The same again: the same bytes.
  const std::string bytes = read_file(dir / "c");
  save_checkpoint(dir / "d", some_store(19).s, some_info());
  CHECK(read_file(dir / "d") == bytes);
}

TEST_CASE("weights load from files of others") {
  scratch_folder dir;
  const some_store from(1);
  save_checkpoint(dir / "c", from.s, some_info());
  CHECK(said(dir / "c", dir / "bad", [](edited& e) { e.metadata.clear(); }, true) == "");
  CHECK(names(said(dir / "c", dir / "bad", [](edited& e) { e.metadata.clear(); }),
              {dir / "bad", "format"}));
  const auto drop_states = [](edited& e) {
    std::erase_if(e.tensors, [](const file_tensor& t) { return t.name.starts_with("state/"); });
  };
  CHECK(said(dir / "c", dir / "bad", drop_states, true) == "");
  CHECK(names(said(dir / "c", dir / "bad", drop_states), {dir / "bad", "state/"}));
}

TEST_CASE("wrong tensors are refused by name, found and expected, and change nothing") {
  scratch_folder dir;
  save_checkpoint(dir / "c", some_store(1).s, some_info());
  const std::string bad = dir / "bad";
  for (const bool weights : {false, true}) {
    CHECK(said(dir / "c", bad, [](edited&) {}, weights) == "");
    CHECK(names(said(
                    dir / "c", bad, [](edited& e) { e.tensors.erase(e.tensors.begin()); }, weights),
                {bad, "brain"}));
    CHECK(names(said(
                    dir / "c", bad, [](edited& e) { e.tensor("half").name = "whole"; }, weights),
                {bad, "half"}));
    CHECK(names(said(
                    dir / "c", bad,
                    [](edited& e) {
                      file_tensor more = e.tensor("half");
                      more.name = "surplus";
                      e.tensors.push_back(more);
                    },
                    weights),
                {bad, "surplus", "f16", "[5]"}));
    CHECK(names(said(
                    dir / "c", bad, [](edited& e) { e.tensor("half").type = bf16; }, weights),
                {bad, "half", "bf16", "f16"}));
    CHECK(names(
        said(
            dir / "c", bad, [](edited& e) { e.tensor("h.0.weight").shape = {4, 3}; }, weights),
        {bad, "h.0.weight", "[4, 3]", "[3, 4]"}));
    for (const float v : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> values(4, 1.0f);
      values[2] = v;
      CHECK(names(
          said(
              dir / "c", bad,
              [&](edited& e) { e.tensor("h.0.bias").bytes = std::as_bytes(std::span(values)); },
              weights),
          {bad, "h.0.bias", "element 2", "finite"}));
    }
  }
  // A state cannot stand in for a parameter, nor the other way round.
  CHECK(names(said(dir / "c", bad, [](edited& e) { e.tensor("half").name = "state/half"; }),
              {bad, "half"}));
  CHECK(names(said(dir / "c", bad, [](edited& e) { e.tensor("state/step").name = "step"; }),
              {bad, "step"}));
}

TEST_CASE("wrong metadata is refused by key and value") {
  scratch_folder dir;
  save_checkpoint(dir / "c", some_store(1).s, some_info());
  const std::string bad = dir / "bad";
  const auto with = [&](const char* key, const char* value) {
    return said(dir / "c", bad, [&](edited& e) { e.field(key) = value; });
  };
  CHECK(with("step", "12") == "");
  CHECK(names(with("format", "ropewalk checkpoint 2"), {bad, "format", "2", "1"}));
  for (const char* v : {"", "-1", "1.5", "12 ", "x", "99999999999999999999"})
    CHECK(names(with("step", v), {bad, "step", v}));
  for (const char* v : {"", "-1", "18446744073709551616"})
    CHECK(names(with("seed", v), {bad, "seed", v}));
  CHECK(names(with("best_validation", "low"), {bad, "best_validation", "low"}));
  for (const char* key : {"format", "step", "seed", "sampler", "tokenizer", "best_step"})
    CHECK(names(said(dir / "c", bad,
                     [&](edited& e) {
                       std::erase_if(e.metadata, [&](const auto& m) { return m.first == key; });
                     }),
                {bad, key}));
  const checkpoint c(dir / "c");
  c.require_run({{"model", "gpt, C = 4"}});
  CHECK(names(message_of([&] { c.require_run({{"model", "gpt, C = 8"}}); }),
              {dir / "c", "model", "gpt, C = 4", "gpt, C = 8"}));
  CHECK(names(message_of([&] { c.require_run({{"layers", "2"}}); }), {"layers", "nothing", "2"}));
}

TEST_CASE("a file cut short anywhere, or longer, is refused") {
  scratch_folder dir;
  save_checkpoint(dir / "c", some_store(1).s, some_info());
  const std::string bytes = read_file(dir / "c"), bad = dir / "bad";
  some_store other(2);
  const std::string before = other.bits();
  for (std::size_t n = 0; n < bytes.size(); n += 1 + n / 50) {
    write_file_atomic(bad, std::string_view(bytes).substr(0, n));
    REQUIRE(names(message_of([&] { checkpoint(bad).load(other.s); }), {bad}));
    REQUIRE(names(message_of([&] { load_weights(bad, other.s); }), {bad}));
  }
  write_file_atomic(bad, bytes + "x");
  CHECK(names(message_of([&] { checkpoint(bad).load(other.s); }), {bad}));
  // A header that claims to be longer than the file.
  std::string longer = bytes;
  const std::uint64_t claim = bytes.size();
  std::memcpy(longer.data(), &claim, sizeof claim);
  write_file_atomic(bad, longer);
  CHECK(names(message_of([&] { checkpoint(bad).load(other.s); }),
              {bad, "header", std::to_string(claim)}));
  CHECK(names(message_of([&] { checkpoint(dir / "none").load(other.s); }), {dir / "none"}));
  CHECK(other.bits() == before);
}

TEST_CASE("one flipped bit anywhere is refused, and changes nothing") {
  scratch_folder dir;
  save_checkpoint(dir / "c", some_store(1).s, some_info());
  const std::string bytes = read_file(dir / "c"), bad = dir / "bad";
  some_store other(2);
  const std::string before = other.bits();
  // A hit in the key of the checksum makes it another key; everything else is then as it was.
  const std::size_t key = bytes.find(checksum_key), key_end = key + std::strlen(checksum_key);
  long by_checksum = 0, accepted = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
      std::ofstream(bad, std::ios::binary) << flipped;  // 6000 times: not synced to the disk
      const std::string message = message_of([&] {
        if (at % 2 == 0)
          checkpoint(bad).load(other.s);
        else
          load_weights(bad, other.s);
      });
      if (message.empty()) {
        ++accepted;
        INFO("byte ", at, " bit ", bit);
        CHECK((at >= key && at < key_end));
        other.s.reset(2, other.threads);
        continue;
      }
      by_checksum += has(message, "checksum = ");
      INFO("byte ", at, ": ", message);
      REQUIRE(has(message, "[" + bad + "]"));
      REQUIRE(other.bits() == before);
    }
  CHECK(accepted > 0);
  CHECK(by_checksum > 8 * 150);  // of the tensors' bytes alone
}

TEST_CASE("what cannot be written leaves the old file") {
  scratch_folder dir;
  save_checkpoint(dir / "c", some_store(1).s, some_info());
  const std::string bytes = read_file(dir / "c");
  some_store odd(2);
  odd.add("state/x", false, f32, {2});
  CHECK(names(message_of([&] { save_checkpoint(dir / "c", odd.s, some_info()); }),
              {dir / "c", "state/x"}));
  CHECK(names(message_of([&] { save_checkpoint(dir / "no/c", some_store(2).s, some_info()); }),
              {dir / "no/c"}));
  CHECK(read_file(dir / "c") == bytes);
  CHECK(dir.files() == 1);
}
