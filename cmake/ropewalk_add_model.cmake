# ropewalk_add_model: from a model header to a target with its compiled kernels.
#
#   ropewalk_add_model(gpt HEADER gpt.hpp PROGRAMS train generate
#                      [NAMESPACE gpt] [COUNTS "L=4" "L=12"] [FILES 4])
#   target_link_libraries(app PRIVATE gpt)
#
# HEADER     defines the programs, in NAMESPACE (default: the target's name; "::" for none).
# COUNTS     the values of symbolic repeat counts that the binary is to have kernels for.
# FILES      how many sources the kernels are spread over, to be compiled in parallel.
#
# ROPEWALK_ISAS (a variable) names the instruction sets that kernels are compiled for: some of
# portable, avx2, avx512. Unset: all that the compiler has. A program that runs where the best set of
# the processor is not among them wants the environment variable ROPEWALK_ISA.
#
# Link the target to executables or shared libraries: its kernels are object files that register
# themselves, and the linker drops them from a static library.

# The instruction sets that kernels are compiled for, with the flags of each.
function(_ropewalk_isas out)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("
#if !defined(__x86_64__)
#error not x86-64
#endif
int main() {}" ROPEWALK_X86_KERNELS)
  set(isas portable)
  if(ROPEWALK_X86_KERNELS)
    list(APPEND isas avx2 avx512)
  endif()
  foreach(isa ${ROPEWALK_ISAS})
    if(NOT isa IN_LIST isas)
      message(FATAL_ERROR "ROPEWALK_ISAS: ${isa} is not one of ${isas}")
    endif()
  endforeach()
  if(ROPEWALK_ISAS)
    set(isas ${ROPEWALK_ISAS})
  endif()
  set(${out} ${isas} PARENT_SCOPE)
  set(_ropewalk_flags_portable "" PARENT_SCOPE)
  set(_ropewalk_flags_avx2 -mavx2 -mfma -mf16c PARENT_SCOPE)
  set(_ropewalk_flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
    -mprefer-vector-width=512 PARENT_SCOPE)
endfunction()

function(ropewalk_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NAMESPACE;FILES" "PROGRAMS;COUNTS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ropewalk_add_model(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_HEADER OR NOT arg_PROGRAMS)
    message(FATAL_ERROR "ropewalk_add_model(${target}) wants HEADER file.hpp PROGRAMS name...")
  endif()
  cmake_path(ABSOLUTE_PATH arg_HEADER NORMALIZE)
  if(NOT EXISTS ${arg_HEADER})
    message(FATAL_ERROR "ropewalk_add_model(${target}): no file ${arg_HEADER}")
  endif()
  if(NOT DEFINED arg_NAMESPACE)
    set(arg_NAMESPACE ${target})
  endif()
  if(NOT arg_FILES)
    set(arg_FILES 4)
  endif()
  cmake_path(GET arg_HEADER PARENT_PATH header_dir)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)

  # The generator of this model.
  set(list "")
  foreach(program ${arg_PROGRAMS})
    if(arg_NAMESPACE STREQUAL "::")
      set(name ::${program})
    else()
      set(name ${arg_NAMESPACE}::${program})
    endif()
    string(APPEND list "      ropewalk::model_program_of<${name}>(\"${program}\"),\n")
  endforeach()
  file(CONFIGURE OUTPUT ${dir}/generate.cpp @ONLY CONTENT
"// Writes the kernels of the programs of one model header.
#include \"@arg_HEADER@\"

#include <ropewalk/graph/generate.hpp>

int main(int argc, char** argv) {
  const ropewalk::model_program programs[] = {
@list@  };
  return ropewalk::generate_main(argc, argv, programs);
}
")
  add_executable(${target}_generator ${dir}/generate.cpp)
  target_link_libraries(${target}_generator PRIVATE ropewalk::ropewalk)
  # It runs once, for a moment: compiling it is what takes time.
  target_compile_options(${target}_generator PRIVATE -O0)
  set_target_properties(${target}_generator PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${dir})

  # Its run. The stamp is always new; a source is touched only where its text changed.
  set(sources "")
  math(EXPR last "${arg_FILES} - 1")
  foreach(i RANGE ${last})
    list(APPEND sources ${dir}/kernels_${i}.cpp)
  endforeach()
  set(counts "")
  foreach(c ${arg_COUNTS})
    list(APPEND counts --count ${c})
  endforeach()
  add_custom_command(OUTPUT ${dir}/stamp BYPRODUCTS ${sources}
    COMMAND ${target}_generator --out ${dir} --files ${arg_FILES} ${counts}
    COMMAND ${CMAKE_COMMAND} -E touch ${dir}/stamp
    DEPENDS ${target}_generator COMMENT "Generating the kernels of ${target}" VERBATIM)
  add_custom_target(${target}_sources DEPENDS ${dir}/stamp)

  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ropewalk::ropewalk)
  target_include_directories(${target} INTERFACE ${header_dir})
  _ropewalk_isas(isas)
  set(optimize -O3)
  if(ROPEWALK_SANITIZE)
    set(optimize -O1)  # they look at what is read and written, not at speed
  endif()
  foreach(isa ${isas})
    set(kernels ${target}_kernels_${isa})
    add_library(${kernels} OBJECT ${sources})
    add_dependencies(${kernels} ${target}_sources)
    target_link_libraries(${kernels} PRIVATE ropewalk::ropewalk)
    target_compile_definitions(${kernels} PRIVATE ROPEWALK_ISA_NAMESPACE=${isa})
    target_compile_options(${kernels} PRIVATE ${optimize}
      -fopenmp-simd -fno-math-errno -fno-trapping-math ${_ropewalk_flags_${isa}})
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
endfunction()
