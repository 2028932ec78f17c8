# Compiler flags for everything below the directory that includes this file: library, tests, examples, benchmarks.
# What a user of the library has to compile with is on the target nopal, not here.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>")
endif()

# nopal_sanitizer_environment is for the ENVIRONMENT property of tests.
set(nopal_sanitizer_environment "")
if(NOPAL_SANITIZE)
  set(options_of_address "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1:allocator_may_return_null=1")
  set(options_of_undefined "UBSAN_OPTIONS=print_stacktrace=1")
  # Without atexit_sleep_ms=0 each process that ends while it has threads, such as those of the default pool, sleeps for a second.
  set(options_of_thread "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1:atexit_sleep_ms=0")
  if(NOT DEFINED options_of_${NOPAL_SANITIZE})
    message(FATAL_ERROR "NOPAL_SANITIZE is '${NOPAL_SANITIZE}'; it can be address, undefined, thread or empty")
  endif()
  set(nopal_sanitizer_environment "${options_of_${NOPAL_SANITIZE}}")

  # Debian keeps llvm-symbolizer beside its compiler, off PATH; without it the reports hold bare addresses.
  file(REAL_PATH "${CMAKE_CXX_COMPILER}" compiler)
  cmake_path(GET compiler PARENT_PATH compiler_dir)
  find_program(NOPAL_SYMBOLIZER llvm-symbolizer HINTS "${compiler_dir}")
  if(NOPAL_SYMBOLIZER)
    string(APPEND nopal_sanitizer_environment ":external_symbolizer_path=${NOPAL_SYMBOLIZER}")
  endif()

  set(sanitizers ${NOPAL_SANITIZE})
  if(NOPAL_SANITIZE STREQUAL "address")
    string(APPEND sanitizers ",undefined")
  endif()
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()

if(NOPAL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
