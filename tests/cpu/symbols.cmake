# Fails if a kernel object offers the linker a mergeable function outside its own namespace: the
# linker might keep that copy for code that runs on processors without the instructions.
#   cmake -D NM=nm -D NAMESPACE=kernels_avx512 -D OBJECTS=a.o,b.o -P symbols.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
if(NOT objects)
  message(FATAL_ERROR "no objects to look into")
endif()
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES "${NAMESPACE}")
    message(FATAL_ERROR "${object}: nothing of namespace ${NAMESPACE}")
  endif()
  string(REGEX MATCHALL "[ \t][WVu] _Z[^\n]*" weak "${symbols}")
  foreach(symbol IN LISTS weak)
    if(NOT symbol MATCHES "${NAMESPACE}")
      message(FATAL_ERROR "${object}:${symbol} is shared with other instruction sets")
    endif()
  endforeach()
endforeach()
