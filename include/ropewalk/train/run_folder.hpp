// The folder of a training run: one run at a time writes there, and only over files of its kind.
#pragma once
#include <string>
#include <string_view>

namespace ropewalk {

// Makes the folder if it is missing and holds it (a lock of flock(2) on the folder itself, which
// ends with the process) until it is destroyed. Errors: the folder cannot be made; another run
// holds it. Where the file system has no locks, nobody is kept out.
class run_folder {
 public:
  run_folder() = default;  // of a run that keeps nothing
  explicit run_folder(const std::string& path);
  run_folder(run_folder&& other) noexcept;
  run_folder& operator=(run_folder&& other) noexcept;
  ~run_folder();

  bool keeps() const { return !path_.empty(); }
  std::string file(const char* name) const { return path_ + "/" + name; }

  // Checks that a file of that name may be replaced: it is missing, empty, or begins as `ours`
  // says. Errors: it is no regular file; it begins otherwise.
  void require_own(const char* name, bool (*ours)(std::string_view begin)) const;
  // Checks that a file of that name can be written here, and removes the unfinished ones that killed
  // runs left beside it (atomic_writer). Errors: those of atomic_writer.
  void prepare(const char* name) const;

 private:
  std::string path_{};
  int lock_ = -1;
};

}  // namespace ropewalk
