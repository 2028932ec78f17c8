# ParlayLib, where PARLAY_ROOT names a copy of github.com/cmuparlay/parlaylib: the adapter's tests and times, and ParlayLib's own tests.

set(PARLAY_ROOT "" CACHE PATH "A copy of github.com/cmuparlay/parlaylib, whose tests are built on nopal")
if(NOT EXISTS "${PARLAY_ROOT}/include/parlay/parallel.h")
  message(STATUS "integrations: parlay left out: -DPARLAY_ROOT names no copy of github.com/cmuparlay/parlaylib")
  return()
endif()

# ParlayLib compares and swaps 16 bytes.
add_library(nopal_parlay INTERFACE)
target_include_directories(nopal_parlay SYSTEM INTERFACE "${PARLAY_ROOT}/include")
target_link_libraries(nopal_parlay INTERFACE nopal::nopal atomic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_compile_options(nopal_parlay INTERFACE -mcx16)
endif()

nopal_add_integration(parlay nopal_parlay)
add_executable(nopal_parlay_own_times parlay/parlay_times.cpp)
target_link_libraries(nopal_parlay_own_times PRIVATE nopal_parlay)
target_compile_definitions(nopal_parlay_own_times PRIVATE NOPAL_PARLAY_OWN)
target_compile_options(nopal_parlay_own_times PRIVATE -w)  # of ParlayLib's templates
target_compile_options(nopal_parlay_times PRIVATE -w)

# ParlayLib's own tests, as they are, by its list of them: each line says add_dtests(NAME x FILES x.cpp LIBS parlay [FLAGS "..."] ...).
# Those that count threads run where no thread but the workers' own runs their loops. gtest's own main and options are as ParlayLib has them.
file(STRINGS "${PARLAY_ROOT}/test/CMakeLists.txt" parlay_tests REGEX "add_dtests\\(NAME ")
foreach(line IN LISTS parlay_tests)
  if(NOT line MATCHES "NAME +([a-z_]+) +FILES +([a-z_]+\\.cpp)")
    message(FATAL_ERROR "integrations: ${PARLAY_ROOT}/test/CMakeLists.txt has a test that Parlay.cmake does not read: ${line}")
  endif()
  set(name "${CMAKE_MATCH_1}")
  set(source "${PARLAY_ROOT}/test/${CMAKE_MATCH_2}")
  add_executable(nopal_parlay_${name} "${source}")
  target_link_libraries(nopal_parlay_${name} PRIVATE nopal_parlay GTest::gtest)
  target_compile_options(nopal_parlay_${name} PRIVATE -w -O1 -include "${CMAKE_CURRENT_SOURCE_DIR}/parlay/nopal_parlay.hpp")
  if(line MATCHES "FLAGS +\"([^\"]*)\"")
    target_compile_options(nopal_parlay_${name} PRIVATE ${CMAKE_MATCH_1})
  endif()
  if(name STREQUAL "test_thread_specific")
    target_sources(nopal_parlay_${name} PRIVATE parlay/main_in_pool.cpp)
  else()
    target_link_libraries(nopal_parlay_${name} PRIVATE GTest::gtest_main)
  endif()
  add_test(NAME integrations.parlay.${name} COMMAND nopal_parlay_${name})
  set_tests_properties(integrations.parlay.${name} PROPERTIES LABELS integrations TIMEOUT 900 PROCESSORS 2)
endforeach()
