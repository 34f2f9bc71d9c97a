// The small models in the float64 reference evaluator against PyTorch in float64.
#include <doctest/doctest.h>

#include "models/goldens.hpp"
#include "models/programs.hpp"
#include "ropewalk/graph/flatten.hpp"
#include "ropewalk/io/file.hpp"

namespace {

using namespace ropewalk;
using namespace ropewalk::testing;

// Logits where the mask is 1, loss, and every parameter gradient.
void check_model(const program_table& table, const std::string& folder) {
  auto leaves = load_all(folder + "/model.safetensors");
  const auto known = load_all(folder + "/case.safetensors");
  leaves["tokens"] = known.at("input_ids");
  leaves["targets"] = shifted_labels(known.at("labels"));
  const std::vector<dim_binding> dims = {{dim("B"), 2}, {dim("T"), 24}};
  const auto got = evaluate_reference(flatten(table), dims, leaves);
  CHECK(std::abs(got.at("loss").v[0] - known.at("loss").v[0]) < 1e-10);
  const auto& mask = known.at("attention_mask").v;
  const auto &logits = got.at("logits").v, &right = known.at("logits").v;
  const std::size_t vocabulary = logits.size() / mask.size();
  double worst = 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (mask[i / vocabulary] == 1) worst = std::max(worst, std::abs(logits[i] - right[i]));
  CHECK(worst < 1e-10);
  double scale = 0;
  int gradients = 0;
  for (const auto& [name, value] : known)
    if (name.starts_with("grad.")) scale = std::max(scale, largest(value.v));
  for (const auto& [name, value] : known) {
    if (!name.starts_with("grad.")) continue;
    ++gradients;
    INFO(name);
    REQUIRE(got.contains(name));
    CHECK(largest_difference(got.at(name).v, value.v) < 1e-9 * scale);
  }
  CHECK(gradients > 15);
}

}  // namespace

TEST_CASE("GPT-2 equals PyTorch in float64") {
  check_model(gpt2::gradients.table(), "data/goldens/models/gpt2");
}

TEST_CASE("Llama equals PyTorch in float64") {
  check_model(llama::gradients.table(), "data/goldens/models/llama");
}

TEST_CASE("the first gradient of the parity GPT equals PyTorch in float64") {
  auto leaves = load_all("data/goldens/training/gpt/init.safetensors");
  const auto known = load_all("data/goldens/training/gpt/grad_step0.safetensors");
  const auto curve = load_all("data/goldens/training/gpt/curve.safetensors");
  const tensor_file file("data/goldens/training/gpt/curve.safetensors");
  const std::string bytes = read_file("data/goldens/training/gpt/data.bin");
  dense x{{8, 64}, {}}, y{{8, 64}, {}};
  for (std::size_t b = 0; b < 8; ++b)
    for (std::size_t t = 0; t < 64; ++t) {
      const auto o = static_cast<std::size_t>(curve.at("offsets").v[b]) + t;
      x.v.push_back(static_cast<unsigned char>(bytes[o]));
      y.v.push_back(static_cast<unsigned char>(bytes[o + 1]));
    }
  leaves["tokens"] = x;
  leaves["targets"] = y;
  const std::vector<dim_binding> dims = {{dim("B"), 8}};
  const auto got = evaluate_reference(flatten(parity::gradients.table()), dims, leaves);
  CHECK(std::abs(got.at("loss").v[0] - curve.at("loss").v[0]) < 1e-11);
  for (const auto& [name, value] : known) {
    INFO(name);
    REQUIRE(got.contains("grad." + name));
    CHECK(largest_difference(got.at("grad." + name).v, value.v) < 1e-11);
  }
}
