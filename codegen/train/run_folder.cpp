// The folder of a training run: see include/ropewalk/train/run_folder.hpp.
#include "ropewalk/train/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "ropewalk/core/error.hpp"
#include "ropewalk/io/file.hpp"

namespace ropewalk {

run_folder::run_folder(const std::string& path) : path_(path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw error(path, "cannot be made: " + code.message());
  lock_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw error(path, "cannot be opened: " + std::generic_category().message(errno));
  int result;
  do result = ::flock(lock_, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result == 0 || errno != EWOULDBLOCK) return;
  ::close(lock_);
  throw error(path, "another run is at work in this folder: wait for it, or choose another one");
}

run_folder::run_folder(run_folder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

run_folder& run_folder::operator=(run_folder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

run_folder::~run_folder() {
  if (lock_ >= 0) ::close(lock_);
}

void run_folder::require_own(const char* name, bool (*ours)(std::string_view begin)) const {
  const std::string path = file(name);
  if (!std::filesystem::exists(path)) return;
  const mapped_file found(path);  // refuses what is no regular file
  const auto bytes = found.bytes().first(std::min<std::size_t>(found.bytes().size(), 4096));
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!begin.empty() && !ours(begin))
    throw error(path,
                "is not of a training run and would be overwritten: move it away, or choose "
                "another folder");
}

void run_folder::prepare(const char* name) const {
  const atomic_writer trial(file(name));
  const std::string begin = std::string(name) + ".tmp-";
  std::error_code code;  // what cannot be listed or removed stays
  for (const auto& entry : std::filesystem::directory_iterator(path_, code)) {
    const std::string found = entry.path().filename();
    if (found.starts_with(begin) &&
        found.find_first_not_of("0123456789-", begin.size()) == found.npos)
      std::filesystem::remove(entry.path(), code);
  }
}

}  // namespace ropewalk
