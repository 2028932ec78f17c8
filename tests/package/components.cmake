# Components of an installed nopal that need something. Where that is missing, nopal is found without an optional one, and for a required one
# the project is told what is missing. A search that fails leaves the project's variables as they were. PREFIX: the installed nopal, of which a
# copy gets a component toy, which needs the package Absent.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}")
file(COPY "${PREFIX}/" DESTINATION "${WORK}/prefix")
set(package "${WORK}/prefix/${LIBDIR}/cmake/nopal")
set(nopal_kind static)
if(EXISTS "${package}/nopal-shared.cmake")
  set(nopal_kind shared)
endif()
set(nopal_component toy)
set(nopal_component_needs "Absent 1.0 COMPONENTS part")
set(nopal_component_package Absent)
configure_file("${SOURCE}/cmake/nopal-component.cmake.in" "${package}/nopal-${nopal_kind}-toy.cmake" @ONLY)
foreach(component IN ITEMS toy)
  file(WRITE "${package}/nopal-${nopal_kind}-${component}-targets.cmake"
    "add_library(nopal::${component} INTERFACE IMPORTED)\ntarget_link_libraries(nopal::${component} INTERFACE nopal::nopal)\n")
endforeach()
file(WRITE "${WORK}/modules/FindAbsent.cmake" "set(Absent_FOUND \${THERE_IS_ONE})\n")

# A project that does this, with OPTIONS; must(CONDITION) is for it.
set(configure "${CMAKE_COMMAND}" -S "${WORK}/project" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix" --fresh)
function(project does)
  file(WRITE "${WORK}/project/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
function(must)
  if(NOT (\${ARGV}))
    message(FATAL_ERROR \"not so: \${ARGV}: \${nopal_NOT_FOUND_MESSAGE}\")
  endif()
endfunction()
${does}")
endfunction()

project("
find_package(nopal REQUIRED OPTIONAL_COMPONENTS toy)
must(nopal_FOUND AND TARGET nopal::nopal AND NOT nopal_toy_FOUND AND NOT TARGET nopal::toy)
find_package(nopal QUIET COMPONENTS toy)
must(NOT nopal_FOUND AND nopal_NOT_FOUND_MESSAGE MATCHES Absent)
set(CMAKE_MODULE_PATH \"${WORK}/modules\")
set(THERE_IS_ONE ON)
find_package(nopal REQUIRED COMPONENTS toy)
must(nopal_FOUND AND nopal_toy_FOUND AND TARGET nopal::toy)
")
run(${configure})
project("find_package(nopal REQUIRED COMPONENTS toy)\n")
run_fails("Absent" ${configure})
project("find_package(nopal REQUIRED COMPONENTS tox)\n")
run_fails("nopal has no component tox" ${configure})

# The static library looks for hwloc by a module beside it.
project("
set(CMAKE_MODULE_PATH here)
find_package(nopal QUIET COMPONENTS toy)
must(CMAKE_MODULE_PATH STREQUAL here AND NOT nopal_FOUND)
must(nopal_NOT_FOUND_MESSAGE MATCHES hwloc OR NOT ${nopal_kind} STREQUAL static)
")
run(${configure} -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
