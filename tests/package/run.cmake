# Configures, builds and runs app/ against Ropewalk; WAY is find_package or add_subdirectory.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(options -D WAY=${WAY} -D ROPEWALK_VERSION=${VERSION} -D ROPEWALK_SOURCE=${SOURCE})
if(WAY STREQUAL find_package)
  must(${CMAKE_COMMAND} --install ${TREE} --prefix ${WORK}/prefix)
  list(APPEND options -D CMAKE_PREFIX_PATH=${WORK}/prefix)
endif()
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/tests/package/app
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=${TYPE} ${options})
must(${configure} -B ${WORK}/build)
must(${CMAKE_COMMAND} --build ${WORK}/build --target app)
must(${WORK}/build/app)

# An instruction set that does not exist is refused by name.
execute_process(COMMAND ${configure} -B ${WORK}/refused -D ROPEWALK_ISAS=sse9
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0 OR NOT out MATCHES "ROPEWALK_ISAS: sse9 is not one of")
  message(FATAL_ERROR "ROPEWALK_ISAS=sse9 was not refused (${status}):\n${out}")
endif()
