# Bullet, where it is found: with threads the adapter's tests and times, without them the test that it is refused. BULLET_ROOT says where it is.

set(how_to_build "build it with -DBULLET2_MULTITHREADING=ON (vcpkg: bullet3[multithreading]) and say where it is with -DBULLET_ROOT")
find_package(Bullet QUIET)
if(NOT BULLET_FOUND)
  message(STATUS "integrations: Bullet left out, which was not found: ${how_to_build}")
  return()
endif()

add_library(nopal_bullet INTERFACE IMPORTED)
target_include_directories(nopal_bullet SYSTEM INTERFACE ${BULLET_INCLUDE_DIRS})
target_link_libraries(nopal_bullet INTERFACE ${BULLET_LIBRARIES})
target_compile_definitions(nopal_bullet INTERFACE BT_THREADSAFE=1)

include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_LIBRARIES nopal_bullet Threads::Threads)
if(NOPAL_SANITIZE)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=${NOPAL_SANITIZE})
endif()
check_cxx_source_runs("#include <LinearMath/btThreads.h>\nint main() { return btCreateDefaultTaskScheduler() == nullptr; }" NOPAL_BULLET_HAS_THREADS)
if(NOT NOPAL_BULLET_HAS_THREADS_COMPILED)
  message(STATUS "integrations: Bullet left out, since a program with ${BULLET_LIBRARIES} does not compile: CMakeFiles/CMakeError.log says why")
  return()
endif()

add_test(NAME integrations.bullet.without_threads
  COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DFLAGS=-I${PROJECT_SOURCE_DIR}/include;-I${CMAKE_CURRENT_SOURCE_DIR}/bullet;-isystem;${BULLET_INCLUDE_DIRS}"
    "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/bullet/without_threads.cpp" -DCASE=without_threads -P "${PROJECT_SOURCE_DIR}/tests/misuse/check.cmake")
set_tests_properties(integrations.bullet.without_threads PROPERTIES LABELS integrations TIMEOUT 600)

if(NOPAL_BULLET_HAS_THREADS)
  nopal_add_integration(bullet nopal_bullet)
  target_sources(nopal_bullet_test PRIVATE bullet/scheduler_test.cpp bullet/thread_sanitizer.cpp)
  if(NOPAL_SANITIZE)
    target_compile_definitions(nopal_bullet_test PRIVATE NOPAL_TEST_SLOW)
  endif()
else()
  message(STATUS "integrations: of Bullet only that it is refused, since ${BULLET_MATH_LIBRARY} was built without threads: ${how_to_build}")
  add_executable(nopal_bullet_unthreaded_test bullet/unthreaded_test.cpp)
  target_link_libraries(nopal_bullet_unthreaded_test PRIVATE nopal::nopal nopal_bullet GTest::gtest_main)
  add_test(NAME integrations.bullet.unthreaded COMMAND nopal_bullet_unthreaded_test)
  set_tests_properties(integrations.bullet.unthreaded PROPERTIES LABELS integrations TIMEOUT 600)
endif()
