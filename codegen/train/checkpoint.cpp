// Checkpoints: writing, checking, loading.
#include "ropewalk/train/checkpoint.hpp"

#include <charconv>
#include <cmath>
#include <set>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

constexpr const char* format_key = "format";
constexpr const char* format_text = "ropewalk checkpoint 1";
constexpr std::string_view state_prefix = "state/", run_prefix = "run.";

// The name of an entry in a file.
std::string name_of(const parameter_store::entry& e) {
  return e.state ? std::string(state_prefix) + e.path : e.path;
}

std::vector<long> shape_of(const tensor_view& t) {
  return {t.ref().extent, t.ref().extent + t.rank()};
}

// Text of strangers, made fit to print: short and without control characters.
std::string printable(const std::string& text) {
  std::string out = text.substr(0, 200);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > 200 ? out + "..." : out;
}

// The shortest decimals that read back as the same double.
std::string number_text(double v) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

template <class T>
T number_in(const tensor_file& file, const std::string& key) {
  const std::string& text = file.require_metadata(key);
  T v{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (code != std::errc() || end != text.data() + text.size())
    throw error(file.path(), "metadata " + key, printable(text), "must be a number");
  return v;
}

// Position of the first element that is not finite; -1: none.
long first_not_finite(const file_tensor& t) {
  if (!is_floating(t.type)) return -1;
  const std::size_t n = t.bytes.size() / dtype_size(t.type);
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(load_number(t.type, t.bytes.data(), i))) return static_cast<long>(i);
  return -1;
}

// Copies the entries of the store from the file, having checked all of them.
void load_all(const tensor_file& file, parameter_store& store, bool with_states) {
  std::vector<std::pair<std::string, const file_tensor*>> copies;
  std::set<std::string> names;
  for (const parameter_store::entry& e : store.entries()) {
    if (e.state && !with_states) continue;
    const file_tensor& from = file.require(name_of(e), e.type, {e.extent.begin(), e.extent.end()});
    if (const long i = first_not_finite(from); i >= 0)
      throw error(
          file.path(), "tensor " + from.name + ", element " + std::to_string(i),
          number_text(load_number(from.type, from.bytes.data(), static_cast<std::size_t>(i))),
          "must be finite");
    copies.emplace_back(e.path, &from);
    names.insert(from.name);
  }
  for (const file_tensor& t : file.tensors())
    if ((with_states || !t.name.starts_with(state_prefix)) && !names.contains(t.name))
      throw error(file.path(), "tensor " + printable(t.name),
                  std::string(dtype_name(t.type)) + " " + shape_text(t.shape),
                  "is none of the model's");
  for (const auto& [path, from] : copies)
    store.set(path, {from->bytes.data(), from->type, from->bytes.size() / dtype_size(from->type)});
}

}  // namespace

void save_checkpoint(const std::string& path, const parameter_store& store,
                     const checkpoint_info& info) {
  std::vector<file_tensor> tensors;
  for (const parameter_store::entry& e : store.entries()) {
    if (!e.state && e.path.starts_with(state_prefix))
      throw error(path, "parameter", e.path, "must not begin with \"state/\"");
    const tensor_view t = store.at(e.path);
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(t.ref().data),
                                           t.elements() * dtype_size(t.type()));
    tensors.push_back({name_of(e), t.type(), shape_of(t), bytes});
  }
  metadata_list all = {{format_key, format_text},
                       {checksum_key, ""},
                       {"step", std::to_string(info.step)},
                       {"seed", std::to_string(info.seed)},
                       {"sampler", info.sampler},
                       {"tokenizer", info.tokenizer},
                       {"best_validation", number_text(info.best_validation)},
                       {"best_step", std::to_string(info.best_step)}};
  for (const auto& [key, value] : info.run) all.emplace_back(std::string(run_prefix) + key, value);
  save_safetensors(path, tensors, all);
}

checkpoint::checkpoint(const std::string& path) : file_(path) {
  if (const std::string& format = file_.require_metadata(format_key); format != format_text)
    throw error(path, std::string("metadata ") + format_key, printable(format),
                std::string("must be \"") + format_text + "\"");
  info_.step = number_in<long>(file_, "step");
  if (info_.step < 0)
    throw error(path, "metadata step", std::to_string(info_.step), "must not be negative");
  info_.seed = number_in<std::uint64_t>(file_, "seed");
  info_.sampler = file_.require_metadata("sampler");
  info_.tokenizer = file_.require_metadata("tokenizer");
  info_.best_validation = number_in<double>(file_, "best_validation");
  info_.best_step = number_in<long>(file_, "best_step");
  for (const auto& [key, value] : file_.metadata())
    if (key.starts_with(run_prefix)) info_.run.emplace_back(key.substr(run_prefix.size()), value);
}

tokenizer checkpoint::tokens() const {
  try {
    return tokenizer::restore(info_.tokenizer);
  } catch (const error& e) {
    throw error(path(), std::string("metadata tokenizer: ") + e.what());
  }
}

long checkpoint::window() const {
  const long n = number_in<long>(file_, std::string(run_prefix) + "window");
  if (n < 1) throw error(path(), "metadata run.window", std::to_string(n), "must be at least 1");
  return n;
}

void checkpoint::require_run(const metadata_list& run) const {
  for (const auto& [key, value] : run) {
    const std::string* found = nullptr;
    for (const auto& [k, v] : info_.run)
      if (k == key) found = &v;
    if (found == nullptr || *found != value)
      throw error(path(), key, found == nullptr ? "nothing" : printable(*found),
                  "is another run's; this one has " + printable(value));
  }
}

bool is_checkpoint(std::string_view begin) {
  return begin.find("\"format\":\"ropewalk checkpoint ") != begin.npos;
}

void checkpoint::load(parameter_store& store) const { load_all(file_, store, true); }

void load_weights(const std::string& path, parameter_store& store) {
  load_all(tensor_file(path), store, false);
}

}  // namespace ropewalk
