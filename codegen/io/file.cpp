// Files as a whole, on POSIX calls: see include/ropewalk/io/file.hpp.
#include "ropewalk/io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

struct descriptor {
  int value;
  explicit descriptor(int v) : value(v) {}
  descriptor(const descriptor&) = delete;
  ~descriptor() {
    if (value >= 0) ::close(value);
  }
};

// Opens without blocking on a pipe nobody writes to, and refuses what is not a regular file.
int open_regular(const std::string& path, std::size_t& size) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw error(path, "cannot be opened: " + reason(errno));
  struct stat info{};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(file);
    throw error(path, "must be a regular file");
  }
  size = static_cast<std::size_t>(info.st_size);
  return file;
}

std::string folder_of(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::size_t size = 0;
  descriptor file(open_regular(path, size));
  std::string text(size, '\0');
  std::size_t done = 0;
  for (;;) {  // until the end, not until `size`: the file may have grown or shrunk since
    if (done == text.size()) text.resize(done + 4096);
    ssize_t n = ::read(file.value, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw error(path, "cannot be read: " + reason(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.resize(done);
  return text;
}

void write_file_atomic(const std::string& path, std::span<const std::byte> bytes) {
  atomic_writer out(path);
  out.write(bytes);
  out.commit();
}

void write_file_atomic(const std::string& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

void atomic_writer::fail(const char* step) const {
  throw error(path_, std::string(step) + " failed, the old file is unchanged: " + reason(errno));
}

atomic_writer::atomic_writer(const std::string& path) : path_(path) {
  struct stat info{};
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) throw error(path, "only a regular file can be replaced");
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; file_ < 0; ++attempt) {
    temporary_ = path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && (errno != EEXIST || attempt == 100))
      fail("creating a temporary file beside it");
  }
  // A file system without permissions refuses fchmod: the content matters more than the mode.
  if (exists && ::fchmod(file_, info.st_mode & 07777) != 0) errno = 0;
}

atomic_writer::~atomic_writer() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void atomic_writer::write(std::span<const std::byte> bytes) {
  if (file_ < 0) throw error(path_, "is committed already: nothing more can be written");
  while (!bytes.empty()) {
    ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("writing");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void atomic_writer::commit() {
  if (file_ < 0) throw error(path_, "is committed already");
  if (::fsync(file_) != 0) fail("syncing");
  if (::close(std::exchange(file_, -1)) != 0) fail("closing");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("renaming");
  temporary_.clear();
  descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems cannot sync a folder (EINVAL); the rename itself has happened.
  if (folder.value < 0 || (::fsync(folder.value) != 0 && errno != EINVAL))
    throw error(path_, "is replaced, but syncing its folder failed: " + reason(errno));
}

mapped_file::mapped_file(const std::string& path) {
  descriptor file(open_regular(path, size_));
  if (size_ == 0) return;  // mmap refuses an empty range
  void* at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (at == MAP_FAILED) throw error(path, "cannot be mapped: " + reason(errno));
  data_ = static_cast<const std::byte*>(at);
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

mapped_file::~mapped_file() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace ropewalk
