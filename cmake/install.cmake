# What `cmake --install` puts down, so that find_package(ropewalk) gives ropewalk::ropewalk and
# ropewalk_add_model.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ropewalk)

install(TARGETS ropewalk EXPORT ropewalk-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ropewalk-targets NAMESPACE ropewalk:: DESTINATION ${package_dir})
install(DIRECTORY include/ropewalk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(cmake/ropewalk-config.cmake.in
  ${PROJECT_BINARY_DIR}/ropewalk-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ropewalk-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ropewalk-config.cmake
  ${PROJECT_BINARY_DIR}/ropewalk-config-version.cmake DESTINATION ${package_dir})
install(FILES cmake/ropewalk_add_model.cmake DESTINATION ${package_dir} OPTIONAL)
