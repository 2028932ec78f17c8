# cmake -DCOMPILER=... -DCOMPILER_ID=... -DINCLUDE=... -DPRECOMPILED=... -DSOURCE=... -P check.cmake
#
# PRECOMPILED.gch is what COMPILER has made of nopal.hpp, which SOURCE includes.
# SOURCE begins with comments. Where one of them is `// expect: text`, SOURCE must not compile and the compiler's output
# must hold every such text, the first error the first of them, so that nobody has to look for it; where none is, SOURCE must compile.
# `// expect Clang: text` and `// expect GNU: text` are for that compiler alone, where the words are not nopal's.

function(fail explanation)
  message("${explanation}")  # as it stands: FATAL_ERROR would wrap it
  message(FATAL_ERROR "${SOURCE}")
endfunction()

set(ENV{LC_ALL} C)
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fdiagnostics-color=never "-I${INCLUDE}" -include "${PRECOMPILED}" "${SOURCE}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

string(REGEX MATCH "[^\n]*error:[^\n]*" first_error "${output}")

file(READ "${SOURCE}" rest)
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

if(must_compile AND NOT result EQUAL 0)
  fail("It has no line `// expect: text`, so it must compile, but does not:\n${output}")
endif()
