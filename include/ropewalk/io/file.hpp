// Files as a whole: read, map, and replace in one step that a killed process cannot leave half
// done.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ropewalk {

// The bytes of a regular file. Errors: missing, unreadable, not a regular file.
std::string read_file(const std::string& path);

// Replaces `path` by `bytes`: written to a temporary file in the same folder, synced, renamed over
// the target, the folder synced. On an error the old file is as before and the temporary is gone.
// Keeps the permissions of a file that was there. Errors: see atomic_writer.
void write_file_atomic(const std::string& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::string& path, std::string_view text);

// The same in pieces, for files that are not held in memory as one run of bytes:
//   atomic_writer out(path); out.write(header); out.write(data); out.commit();
// Destroyed before commit, it removes the temporary and leaves the target alone.
// Errors: folder missing or read-only, target not a regular file, disk full, sync or rename
// refused.
class atomic_writer {
 public:
  explicit atomic_writer(const std::string& path);
  ~atomic_writer();
  atomic_writer(const atomic_writer&) = delete;
  atomic_writer& operator=(const atomic_writer&) = delete;
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  void commit();

 private:
  [[noreturn]] void fail(const char* step) const;
  std::string path_, temporary_;
  int file_ = -1;
};

// A regular file mapped read-only: pages are read when touched and cost no memory of the process.
// A file replaced by rename (as above) keeps its old bytes here; one cut short in place by another
// program while mapped faults on access, as with any mapping.
class mapped_file {
 public:
  mapped_file() = default;
  explicit mapped_file(const std::string& path);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ropewalk
