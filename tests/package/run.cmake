# For the scripts beside this file, each of which is one test: cmake -DNAME=value... -P script.cmake. Lists come with | between their parts.

string(REPLACE "|" ";" OPTIONS "${OPTIONS}")
string(REPLACE "|" ";" ENVIRONMENT "${ENVIRONMENT}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The command must fail, and say something that matches.
function(run_fails what)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "It should have failed, but did not.")
  elseif(NOT output MATCHES "${what}")
    message("${output}")
    message(FATAL_ERROR "It failed, but did not say ${what}")
  endif()
endfunction()

# Is there what the test needs? The compiler is tried on an empty program with the flags NEEDS.
if(NEEDS)
  string(REPLACE "|" ";" NEEDS "${NEEDS}")
  file(WRITE "${WORK}.cpp" "#include <vector>\nint main() { return std::vector<int>(1)[0]; }\n")
  execute_process(COMMAND "${CXX}" ${NEEDS} "${WORK}.cpp" -o "${WORK}.program" RESULT_VARIABLE result ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message("${output}")
    message("SKIPPED: ${CXX} cannot link with ${NEEDS}")
    return()
  endif()
endif()
