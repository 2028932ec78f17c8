# cmake -DWORK=... -DSOURCE=... -DGENERATOR=... -DCC=... -DCXX=... -P new_companion.cmake
#
# A new folder in companions/ is a companion without a line elsewhere. In a copy of nopal with two more, toy/ has an entry in the table after
# the others, its header is installed, and it has a target and tests; a test that needs it is built, and one that needs a companion which is
# not there is left out. plain/, without src/companion.cpp, has all that but the entry. headers/ and library/ make targets of their own by
# target.cmake: the first is a part of the package, the second a component. lacking/ lacks something, and makes none.

function(has text what)
  string(FIND "${text}" "${what}" at)
  if(at EQUAL -1)
    message("${text}")
    message(FATAL_ERROR "'${what}' is not in this.")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(copy "${WORK}/source")
foreach(part IN ITEMS .clang-format CMakeLists.txt cmake companions include src tests)
  file(COPY "${SOURCE}/${part}" DESTINATION "${copy}")
endforeach()
file(COPY "${CMAKE_CURRENT_LIST_DIR}/toy" DESTINATION "${copy}/companions")
file(WRITE "${copy}/companions/plain/src/plain.cpp" "")
file(WRITE "${copy}/companions/headers/target.cmake" "add_library(nopal_headers INTERFACE)\n")
file(WRITE "${copy}/companions/library/target.cmake"
  "set(nopal_library_finds \"Threads\")\nadd_library(nopal_library STATIC \"\${folder}/src/library.cpp\")\n")
file(WRITE "${copy}/companions/library/src/library.cpp" "")
file(WRITE "${copy}/companions/lacking/target.cmake" "message(STATUS \"lacking: left out\")\n")
foreach(name IN ITEMS toy nobody)
  file(WRITE "${copy}/tests/unit/needs_${name}_test.cpp" "// A test.\n// Needs the companions trace and ${name}.\n")
endforeach()

set(build "${WORK}/build")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${copy}" -B "${build}" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}"
    -DNOPAL_BUILD_TESTS=ON -DNOPAL_TEST_SHORT=ON -DNOPAL_BUILD_BENCHMARKS=OFF -DNOPAL_BUILD_EXAMPLES=OFF
  COMMAND_ECHO STDOUT OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
has("${output}" "tests/unit/needs_nobody_test.cpp: left out, for want of the companion nobody")
if(output MATCHES "needs_toy")
  message("${output}")
  message(FATAL_ERROR "The test that needs the toy is left out.")
endif()
file(READ "${build}/companions.cpp" table)
if(NOT table MATCHES "{&debug_companion, &simulation_companion, &trace_companion,.* &toy_companion,")  # and others that there are
  message("${table}")
  message(FATAL_ERROR "The toy is not in the table, behind the four that were here.")
endif()
file(READ "${build}/tests/toy/CTestTestfile.cmake" tests)
has("${tests}" "toy.is_here")
file(READ "${build}/cmake_install.cmake" install)
has("${install}" "companions/toy/include/")
file(GLOB exported "${build}/CMakeFiles/Export/*/nopal-static-targets.cmake")
file(READ "${exported}" targets)
has("${targets}" "add_library(nopal::toy INTERFACE IMPORTED)")
has("${targets}" "add_library(nopal::plain INTERFACE IMPORTED)")
has("${targets}" "add_library(nopal::headers INTERFACE IMPORTED)")
if(targets MATCHES "nopal::(library|lacking)")
  message(FATAL_ERROR "What is apart, or lacks something, is a part of the package.")
endif()
has("${output}" "lacking: left out")
file(READ "${build}/nopal-static-library.cmake" component)
has("${component}" "find_dependency(Threads)")

execute_process(COMMAND "${CXX}" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror "-I${copy}/include" "-I${copy}/src"
    "-I${copy}/companions/toy/include" "${copy}/companions/toy/src/companion.cpp" "${build}/companions.cpp"
  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)

# A name that C++ cannot have.
file(RENAME "${copy}/companions/plain" "${copy}/companions/all-plain")
execute_process(COMMAND "${CMAKE_COMMAND}" "${build}" OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
if(NOT failed)
  message(FATAL_ERROR "companions/all-plain is accepted.")
endif()
has("${output}" "companions/all-plain: a companion's name")
