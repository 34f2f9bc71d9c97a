// What differs between the languages that kernels are printed in.
#pragma once
#include <string>

#include <ropewalk/core/dtype.hpp>

namespace ropewalk {

class language {
 public:
  virtual ~language() = default;
  virtual const char* type(dtype d) const = 0;     // of a computed value
  virtual const char* storage(dtype d) const = 0;  // of an element of a buffer
  virtual const char* index() const = 0;           // of a loop variable
  virtual std::string number(double v, dtype d) const = 0;
  // The computed value of an element, the element of a value, and the value after both.
  virtual std::string loaded(dtype d, const std::string& x) const = 0;
  virtual std::string stored(dtype d, const std::string& x) const = 0;
  virtual std::string rounded(dtype d, const std::string& x) const = 0;
  virtual std::string truth(const std::string& x) const = 0;  // x != 0
  // The name of a function of the scalar language for arguments of a type.
  virtual std::string function(const char* name, dtype d) const = 0;
  virtual const char* both() const = 0;
  virtual const char* either() const = 0;
};

const language& cpp_language();

}  // namespace ropewalk
