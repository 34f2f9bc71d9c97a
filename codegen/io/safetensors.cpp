// Reads and writes safetensors: see include/ropewalk/io/safetensors.hpp. The one user of nlohmann.
#include "ropewalk/io/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

using json = nlohmann::json;

constexpr std::uint64_t header_limit = 100'000'000;  // of the format's own reader
constexpr const char* metadata_name = "__metadata__";

struct dtype_entry {
  const char* text;
  dtype type;
};
constexpr dtype_entry dtypes[] = {{"F64", f64}, {"F32", f32}, {"F16", f16},     {"BF16", bf16},
                                  {"I32", i32}, {"U8", u8},   {"BOOL", boolean}};

const char* file_name_of(dtype type) {
  return std::ranges::find(dtypes, type, &dtype_entry::type)->text;
}

// Names and values of strangers, made fit to print: short and without control characters.
std::string printable(const std::string& text) {
  std::string out = text.substr(0, 80);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > 80 ? out + "..." : out;
}

std::string place(const std::string& tensor, const char* field) {
  return "tensor " + printable(tensor) + ", " + field;
}

// Bytes of a tensor, or false on overflow of 64 bits.
bool byte_length(const std::vector<long>& shape, dtype type, std::uint64_t& bytes) {
  bytes = dtype_size(type);
  for (long d : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(d), &bytes)) return false;
  return true;
}

// One tensor as the header states it, before its offsets are checked against the others.
struct record {
  std::string name;
  std::string type = {};
  std::vector<std::uint64_t> shape = {}, offsets = {};
  bool has_type = false, has_shape = false, has_offsets = false;
};

// Takes the header event by event: a document tree would keep only the last of two equal names and
// nest as deep as the file wants. Nesting is at most 3, so `depth` and `field` are the whole state.
class header_reader : public nlohmann::json_sax<json> {
 public:
  explicit header_reader(const std::string& file) : file_(file) {}
  std::vector<record> records;
  metadata_list metadata;

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("a boolean"); }
  bool number_integer(number_integer_t v) override { refuse(std::to_string(v)); }
  bool number_float(number_float_t, const string_t& text) override { refuse(printable(text)); }
  bool binary(binary_t&) override { refuse("binary"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) refuse(std::to_string(value));
    (field_ == "shape" ? records.back().shape : records.back().offsets).push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ == 2 && in_metadata_) {
      metadata.emplace_back(field_, value);
    } else if (depth_ == 2 && !in_list_ && field_ == "dtype") {
      records.back().type = value;
    } else {
      refuse("\"" + printable(value) + "\"");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_ == 2 || in_list_) refuse("an object");
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2 && !in_metadata_) {
      const record& r = records.back();
      const char* missing = !r.has_type      ? "dtype"
                            : !r.has_shape   ? "shape"
                            : !r.has_offsets ? "data_offsets"
                                             : nullptr;
      if (missing) throw error(file_, place(r.name, missing), "nothing", "must be given");
    }
    return true;
  }

  bool key(string_t& value) override {
    if (depth_ == 1) {
      in_metadata_ = value == metadata_name;
      if (in_metadata_ && std::exchange(has_metadata_, true))
        throw error(file_, metadata_name, "an object", "must be given once");
      if (!in_metadata_) records.push_back({.name = value});
      field_.clear();
      return true;
    }
    field_ = value;
    if (in_metadata_) return true;
    record& r = records.back();
    bool* seen = value == "dtype"          ? &r.has_type
                 : value == "shape"        ? &r.has_shape
                 : value == "data_offsets" ? &r.has_offsets
                                           : nullptr;
    if (!seen)
      throw error(file_, "tensor " + printable(r.name) + ", field", printable(value),
                  "must be dtype, shape or data_offsets");
    if (std::exchange(*seen, true))
      throw error(file_, place(r.name, value.c_str()), "two values", "must be given once");
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_list_ || in_metadata_ || field_ == "dtype") refuse("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    throw error(file_, "header, byte " + std::to_string(position), printable(problem.what()),
                "must be JSON");
  }

 private:
  [[noreturn]] void refuse(const std::string& value) const {
    if (depth_ == 0) throw error(file_, "header", value, "must be a JSON object");
    if (in_metadata_)
      throw error(file_, std::string(metadata_name) + " " + printable(field_), value,
                  "must be a string");
    const char* rule = field_ == "dtype"          ? "must be a string"
                       : field_ == "shape"        ? "must be a list of sizes, each 0 to 2^63 - 1"
                       : field_ == "data_offsets" ? "must be two offsets, begin and end"
                                                  : "must be an object";
    std::string what = field_.empty() ? "tensor " + printable(records.back().name)
                                      : place(records.back().name, field_.c_str());
    throw error(file_, what, value, rule);
  }

  const std::string& file_;
  std::string field_;
  int depth_ = 0;
  bool in_list_ = false, in_metadata_ = false, has_metadata_ = false;
};

file_tensor checked(const std::string& file, record& r, std::span<const std::byte> data) {
  auto known = std::ranges::find_if(dtypes, [&](auto& d) { return r.type == d.text; });
  if (known == std::end(dtypes))
    throw error(file, place(r.name, "dtype"), printable(r.type),
                "must be F64, F32, F16, BF16, I32, U8 or BOOL");
  file_tensor view{std::move(r.name), known->type, {}, {}};
  for (std::uint64_t d : r.shape) {
    if (d > static_cast<std::uint64_t>(std::numeric_limits<long>::max()))
      throw error(file, place(view.name, "shape"), std::to_string(d), "must be below 2^63");
    view.shape.push_back(static_cast<long>(d));
  }
  if (r.offsets.size() != 2)
    throw error(file, place(view.name, "data_offsets"),
                std::to_string(r.offsets.size()) + " values", "must be two offsets, begin and end");
  const std::uint64_t begin = r.offsets[0], end = r.offsets[1];
  const std::string range = "[" + std::to_string(begin) + ", " + std::to_string(end) + "]";
  if (begin > end || end > data.size())
    throw error(file, place(view.name, "data_offsets"), range,
                "must be in order and end by " + std::to_string(data.size()) + ", the file's end");
  std::uint64_t bytes = 0;
  if (!byte_length(view.shape, view.type, bytes))
    throw error(file, place(view.name, "shape"), shape_text(view.shape),
                "must have fewer than 2^64 bytes");
  if (bytes != end - begin)
    throw error(file, place(view.name, "data_offsets"), range,
                "must span " + std::to_string(bytes) + " bytes for " + dtype_name(view.type) + " " +
                    shape_text(view.shape));
  view.bytes = data.subspan(begin, bytes);
  return view;
}

// Sorts by name and refuses two of the same.
template <class List, class Name>
void sort_unique(const std::string& file, List& list, Name name, const char* kind) {
  std::ranges::sort(list, {}, name);
  auto twice = std::ranges::adjacent_find(list, {}, name);
  if (twice != list.end())
    throw error(file, kind, printable(std::invoke(name, *twice)), "must be given once");
}

// FNV-1a on words of 8 bytes, with a rotation that brings high bits down. Each step is one to one
// in the state and in the word, so that no change within one word goes unseen. 4 GB/s.
class running_sum {
 public:
  void add(std::span<const std::byte> bytes) {
    step(bytes.size());  // where a piece ends counts as well
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) step(word(bytes.first(8)));
    if (!bytes.empty()) step(word(bytes));
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  std::uint64_t value() const { return h_; }

 private:
  static std::uint64_t word(std::span<const std::byte> bytes) {
    std::uint64_t w = 0;
    std::memcpy(&w, bytes.data(), bytes.size());
    return w;
  }
  void step(std::uint64_t w) { h_ = std::rotl((h_ ^ w) * 0x100000001b3ull, 29); }
  std::uint64_t h_ = 0xcbf29ce484222325ull;
};

// Of metadata (but for the checksum itself) and tensors, each in the order of names.
std::string checksum_text(const metadata_list& metadata, std::vector<const file_tensor*> tensors) {
  std::vector<std::pair<std::string_view, std::string_view>> texts;
  for (const auto& [key, value] : metadata)
    if (key != checksum_key) texts.emplace_back(key, value);
  std::ranges::sort(texts);
  std::ranges::sort(tensors, {}, &file_tensor::name);
  running_sum sum;
  for (const auto& [key, value] : texts) sum.add(key), sum.add(value);
  for (const file_tensor* t : tensors) {
    sum.add(t->name);
    sum.add(file_name_of(t->type));
    sum.add(std::as_bytes(std::span(t->shape)));
    sum.add(t->bytes);
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum.value()));
  return text;
}

}  // namespace

std::string shape_text(const std::vector<long>& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size() && i < 16; ++i)
    out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + (shape.size() > 16 ? ", ...]" : "]");
}

tensor_file::tensor_file(const std::string& path) : path_(path), map_(path) { parse(map_.bytes()); }

tensor_file::tensor_file(std::span<const std::byte> file, const std::string& label) : path_(label) {
  parse(file);
}

void tensor_file::parse(std::span<const std::byte> file) {
  if (file.size() < 8)
    throw error(path_, "file size", std::to_string(file.size()), "must be at least 8 bytes");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | std::to_integer<std::uint64_t>(file[i]);
  if (length > header_limit || length > file.size() - 8)
    throw error(path_, "header length", std::to_string(length),
                "must be at most " + std::to_string(std::min(header_limit, file.size() - 8)) +
                    " (the file's " + std::to_string(file.size()) + " bytes less 8, or 100 MB)");
  const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
  if (length == 0 || *text != '{') throw error(path_, "header does not begin with {");
  // Its reader takes a zero byte for the end, and whatever stands behind would go unseen.
  if (const auto zero = std::string_view(text, length).find('\0'); zero != std::string_view::npos)
    throw error(path_, "header, byte " + std::to_string(zero), "0", "must be JSON");
  header_reader reader(path_);
  json::sax_parse(text, text + length, &reader);
  metadata_ = std::move(reader.metadata);
  sort_unique(path_, metadata_, &metadata_list::value_type::first, "__metadata__ key");

  sort_unique(path_, reader.records, &record::name, "tensor");

  const auto data = file.subspan(8 + length);
  std::vector<std::pair<std::uint64_t, const file_tensor*>> order;  // by begin, then by end
  for (record& r : reader.records) tensors_.push_back(checked(path_, r, data));
  for (const file_tensor& t : tensors_) order.emplace_back(t.bytes.data() - data.data(), &t);
  std::ranges::sort(order, {}, [](auto& o) { return std::pair(o.first, o.second->bytes.size()); });
  std::uint64_t position = 0;
  for (const auto& [begin, t] : order) {
    if (begin != position)
      throw error(path_, place(t->name, "data_offsets"), std::to_string(begin),
                  "must begin where the tensor before it ends, " + std::to_string(position));
    position += t->bytes.size();
  }
  if (position != data.size())
    throw error(path_, "data size", std::to_string(data.size()),
                "must be " + std::to_string(position) + ", the end of the last tensor");

  for (const auto& [key, value] : metadata_) {
    if (key != checksum_key) continue;
    std::vector<const file_tensor*> all;
    for (const file_tensor& t : tensors_) all.push_back(&t);
    if (const std::string found = checksum_text(metadata_, all); found != value)
      throw error(path_, "checksum", found,
                  "the file says " + printable(value) + ": it was damaged after it was written");
  }
}

std::vector<std::string> tensor_file::names() const {
  std::vector<std::string> out;
  for (const file_tensor& t : tensors_) out.push_back(t.name);
  return out;
}

const file_tensor* tensor_file::find(const std::string& name) const {
  auto at = std::ranges::lower_bound(tensors_, name, {}, &file_tensor::name);
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

const file_tensor& tensor_file::get(const std::string& name) const {
  if (const file_tensor* t = find(name)) return *t;
  throw error(path_, "tensor " + name + " is missing among the " + std::to_string(tensors_.size()) +
                         " of the file");
}

const file_tensor& tensor_file::require(const std::string& name, dtype type,
                                        const std::vector<long>& shape) const {
  const file_tensor& t = get(name);
  if (t.type != type)
    throw error(path_, place(name, "dtype"), dtype_name(t.type),
                std::string("must be ") + dtype_name(type));
  if (t.shape != shape)
    throw error(path_, place(name, "shape"), shape_text(t.shape), "must be " + shape_text(shape));
  return t;
}

const std::string& tensor_file::require_metadata(const std::string& key) const {
  for (const auto& [k, value] : metadata_)
    if (k == key) return value;
  throw error(path_, "__metadata__ key " + key + " is missing");
}

void save_safetensors(const std::string& path, std::span<const file_tensor> tensors,
                      const metadata_list& metadata) {
  std::vector<const file_tensor*> order;
  for (const file_tensor& t : tensors) order.push_back(&t);
  auto name = [](const auto* t) -> const std::string& { return t->name; };
  sort_unique(path, order, name, "tensor");
  std::ranges::sort(order, {}, [](auto* t) {
    return std::pair(-static_cast<long>(dtype_size(t->type)), std::string_view(t->name));
  });

  json strings = json::object();
  for (const auto& [key, value] : metadata)
    if (!strings.emplace(key, value).second)
      throw error(path, "__metadata__ key", printable(key), "must be given once");
  if (const auto at = strings.find(checksum_key); at != strings.end())
    *at = checksum_text(metadata, order);

  // Written by hand around dump(): the header lists tensors in the order of their data.
  std::string header = "{";
  std::uint64_t offset = 0;
  try {
    if (!strings.empty()) header += json(metadata_name).dump() + ":" + strings.dump();
    for (const file_tensor* t : order) {
      if (t->name.empty() || t->name == metadata_name)
        throw error(path, "tensor name", printable(t->name), "must not be empty or __metadata__");
      std::uint64_t bytes = 0;
      if (std::ranges::any_of(t->shape, [](long d) { return d < 0; }) ||
          !byte_length(t->shape, t->type, bytes) || bytes != t->bytes.size())
        throw error(
            path, place(t->name, "shape"), shape_text(t->shape),
            "must fit its " + std::to_string(t->bytes.size()) + " bytes of " + dtype_name(t->type));
      json entry = {{"dtype", file_name_of(t->type)},
                    {"shape", t->shape},
                    {"data_offsets", {offset, offset + bytes}}};
      if (header.size() > 1) header += ',';
      header += json(t->name).dump() + ":" + entry.dump();
      offset += bytes;
    }
  } catch (const json::exception& problem) {
    throw error(path, "a name or metadata string is not UTF-8: " + printable(problem.what()));
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > header_limit)
    throw error(path, "header length", std::to_string(header.size()), "must be at most 100 MB");

  std::byte length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(header.size() >> 8 * i);
  atomic_writer out(path);
  out.write(length);
  out.write(header);
  for (const file_tensor* t : order) out.write(t->bytes);
  out.commit();
}

}  // namespace ropewalk
