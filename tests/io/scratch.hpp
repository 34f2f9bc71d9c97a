// A folder of its own for a test, removed at the end.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

struct scratch_folder {
  std::string path;
  scratch_folder() : path((std::filesystem::temp_directory_path() / "ropewalk-XXXXXX").string()) {
    if (!::mkdtemp(path.data())) throw std::runtime_error("mkdtemp failed for " + path);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  long files() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
};

// The message of the error that `f` throws, "" where it throws none.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
