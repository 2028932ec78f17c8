# cmake -DCOMPILER=... -DCOMPILER_ID=... -DFLAGS=... -DSOURCE=... -DCASE=... -P check.cmake
#
# A case of SOURCE is what follows its line `// case: NAME`, up to the next such line. What stands before the first belongs to each. Compiles
# CASE alone, which it leaves as CASE.cpp in the current folder.
# A case begins with comments. Where one of them is `// expect: text`, it must not compile and the compiler's output must hold every such
# text, the first error the first of them, so that nobody has to look for it; where none is, it must compile.
# `// expect Clang: text` and `// expect GNU: text` are for that compiler alone, where the words are not nopal's.

function(fail explanation)
  message("${explanation}")  # as it stands: FATAL_ERROR would wrap it
  message(FATAL_ERROR "${SOURCE}: ${CASE}")
endfunction()

file(READ "${SOURCE}" whole)
if(NOT whole MATCHES "^(.*\n)// case: ${CASE}\n(.*)$")
  fail("There is no such case.")
endif()
set(before "${CMAKE_MATCH_1}")
string(REGEX REPLACE "\n// case: .*" "\n" rest "${CMAKE_MATCH_2}")
string(REGEX REPLACE "\n// case: .*" "\n" shared "${before}")
string(REGEX REPLACE "[^\n]" "" line "${before}")
string(LENGTH "${line}##" line)
file(WRITE "${CASE}.cpp" "${shared}#line ${line} \"${SOURCE}\"\n${rest}")

set(ENV{LC_ALL} C)
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fdiagnostics-color=never ${FLAGS} "${CASE}.cpp"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

string(REGEX MATCH "[^\n]*error:[^\n]*" first_error "${output}")

set(must_compile YES)
while(rest MATCHES "^//([^\n]*)\n(.*)$")
  set(comment "${CMAKE_MATCH_1}")
  set(rest "${CMAKE_MATCH_2}")
  if(comment MATCHES "^ expect( ${COMPILER_ID})?: *(.*[^ ])")
    set(text "${CMAKE_MATCH_2}")
    if(result EQUAL 0)
      fail("It must not compile, but it compiles.")
    endif()
    if(must_compile)
      string(FIND "${first_error}" "${text}" position)
    else()
      string(FIND "${output}" "${text}" position)
    endif()
    if(position EQUAL -1)
      fail("It does not compile, as it should, but the compiler does not say: ${text}\n${output}")
    endif()
    set(must_compile NO)
  endif()
endwhile()

if(rest MATCHES "\n(// expect[^\n]*)")
  fail("What it expects stands after its code, so the line that names a case is missing: ${CMAKE_MATCH_1}")
endif()
if(must_compile AND NOT result EQUAL 0)
  fail("It has no line `// expect: text`, so it must compile, but does not:\n${output}")
endif()
