// The safetensors format: named tensors and text metadata in one file, checked before it is
// trusted.
//
// Layout: u64 header length (little endian) | JSON header | data. The header maps each name to
// {"dtype", "shape", "data_offsets": [begin, end)} within data, and "__metadata__" to strings.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ropewalk/core/dtype.hpp"
#include "ropewalk/io/file.hpp"

namespace ropewalk {

// One tensor of a file (read) or for a file (written). Row-major, little endian. The bytes belong
// to the tensor_file, or to the caller when written; a stranger's file may place them at any
// address: copy them out (memcpy) rather than cast the pointer.
struct file_tensor {
  std::string name;
  dtype type = dtype::f32;
  std::vector<long> shape;
  std::span<const std::byte> bytes;
};

using metadata_list = std::vector<std::pair<std::string, std::string>>;

// The metadata key of a checksum (64 bits, 16 hexadecimal digits) of all tensors and all other
// metadata. save_safetensors fills it in where it is asked for by this key, whatever its value.
inline constexpr const char* checksum_key = "ropewalk.checksum";

// A file whose every field has been checked. Errors (ropewalk::error) name the file, the tensor,
// the value and the rule: header longer than the file or 100 MB; not JSON, not UTF-8; a name or
// field given twice; fields missing, unknown or of the wrong kind; a dtype without a ropewalk name
// (I64, F8, ...); shape * size that overflows or differs from the offsets; data with gaps, overlaps
// or bytes beyond the last tensor; a checksum that is not the file's. Values are free: NaN is
// legal.
class tensor_file {
 public:
  // Maps the file: bytes are read when touched; all of them at once where there is a checksum.
  explicit tensor_file(const std::string& path);
  // Parses bytes that the caller keeps alive; `label` stands for the path in errors.
  tensor_file(std::span<const std::byte> file, const std::string& label);

  const std::string& path() const { return path_; }
  const std::vector<file_tensor>& tensors() const { return tensors_; }  // sorted by name
  const metadata_list& metadata() const { return metadata_; }           // sorted by key
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  const file_tensor* find(const std::string& name) const;  // nullptr where there is none

  // Errors: no such tensor.
  const file_tensor& get(const std::string& name) const;
  // The tensor if it has this dtype and shape. Errors: none such, or found against expected.
  const file_tensor& require(const std::string& name, dtype type,
                             const std::vector<long>& shape) const;
  // The metadata value of a key. Errors: no such key.
  const std::string& require_metadata(const std::string& key) const;

 private:
  void parse(std::span<const std::byte> file);
  std::string path_;
  mapped_file map_;
  std::vector<file_tensor> tensors_;
  metadata_list metadata_;
};

// Writes tensors and metadata, replacing `path` in one step (write_file_atomic). Data starts at a
// multiple of 8 (header padded with spaces), widest elements first, then by name: every tensor is
// aligned to its element, and equal input gives equal bytes.
// Errors: names empty, given twice, "__metadata__" or not UTF-8; bytes that do not fit the shape; a
// header above 100 MB; whatever the file system refuses. The old file is then untouched.
void save_safetensors(const std::string& path, std::span<const file_tensor> tensors,
                      const metadata_list& metadata = {});

// "[2, 3]": a shape as errors print it.
std::string shape_text(const std::vector<long>& shape);

}  // namespace ropewalk
