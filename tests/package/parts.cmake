# Parts whose packages are missing are left out where nobody asks for them, each with one line that says how to get it, and what is left builds
# and installs; where somebody asks, they are an error. BUILD: builds and installs that, too.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

set(without "")
foreach(package IN ITEMS GTest CLI11 nlohmann_json hwloc PkgConfig)
  list(APPEND without "-DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON")
endforeach()
set(configure "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}")

function(says output)
  foreach(line IN LISTS ARGN)
    string(REGEX MATCHALL "${line}" found "${output}")
    list(LENGTH found times)
    if(NOT times EQUAL 1)
      message("${output}")
      message(FATAL_ERROR "'${line}' was said ${times} times, and not once.")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK}")
foreach(again IN ITEMS first second)  # what was left out for want of packages is not asked for the next time
  execute_process(COMMAND ${configure} ${without} COMMAND_ECHO STDOUT OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  says("${output}" "nopal: no other machines [^\n]*want of hwloc [^\n]*apt-get install libhwloc-dev pkg-config" "nopal: no tests, [^\n]*hwloc"
    "nopal: no benchmarks, for want of CLI11 and nlohmann_json [^\n]*apt-get install libcli11-dev nlohmann-json3-dev")
endforeach()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" --target help COMMAND_ECHO STDOUT OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "example_fib" OR output MATCHES "nopal_bench_|nopal_unit")
  message("${output}")
  message(FATAL_ERROR "The library and the examples should be built, and nothing else.")
endif()
if(BUILD)
  run("${CMAKE_COMMAND}" --build "${WORK}")
  run("${CMAKE_COMMAND}" --install "${WORK}" --prefix "${WORK}/prefix")
endif()

# Without GoogleTest alone.
execute_process(COMMAND ${configure} -DCMAKE_DISABLE_FIND_PACKAGE_hwloc=OFF -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=OFF
  COMMAND_ECHO STDOUT OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
says("${output}" "nopal: no tests, for want of GTest and CLI11 [^\n]*apt-get install libgtest-dev libcli11-dev")

# Who asks for a part gets it, or an error.
run_fails("GTest" ${configure} -DNOPAL_BUILD_TESTS=ON)
run_fails("CLI11" ${configure} -DNOPAL_BUILD_TESTS=OFF -DNOPAL_BUILD_BENCHMARKS=ON)
run_fails("hwloc" ${configure} -DNOPAL_BUILD_BENCHMARKS=OFF -DNOPAL_HWLOC=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwloc=ON)

# What is turned off is left out, also where it was there before.
foreach(wanted IN ITEMS ON OFF)
  run(${configure} -DNOPAL_BUILD_TESTS=OFF -DNOPAL_BUILD_BENCHMARKS=OFF -DNOPAL_BUILD_EXAMPLES=OFF -DNOPAL_HWLOC=OFF -DNOPAL_USDT=${wanted})
endforeach()
file(READ "${WORK}/compile_commands.json" commands)
if(commands MATCHES "NOPAL_USDT")
  message(FATAL_ERROR "-DNOPAL_USDT=OFF has no effect.")
endif()

# The presets, by which this is tested, ask for all: a test is never left out for want of a package.
file(READ "${SOURCE}/CMakePresets.json" presets)
string(JSON base GET "${presets}" configurePresets 0)
foreach(option IN ITEMS NOPAL_BUILD_TESTS NOPAL_HWLOC)
  string(JSON value GET "${base}" cacheVariables ${option})
  if(NOT value STREQUAL "ON")
    message(FATAL_ERROR "The presets' base does not ask for ${option}.")
  endif()
endforeach()
string(REGEX MATCH "\"NOPAL_(BUILD_TESTS|HWLOC)\": \"(OFF|AUTO)\"" weaker "${presets}")
if(weaker)
  message(FATAL_ERROR "A preset says ${weaker}.")
endif()
