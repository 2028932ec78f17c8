# cmake -DCXX=... -DFLAGS=... -DLINKER_FLAGS=... -DINCLUDE=... -DLIBRARY=... -DNM=... -DWORK=... -DSOURCE=... -P names.cmake
#
# A file that is compiled without NOPAL_PROFILE holds nothing of it; and a task that one file declares with it, and another defines without,
# is not found by the linker.

function(fail explanation)
  message(FATAL_ERROR "${explanation}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(WRITE "${WORK}/defines.cpp" "#include <nopal/task.hpp>\nnopal::task<int> f(int n) { co_return n; }\n")
file(WRITE "${WORK}/uses.cpp" "#include <nopal/nopal.hpp>\nnopal::task<int> f(int);\nint main() { return nopal::pool{}.run(f, 0); }\n")

separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
separate_arguments(LINKER_FLAGS UNIX_COMMAND "${LINKER_FLAGS}")
set(compile "${CXX}" ${FLAGS} -std=c++20 -O2 "-I${INCLUDE}" -c)
execute_process(COMMAND ${compile} "${SOURCE}" -o "${WORK}/plain.o" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${NM}" -C "${WORK}/plain.o" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
if(names MATCHES "[^\n]*(measured|procedure|profile|noted)[^\n]*")
  fail("without NOPAL_PROFILE a file has of it: ${CMAKE_MATCH_0}")
endif()
execute_process(COMMAND ${compile} -DNOPAL_PROFILE "${WORK}/uses.cpp" -o "${WORK}/uses.o" COMMAND_ERROR_IS_FATAL ANY)
foreach(alike IN ITEMS 1 0)
  set(option "")
  if(alike)
    set(option -DNOPAL_PROFILE)
  endif()
  execute_process(COMMAND ${compile} ${option} "${WORK}/defines.cpp" -o "${WORK}/defines.o" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CXX}" ${LINKER_FLAGS} "${WORK}/uses.o" "${WORK}/defines.o" "${LIBRARY}" ${LIBRARIES} -pthread -o "${WORK}/program"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(alike AND NOT result EQUAL 0)
    fail("what is compiled alike does not link: ${output}")
  elseif(NOT alike AND result EQUAL 0)
    fail("what is compiled with NOPAL_PROFILE, and what is not, links")
  elseif(NOT alike AND NOT output MATCHES "f\\[abi:profiled\\]\\(int\\)")
    fail("the linker does not say what is missing: ${output}")
  endif()
endforeach()
