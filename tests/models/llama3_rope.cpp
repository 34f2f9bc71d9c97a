// A Llama with Llama 3's frequencies (all three of their branches) against PyTorch: in the float64
// reference evaluator, and in compiled float32 kernels.
#include <doctest/doctest.h>

#include "models/goldens.hpp"
#include "models/llama3_rope_programs.hpp"
#include "ropewalk/session.hpp"

namespace {

using namespace ropewalk;
using namespace ropewalk::testing;

const std::string folder = "data/goldens/models/llama3_rope";

// What is known of logits, loss and gradients: the largest differences.
struct distances {
  double logits = 0, loss = 0, gradient = 0, gradient_norm = 0;
  int gradients = 0;
};
template <class Get>  // Get(output): its values
distances from_known(const Get& get) {
  const auto known = load_all(folder + "/case.safetensors");
  distances d;
  d.loss = std::abs(get("loss")[0] - known.at("loss").v[0]);
  const auto logits = get("logits");
  const auto& mask = known.at("attention_mask").v;
  const std::size_t vocabulary = logits.size() / mask.size();
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (mask[i / vocabulary] == 1)
      d.logits = std::max(d.logits, std::abs(logits[i] - known.at("logits").v[i]));
  double top = 0, difference = 0, norm = 0;
  for (const auto& [name, value] : known) {
    if (!name.starts_with("grad.")) continue;
    INFO(name);
    const auto got = get(name);
    ++d.gradients;
    top = std::max(top, largest(value.v));
    d.gradient = std::max(d.gradient, largest_difference(got, value.v));
    for (std::size_t i = 0; i < got.size(); ++i) {
      difference += (got[i] - value.v[i]) * (got[i] - value.v[i]);
      norm += value.v[i] * value.v[i];
    }
  }
  d.gradient /= top;
  d.gradient_norm = std::sqrt(difference / norm);
  return d;
}

std::vector<std::int32_t> integers(const dense& d) { return {d.v.begin(), d.v.end()}; }

}  // namespace

TEST_CASE("Llama with Llama 3's frequencies equals PyTorch in float64") {
  auto leaves = load_all(folder + "/model.safetensors");
  const auto known = load_all(folder + "/case.safetensors");
  leaves["tokens"] = known.at("input_ids");
  leaves["targets"] = shifted_labels(known.at("labels"));
  const std::vector<dim_binding> dims = {{dim("B"), 2}, {dim("T"), 24}};
  const auto got = evaluate_reference(flatten(llama3_rope::gradients.table()), dims, leaves);
  const distances d = from_known([&](const std::string& name) { return got.at(name).v; });
  CHECK(d.gradients > 15);
  CHECK(d.loss < 1e-10);
  CHECK(d.logits < 1e-10);
  CHECK(d.gradient < 1e-9);
}

TEST_CASE("Llama with Llama 3's frequencies equals PyTorch in float32") {
  const auto known = load_all(folder + "/case.safetensors");
  session<llama3_rope::gradients> s(cpu(2), {{dim("B"), 2}, {dim("T"), 24}});
  const tensor_file file(folder + "/model.safetensors");
  std::size_t found = 0;
  for (const auto& e : s.parameters()->entries()) {
    if (e.state) continue;
    const file_tensor& t = file.get(e.path);
    s.parameters()->set(e.path,
                        host_data(t.bytes.data(), t.type, t.bytes.size() / dtype_size(t.type)));
    ++found;
  }
  REQUIRE(found == file.names().size());
  s.set("tokens", integers(known.at("input_ids")));
  s.set("targets", integers(shifted_labels(known.at("labels"))));
  s.run();
  const distances d =
      from_known([&](const std::string& name) { return s.session_core::get(name).values(); });
  // Ten times what a float32 PyTorch run reaches, from the goldens' README.
  CHECK(d.logits < 10 * 1.4e-5);
  CHECK(d.loss < 10 * 4.1e-7);
  CHECK(d.gradient_norm < 10 * 1.6e-6);
  CHECK(d.gradient < 10 * 2.3e-6);

  // Greedy continuation by recomputing the whole text.
  std::vector<std::int32_t> text = integers(known.at("prompt"));
  for (const double right : known.at("generated").v) {
    session_options shared;
    shared.parameters = s.parameters();
    session<llama3_rope::generate> g(
        cpu(2), {{dim("B"), 1}, {dim("T"), static_cast<std::int64_t>(text.size())}}, shared);
    g.run(llama3_rope::tokens = text);
    const auto all = g.get(llama3_rope::logits).values();
    const auto row = all.end() - 97;
    text.push_back(static_cast<std::int32_t>(std::max_element(row, all.end()) - row));
    CHECK(text.back() == right);
  }
}
