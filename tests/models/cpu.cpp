// The small models in compiled kernels (f32) against PyTorch: logits, loss, gradients, greedy tokens,
// and 60 steps of training.
#include <doctest/doctest.h>

#include "models/goldens.hpp"
#include "models/programs.hpp"
#include "ropewalk/io/file.hpp"
#include "ropewalk/session.hpp"

namespace {

using namespace ropewalk;
using namespace ropewalk::testing;

std::vector<std::int32_t> integers(const dense& d) {
  std::vector<std::int32_t> v;
  for (double x : d.v) v.push_back(static_cast<std::int32_t>(x));
  return v;
}

void load_parameters(session_core& s, const std::string& path) {
  const tensor_file file(path);
  int found = 0;
  for (const auto& e : s.parameters()->entries()) {
    if (e.state) continue;
    const file_tensor& t = file.get(e.path);
    s.parameters()->set(e.path, host_data(t.bytes.data(), t.type,
                                          t.bytes.size() / dtype_size(t.type)));
    ++found;
  }
  REQUIRE(found == static_cast<int>(file.names().size()));
}

struct tolerance {  // what a float32 PyTorch run reaches, from the goldens' README
  double logits, loss, gradient_norm, gradient_entry;
};

template <auto Gradients, auto Generate>
void check_model(const std::string& folder, const tolerance& t) {
  const auto known = load_all(folder + "/case.safetensors");
  session<Gradients> s(cpu(2), {{dim("B"), 2}, {dim("T"), 24}});
  load_parameters(s, folder + "/model.safetensors");
  s.set("tokens", integers(known.at("input_ids")));
  s.set("targets", integers(shifted_labels(known.at("labels"))));
  s.run();
  CHECK(std::abs(s.session_core::get("loss").item() - known.at("loss").v[0]) < 10 * t.loss);
  const auto logits = s.session_core::get("logits").values();
  const auto& mask = known.at("attention_mask").v;
  const std::size_t vocabulary = logits.size() / mask.size();
  double worst = 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (mask[i / vocabulary] == 1)
      worst = std::max(worst, std::abs(logits[i] - known.at("logits").v[i]));
  CHECK(worst < 10 * t.logits);
  double top = 0, entry = 0, difference = 0, norm = 0;
  for (const auto& [name, value] : known) {
    if (!name.starts_with("grad.")) continue;
    const auto got = s.session_core::get(name).values();
    top = std::max(top, largest(value.v));
    entry = std::max(entry, largest_difference(got, value.v));
    for (std::size_t i = 0; i < got.size(); ++i) {
      difference += (got[i] - value.v[i]) * (got[i] - value.v[i]);
      norm += value.v[i] * value.v[i];
    }
  }
  CHECK(std::sqrt(difference / norm) < 10 * t.gradient_norm);
  CHECK(entry / top < 10 * t.gradient_entry);

  // Greedy continuation by recomputing the whole text.
  std::vector<std::int32_t> text = integers(known.at("prompt"));
  for (double right : known.at("generated").v) {
    session_options shared;
    shared.parameters = s.parameters();
    const auto length = static_cast<std::int64_t>(text.size());
    session<Generate> g(cpu(2), {{dim("B"), 1}, {dim("T"), length}}, shared);
    g.set("tokens", text);
    g.run();
    const auto all = g.session_core::get("logits").values();
    const auto row = all.end() - static_cast<std::ptrdiff_t>(vocabulary);
    text.push_back(static_cast<std::int32_t>(std::max_element(row, all.end()) - row));
    CHECK(text.back() == right);
  }
}

struct step_result {
  double loss, norm;
};

// Runs the parity GPT on the golden batches; calls each(step, result).
template <class F>
void train_parity(session<parity::train>& s, int steps, F each) {
  const auto curve = load_all("data/goldens/training/gpt/curve.safetensors");
  const std::string bytes = read_file("data/goldens/training/gpt/data.bin");
  load_parameters(s, "data/goldens/training/gpt/init.safetensors");
  std::vector<std::int32_t> x(8 * 64), y(8 * 64);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t b = 0; b < 8; ++b)
      for (std::size_t t = 0; t < 64; ++t) {
        const auto row = static_cast<std::size_t>(step) * 8 + b;
        const auto o = static_cast<std::size_t>(curve.at("offsets").v[row]) + t;
        x[b * 64 + t] = static_cast<unsigned char>(bytes[o]);
        y[b * 64 + t] = static_cast<unsigned char>(bytes[o + 1]);
      }
    const auto lr = static_cast<float>(curve.at("lr").v[static_cast<std::size_t>(step)]);
    s.run(parity::tokens = x, parity::targets = y, learning_rate = lr);
    each(step, step_result{s.get(parity::loss).item(), s.get("grad_norm").item()});
  }
}

}  // namespace

TEST_CASE("GPT-2 equals PyTorch in float32") {
  check_model<gpt2::gradients, gpt2::generate>("data/goldens/models/gpt2",
                                               {4.5e-6, 2.0e-7, 6.0e-7, 7.1e-7});
}

TEST_CASE("Llama equals PyTorch in float32") {
  check_model<llama::gradients, llama::generate>("data/goldens/models/llama",
                                                 {2.3e-5, 5.2e-8, 5.1e-6, 8.3e-6});
}

TEST_CASE("60 steps of training follow PyTorch's float64 curve") {
  const auto curve = load_all("data/goldens/training/gpt/curve.safetensors");
  session<parity::train> s(cpu(2), {{parity::B, 8}});
  double worst_loss = 0, worst_norm = 0;
  train_parity(s, 60, [&](int step, const step_result& r) {
    const auto i = static_cast<std::size_t>(step);
    worst_loss = std::max(worst_loss, std::abs(r.loss - curve.at("loss").v[i]));
    worst_norm = std::max(worst_norm, std::abs(r.norm / curve.at("grad_norm").v[i] - 1));
  });
  MESSAGE("loss off by at most " << worst_loss << ", gradient norm by " << worst_norm);
  CHECK(worst_loss < 5e-6);
  CHECK(worst_norm < 2e-6);
  const auto final_weights = load_all("data/goldens/training/gpt/final.safetensors");
  double difference = 0, norm = 0;
  for (const auto& [name, right] : final_weights) {
    const auto got = s.param(name).values();
    // The key third of qkv.bias has no gradient but rounding; AdamW makes steps of it.
    const std::size_t keys = name.ends_with("qkv.bias") ? got.size() / 3 : got.size();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double d = std::abs(got[i] - right.v[i]);
      const bool key_bias = name.ends_with("qkv.bias") && i / keys == 1;
      if (d > (key_bias ? 1e-4 : 1e-5)) FAIL_CHECK(name << " [" << i << "] is off by " << d);
      if (key_bias) continue;
      difference += d * d;
      norm += right.v[i] * right.v[i];
    }
  }
  MESSAGE("final weights off by " << std::sqrt(difference / norm));
  CHECK(std::sqrt(difference / norm) < 5e-6);
}

TEST_CASE("weights after 20 steps are the same bits for 1, 2 and 3 threads, and again") {
  std::map<std::string, std::vector<double>> first;
  for (int threads : {1, 2, 3, 2}) {
    session<parity::train> s(cpu(threads), {{parity::B, 8}});
    train_parity(s, 20, [](int, const step_result&) {});
    for (const auto& e : s.parameters()->entries()) {
      const auto v = s.param(e.path).values();
      const auto [it, fresh] = first.try_emplace(e.path, v);
      if (!fresh) CHECK_MESSAGE(it->second == v, e.path, " differs with ", threads, " threads");
    }
  }
  CHECK(first.size() > 60);
}
