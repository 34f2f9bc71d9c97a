// The one exception of the library: what was wrong, where, with which value, and the rule it broke.
#pragma once
#include <stdexcept>
#include <string>

namespace ropewalk {

// Thrown for every mistake found at run time (a file, a binding, an option). The message reads
//   [where] field = value: rule
// e.g. "[weights.safetensors] tensor h.0.qkv.weight, shape = [384, 384]: must be [1152, 384]".
// Programs print it and end with exit code 2.
class error : public std::runtime_error {
 public:
  error(const std::string& where, const std::string& field, const std::string& value,
        const std::string& rule)
      : std::runtime_error("[" + where + "] " + field + " = " + value + ": " + rule) {}
  error(const std::string& where, const std::string& message)
      : std::runtime_error("[" + where + "] " + message) {}
};

}  // namespace ropewalk
