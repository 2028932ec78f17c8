# cmake -DWHAT=objects|program|marks|thread_words -DREADELF=... -DCOMPILER=... -DWORK=... [-DFILE=...] [-DSOURCE=...] [-DFLAG=...] [-DMARK=... -DFORBIDDEN=...]
#       -P check.cmake
#
# objects: each object of FILE (an archive, an object or a shared library), or of SOURCE assembled, says that its stack need not be
# executable. program: the kernel is told so. marks: SOURCE assembled with FLAG has the property MARK and not the property FORBIDDEN. thread_words: in SOURCE compiled with
# FLAG nothing that a thread has of its own is touched but nopal_thread_words.

set(ENV{LC_ALL} C)

function(fail explanation)
  message("${explanation}")  # as it stands: FATAL_ERROR would wrap it
  message(FATAL_ERROR "${FILE}")
endfunction()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(DEFINED SOURCE)
  file(MAKE_DIRECTORY "${WORK}")
  set(FILE "${WORK}/object.o")
  separate_arguments(FLAG UNIX_COMMAND "${FLAG}")
  run("${COMPILER}" ${FLAG} -c "${SOURCE}" -o "${FILE}")
endif()

if(WHAT STREQUAL "program" OR FILE MATCHES "\\.so")
  run("${READELF}" -lW "${FILE}")
  if(NOT output MATCHES "GNU_STACK +0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ RW  ")
    fail("It wants an executable stack:\n${output}")
  endif()
elseif(WHAT STREQUAL "objects")
  run("${READELF}" -SW "${FILE}")
  # One listing for each object; the flags stand after the section's sizes, and W, A or X there are letters.
  string(REGEX REPLACE "Section Headers:" ";" objects "${output}")
  list(POP_FRONT objects)
  list(LENGTH objects count)
  if(count EQUAL 0)
    fail("It holds no object.")
  endif()
  foreach(object IN LISTS objects)
    if(NOT object MATCHES "\\.note\\.GNU-stack +PROGBITS +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+ +0 ")
      fail("It holds an object that wants an executable stack:\n${object}")
    endif()
  endforeach()
  message(STATUS "${count} objects")
elseif(WHAT STREQUAL "marks")
  run("${READELF}" -n "${FILE}")
  if(NOT output MATCHES "${MARK}")
    fail("It is not marked ${MARK}:\n${output}")
  endif()
  if(output MATCHES "${FORBIDDEN}")
    fail("It is marked ${FORBIDDEN}:\n${output}")
  endif()
elseif(WHAT STREQUAL "thread_words")
  run("${READELF}" -rW "${FILE}")
  string(REGEX MATCHALL "R_[A-Z0-9_]*(TPOFF|TPREL|TLS)[A-Z0-9_]* +[^\n]*" uses "${output}")
  if(NOT uses)
    fail("It touches no thread's own word at all:\n${output}")
  endif()
  foreach(use IN LISTS uses)
    if(NOT use MATCHES " nopal_thread_words ")
      fail("A compiler may keep a thread-local's address across a change of threads: ${use}")
    endif()
  endforeach()
endif()
