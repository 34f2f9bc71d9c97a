# Targets for people who work on Ropewalk: format, format-check, tidy. Never part of the build.
add_custom_target(format COMMAND ${PROJECT_SOURCE_DIR}/cmake/format.sh USES_TERMINAL)
add_custom_target(format-check COMMAND ${PROJECT_SOURCE_DIR}/cmake/format.sh --check USES_TERMINAL)
find_program(RUN_CLANG_TIDY run-clang-tidy-19)
find_program(CLANG_TIDY clang-tidy-19)
if(RUN_CLANG_TIDY AND CLANG_TIDY)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  add_custom_target(tidy COMMAND ${RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR}
    -clang-tidy-binary ${CLANG_TIDY} ${PROJECT_SOURCE_DIR}/codegen USES_TERMINAL)
endif()
