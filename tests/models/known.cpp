// The checks of known.hpp.
#include "models/known.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "models/goldens.hpp"
#include "ropewalk/graph/flatten.hpp"

namespace ropewalk::testing {
namespace {

std::vector<std::int32_t> integers(const dense& d) { return {d.v.begin(), d.v.end()}; }

// Get(output): its values.
template <class Get>
void check_values(const std::map<std::string, dense>& known, const tolerance& t, const Get& get) {
  CHECK(std::abs(get("loss")[0] - known.at("loss").v[0]) < t.loss);
  const std::vector<double> logits = get("logits");
  const auto &mask = known.at("attention_mask").v, &right = known.at("logits").v;
  REQUIRE(logits.size() == right.size());
  const std::size_t vocabulary = logits.size() / mask.size();
  double worst = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double d = mask[i / vocabulary] == 1 ? std::abs(logits[i] - right[i]) : 0;
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  CHECK(worst < t.logits);
  double top = 0, entry = 0, difference = 0, norm = 0;
  int gradients = 0;
  for (const auto& [name, value] : known) {
    if (!name.starts_with("grad.")) continue;
    INFO(name);
    const std::vector<double> got = get(name);
    REQUIRE(got.size() == value.v.size());
    ++gradients;
    top = std::max(top, largest(value.v));
    entry = std::max(entry, largest_difference(got, value.v));
    for (std::size_t i = 0; i < got.size(); ++i) {
      difference += (got[i] - value.v[i]) * (got[i] - value.v[i]);
      norm += value.v[i] * value.v[i];
    }
  }
  CHECK(gradients > 15);
  CHECK(std::sqrt(difference / norm) < t.gradient_norm);
  CHECK(entry / top < t.gradient_entry);
}

}  // namespace

void load_parameters(session_core& s, const std::string& path) {
  const tensor_file file(path);
  std::size_t found = 0;
  for (const auto& e : s.parameters()->entries()) {
    if (e.state) continue;
    const file_tensor& t = file.get(e.path);
    s.parameters()->set(e.path,
                        host_data(t.bytes.data(), t.type, t.bytes.size() / dtype_size(t.type)));
    ++found;
  }
  REQUIRE(found == file.names().size());
}

void check_float64(const program_table& gradients, const std::string& folder) {
  const auto known = load_all(folder + "/case.safetensors");
  auto leaves = load_all(folder + "/model.safetensors");
  leaves["tokens"] = known.at("input_ids");
  leaves["targets"] = shifted_labels(known.at("labels"));
  const std::vector<dim_binding> dims = {{dim("B"), 2}, {dim("T"), 24}};
  const auto got = evaluate_reference(flatten(gradients), dims, leaves);
  check_values(known, {1e-10, 1e-10, 1e-9, 1e-9},
               [&](const std::string& name) { return got.at(name).v; });
}

void check_float32(const program_table& gradients, const program_table& generate,
                   const std::string& folder, const tolerance& t) {
  const auto known = load_all(folder + "/case.safetensors");
  const dim_binding dims[] = {{dim("B"), 2}, {dim("T"), 24}};
  session_core s(flatten(gradients), cpu(2), dims);
  load_parameters(s, folder + "/model.safetensors");
  s.set("tokens", integers(known.at("input_ids")));
  s.set("targets", integers(shifted_labels(known.at("labels"))));
  s.run();
  check_values(known, {10 * t.logits, 10 * t.loss, 10 * t.gradient_norm, 10 * t.gradient_entry},
               [&](const std::string& name) { return s.get(name).values(); });

  std::vector<std::int32_t> text = integers(known.at("prompt"));
  for (const double right : known.at("generated").v) {
    session_options shared;
    shared.parameters = s.parameters();
    const dim_binding one[] = {{dim("B"), 1}, {dim("T"), static_cast<std::int64_t>(text.size())}};
    session_core g(flatten(generate), cpu(2), one, shared);
    g.set("tokens", text);
    g.run();
    const std::vector<double> all = g.get("logits").values();
    const auto row = all.end() - static_cast<std::ptrdiff_t>(all.size() / text.size());
    text.push_back(static_cast<std::int32_t>(std::max_element(row, all.end()) - row));
    CHECK(text.back() == right);
  }
}

}  // namespace ropewalk::testing
