// The choice of instruction set.
#include <doctest/doctest.h>

#include <cstdlib>
#include <ropewalk/core/error.hpp>
#include <ropewalk/runtime/cpu_kernels.hpp>
#include <string>

using namespace ropewalk;

TEST_CASE("portable is always there, and the best is the last") {
  unsetenv("ROPEWALK_ISA");
  const auto all = supported_isas();
  REQUIRE(!all.empty());
  CHECK(all.front() == isa::portable);
  CHECK(best_isa() == all.back());
}

TEST_CASE("ROPEWALK_ISA names any supported set") {
  for (const isa i : supported_isas()) {
    setenv("ROPEWALK_ISA", isa_name(i), 1);
    CHECK(best_isa() == i);
  }
  unsetenv("ROPEWALK_ISA");
}

TEST_CASE("a misspelt ROPEWALK_ISA is refused with the variable, the value and the choices") {
  setenv("ROPEWALK_ISA", "axv2", 1);
  std::string what;
  try {
    best_isa();
  } catch (const error& e) {
    what = e.what();
  }
  unsetenv("ROPEWALK_ISA");
  CHECK(what.find("ROPEWALK_ISA = axv2: must be") != std::string::npos);
  for (const isa i : supported_isas()) CHECK(what.find(isa_name(i)) != std::string::npos);
}
