// The parity GPT against PyTorch: its first gradient in the float64 reference evaluator, and 60
// steps of training in compiled float32 kernels.
#include <doctest/doctest.h>

#include "models/goldens.hpp"
#include "models/known.hpp"
#include "models/programs.hpp"
#include "ropewalk/io/file.hpp"
#include "ropewalk/session.hpp"

namespace {

using namespace ropewalk;
using namespace ropewalk::testing;

struct step_result {
  double loss, norm;
};

// The golden batch of a step: 8 windows of 64 bytes, and those one byte on.
struct golden_batches {
  std::map<std::string, dense> curve = load_all("data/goldens/training/gpt/curve.safetensors");
  std::string bytes = read_file("data/goldens/training/gpt/data.bin");
  template <class T>
  void read(std::size_t step, std::vector<T>& x, std::vector<T>& y) const {
    x.clear(), y.clear();
    for (std::size_t row = step * 8; row < step * 8 + 8; ++row)
      for (std::size_t t = 0; t < 64; ++t) {
        const auto o = static_cast<std::size_t>(curve.at("offsets").v[row]) + t;
        x.push_back(static_cast<unsigned char>(bytes[o]));
        y.push_back(static_cast<unsigned char>(bytes[o + 1]));
      }
  }
};

// Runs the parity GPT on the golden batches; calls each(step, result).
template <class F>
void train_parity(session<parity::train>& s, int steps, F each) {
  const golden_batches batches;
  load_parameters(s, "data/goldens/training/gpt/init.safetensors");
  std::vector<std::int32_t> x, y;
  for (int step = 0; step < steps; ++step) {
    batches.read(static_cast<std::size_t>(step), x, y);
    const auto lr = static_cast<float>(batches.curve.at("lr").v[static_cast<std::size_t>(step)]);
    s.run(parity::tokens = x, parity::targets = y, learning_rate = lr);
    each(step, step_result{s.get(parity::loss).item(), s.get("grad_norm").item()});
  }
}

}  // namespace

TEST_CASE("the first gradient of the parity GPT equals PyTorch in float64") {
  auto leaves = load_all("data/goldens/training/gpt/init.safetensors");
  const auto known = load_all("data/goldens/training/gpt/grad_step0.safetensors");
  const golden_batches batches;
  dense x{{8, 64}, {}}, y{{8, 64}, {}};
  batches.read(0, x.v, y.v);
  leaves["tokens"] = x;
  leaves["targets"] = y;
  const std::vector<dim_binding> dims = {{dim("B"), 8}};
  const auto got = evaluate_reference(flatten(parity::gradients.table()), dims, leaves);
  CHECK(std::abs(got.at("loss").v[0] - batches.curve.at("loss").v[0]) < 1e-11);
  for (const auto& [name, value] : known) {
    INFO(name);
    REQUIRE(got.contains("grad." + name));
    CHECK(largest_difference(got.at("grad." + name).v, value.v) < 1e-11);
  }
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
