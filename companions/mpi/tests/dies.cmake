# cmake -DRUN=<mpirun and its options, a list> -DPROGRAM=<nopal_mpi_dies> -DHOW=<how rank 1 ends> -DEXPECTED=<regular expression> -P dies.cmake
#
# The run ends, not with success, and what it prints names the rank.

execute_process(COMMAND ${RUN} -n 2 "${PROGRAM}" ${HOW} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result TIMEOUT 500)
if(result STREQUAL "0" OR result MATCHES "timeout")
  message(FATAL_ERROR "The ranks have ended with ${result}:\n${output}")
endif()
if(NOT output MATCHES "${EXPECTED}")
  message(FATAL_ERROR "Nobody says \"${EXPECTED}\":\n${output}")
endif()
