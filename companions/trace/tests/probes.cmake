# The USDT probes: readelf lists them all, and gdb stops at one with its arguments.
# cmake -DPROGRAM=... -DSPANS=... -DREADELF=... -DGDB=... -P probes.cmake

function(has_probes program)
  execute_process(COMMAND "${READELF}" -n "${program}" OUTPUT_VARIABLE notes RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${READELF} -n ${program} ended with ${status}")
  endif()
  foreach(name IN LISTS ARGN)
    if(NOT notes MATCHES "Provider: nopal[\r\n]+ *Name: ${name}[\r\n]")
      message(FATAL_ERROR "${program} has no probe nopal:${name}")
    endif()
  endforeach()
endfunction()

has_probes("${PROGRAM}" job strand branch child task steal suspend resume suspend_task resume_task sleep wake nap submit)
has_probes("${SPANS}" span_begin span_end)

if(NOT GDB)
  return()
endif()
execute_process(
  COMMAND "${GDB}" -nx -batch -ex "break -probe-stap nopal:submit" -ex run -ex "printf \"pool %s, kind %d\\n\", (char*)$_probe_arg0, (int)$_probe_arg1"
          -ex kill --args "${PROGRAM}" --gtest_filter=*
  OUTPUT_VARIABLE said ERROR_VARIABLE complained TIMEOUT 500)
if(NOT said MATCHES "pool [a-z]+, kind [0-9]+")
  message(FATAL_ERROR "gdb did not stop at nopal:submit with its arguments:\n${said}\n${complained}")
endif()
