# Compiled as C++17, each of nopal's headers says first of all what to do instead. The header for C does not mind.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(GLOB headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/nopal/*.hpp")
if(NOT headers)
  message(FATAL_ERROR "There are no headers.")
endif()
foreach(header IN LISTS headers)
  execute_process(COMMAND "${CXX}" -std=c++17 -fmax-errors=1 -fsyntax-only "-I${SOURCE}/include" -x c++ -include ${header} /dev/null
    RESULT_VARIABLE result ERROR_VARIABLE output)
  string(REGEX MATCH "error: [^\n]*" first "${output}")
  if(result EQUAL 0 OR NOT first MATCHES "nopal needs C\\+\\+20: compile with -std=c\\+\\+20")
    message(FATAL_ERROR "${header} says first: ${first}")
  endif()
endforeach()
run("${CXX}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I${SOURCE}/include" -x c++ -include nopal/nopal.h /dev/null)
