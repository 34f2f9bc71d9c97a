// attention against the golden files, every option: out, log-sum-exp and all gradients.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include <ropewalk/io/safetensors.hpp>

#include "attention_calls.hpp"

using namespace cases;
using namespace ropewalk;

namespace {

struct golden {
  const char* name;
  double scale = 0.5, soft_cap = 0;
  bool causal = false;
  int window = 0;
  double f32_tolerance = 1e-5;
};
const double root_half = 0.7071067811865475;
const golden goldens[] = {
    {.name = "none"},
    {.name = "causal", .causal = true},
    {.name = "causal-tq-lt-tk", .causal = true},
    {.name = "causal-tq-gt-tk", .causal = true},
    {.name = "cross"},
    {.name = "window-causal", .causal = true, .window = 3},
    {.name = "window-two-sided", .window = 3},
    {.name = "padding"},
    {.name = "padding-causal", .causal = true},
    {.name = "packed"},
    {.name = "packed-causal", .causal = true},
    {.name = "mask-shared"},
    {.name = "mask-per-head"},
    {.name = "mask-per-batch"},
    {.name = "alibi-8", .scale = root_half, .causal = true},
    {.name = "alibi-12", .scale = root_half, .causal = true},
    {.name = "alibi-6", .scale = root_half, .causal = true},
    {.name = "soft-cap", .soft_cap = 2},
    {.name = "soft-cap-mask", .soft_cap = 3, .causal = true},
    {.name = "sinks"},
    {.name = "sinks-causal", .causal = true},
    {.name = "gqa", .causal = true},
    {.name = "mqa", .causal = true},
    {.name = "dv-wider"},
    {.name = "dv-narrower", .scale = 0.4082482904638631, .causal = true},
    {.name = "masked-rows"},
    {.name = "masked-rows-sinks"},
    {.name = "scale-given", .scale = 0.3},
    // Ten times what plain float32 reaches: scores of 900 leave 6e-5 of their differences.
    {.name = "large-scores", .causal = true, .f32_tolerance = 3.2e-4},
    {.name = "combined", .scale = 0.4, .soft_cap = 4, .causal = true, .window = 4},
    {.name = "decode-one-row", .causal = true},
};

const std::string folder = "data/goldens/ops/attention-";

dense read(const file_tensor* t) {
  dense d;
  if (t == nullptr) return d;
  d.extent.assign(t->shape.begin(), t->shape.end());
  d.v.resize(t->bytes.size() / dtype_size(t->type));
  for (std::size_t i = 0; i < d.v.size(); ++i) {
    std::int32_t n;
    if (t->type == f64)
      std::memcpy(&d.v[i], t->bytes.data() + 8 * i, 8);
    else
      std::memcpy(&n, t->bytes.data() + 4 * i, 4), d.v[i] = n;
  }
  return d;
}

struct tensors {
  tensor_file file;
  explicit tensors(const golden& g) : file(folder + g.name + ".safetensors") {}
  dense operator()(const char* name) const { return read(file.find(name)); }
};

attention_instance instance_of(const golden& g, const tensors& t) {
  attention_instance x;
  x.q = t("q"), x.k = t("k"), x.v = t("v"), x.d_out = t("d_out");
  x.a.f[0] = g.scale, x.a.f[1] = g.soft_cap;
  x.flag(op::attention_has_scale, true);
  x.flag(op::attention_causal, g.causal);
  x.window(g.window);
  const std::pair<attention_operand, const char*> names[] = {
      {attention_operand::mask, "mask"},
      {attention_operand::slopes, "slopes"},
      {attention_operand::sinks, "sinks"},
      {attention_operand::lengths, "lengths"},
      {attention_operand::documents, "cu_lengths"}};
  for (const auto& [kind, name] : names)
    if (dense d = t(name); !d.v.empty()) x.set(kind, d);
  if (t.file.contains("d_scale")) x.set(attention_operand::scale, {{1}, {g.scale}});
  return x;
}

// Every tensor of the file that attention makes; returns how many.
int compare(const std::string& what, const tensors& t, const attention_results& r,
            double tolerance) {
  int n = 0;
  const auto check = [&](const char* name, const dense& got) {
    const dense want = t(name);
    if (want.v.empty()) return;
    check_close(what + " " + name, got, want, tolerance);
    ++n;
  };
  check("out", r.out), check("lse", r.lse);
  const char* names[] = {"d_q", "d_k", "d_v", "d_mask", "d_slopes", "d_sinks", "d_scale"};
  for (std::size_t k = 0; k < 7; ++k) check(names[k], r.d[k]);
  return n;
}
int wanted(const tensors& t) {
  int n = 2;
  for (const std::string& name : t.file.names()) n += name.starts_with("d_") && name != "d_out";
  return n;
}

}  // namespace

TEST_CASE("attention: the reference equals every golden file") {
  int files = 0;
  for (const auto& e : std::filesystem::directory_iterator("data/goldens/ops"))
    files += e.path().filename().string().starts_with("attention-");
  CHECK(files == static_cast<int>(std::size(goldens)));
  for (const golden& g : goldens) {
    const tensors t(g);
    CHECK(compare(g.name, t, instance_of(g, t).reference(), 1e-10) == wanted(t));
  }
}

TEST_CASE("attention: the kernels equal every golden file") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const golden& g : goldens) {
      const tensors t(g);
      attention_instance x = instance_of(g, t);
      const std::string what = std::string(isa_name(set)) + " " + g.name;
      CHECK(compare(what + " f64", t, x.kernel(p, set, f64, f64), 1e-10) == wanted(t));
      CHECK(compare(what + " f32", t, x.kernel(p, set, f32, f32), g.f32_tolerance) == wanted(t));
    }
}
