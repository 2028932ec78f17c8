# cmake -DNM=... -DCORE=... -DALL=... -P symbols.cmake
#
# The library of the engine alone defines nothing of a companion; the whole one does, which shows that the look finds what it looks for.

function(look library result)
  execute_process(COMMAND "${NM}" -C --defined-only "${library}" OUTPUT_VARIABLE names ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(pool_trace|perfetto|controlled_schedule|simulation_costs|code_map|nopal_debug|procedure)" found "${names}")
  list(REMOVE_DUPLICATES found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

look("${CORE}" of_core)
look("${ALL}" of_all)
list(LENGTH of_all many)
if(NOT many EQUAL 7)
  message(FATAL_ERROR "of the seven names that are looked for the whole library has only ${of_all}: look for others")
endif()
if(of_core)
  message(FATAL_ERROR "the engine alone has of companions: ${of_core}")
endif()
