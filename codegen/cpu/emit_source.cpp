// Whole source files of kernels.
#include <cstdio>

#include <ropewalk/graph/schedule.hpp>

namespace ropewalk {
namespace {

std::string hex(std::uint64_t key) {
  char b[20];
  std::snprintf(b, sizeof b, "%016llx", static_cast<unsigned long long>(key));
  return b;
}

}  // namespace

std::string kernel_source(const std::vector<generated_kernel>& kernels) {
  std::string s =
      "// Generated kernels, compiled once per instruction set (ROPEWALK_ISA_NAMESPACE).\n"
      "#include <ropewalk/runtime/generated.hpp>\n"
      "#include <ropewalk/runtime/registry.hpp>\n"
      "#include <ropewalk/runtime/vecmath.hpp>\n\n"
      "namespace ropewalk::ROPEWALK_ISA_NAMESPACE {\nnamespace {\n\n";
  for (const generated_kernel& k : kernels)
    s += "// " + k.label + "\nvoid k" + hex(k.key) + "(const generated_args& a) " + k.text + "\n";
  s += "const kernel_entry entries[] = {\n";
  for (const generated_kernel& k : kernels)
    s += "    {0x" + hex(k.key) + "ull, k" + hex(k.key) + "},\n";
  if (kernels.empty()) s += "    {0, nullptr},\n";
  s += "};\n#define ROPEWALK_TEXT2(x) #x\n#define ROPEWALK_TEXT(x) ROPEWALK_TEXT2(x)\n"
       "const kernel_registration registered(ROPEWALK_TEXT(ROPEWALK_ISA_NAMESPACE), entries, " +
       std::to_string(kernels.size()) +
       ");\n\n}  // namespace\n}  // namespace ropewalk::ROPEWALK_ISA_NAMESPACE\n";
  return s;
}

}  // namespace ropewalk
