# cmake -DPROGRAM=... -DWORK=... -P check.cmake
#
# What NOPAL_PROFILE_OUT and its neighbours do: two times fib(15), one behind the other, has 2 * 1973 calls, and 30 on the longest path.

file(MAKE_DIRECTORY "${WORK}")
set(ENV{NOPAL_PROFILE_UNIT} calls)

function(expect_line text explanation)
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "${explanation}: ${output}")
  endif()
endfunction()

set(ENV{NOPAL_PROFILE_OUT} "${WORK}/profile.json")
execute_process(COMMAND "${PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
file(READ "${WORK}/profile.json" output)
expect_line("\"unit\": \"calls\",\n  \"work\": 3946,\n  \"span\": 30," "the profile is wrong")

set(ENV{NOPAL_PROFILE_OUT} -)
execute_process(COMMAND "${PROGRAM}" ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
expect_line("work +3946\nspan +30\n" "the table is wrong")
expect_line("unknowing.cpp:15" "the place is wrong")

execute_process(COMMAND "${PROGRAM}" child ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "work +[0-9]+\n" tables "${output}")
list(LENGTH tables n)
if(NOT n EQUAL 1)
  message(FATAL_ERROR "the child of a fork has printed a table, too: ${output}")
endif()

file(MAKE_DIRECTORY "${WORK}/elsewhere")
set(ENV{NOPAL_PROFILE_OUT} relative.json)
execute_process(COMMAND "${PROGRAM}" in elsewhere WORKING_DIRECTORY "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
file(READ "${WORK}/relative.json" output)
expect_line("\"work\": 3946," "the profile is not where its name was when the program began")

set(ENV{NOPAL_PROFILE_OUT} "${WORK}/there/is/no/such/folder")
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "a file that cannot be written is accepted")
endif()
expect_line("the profile cannot be written to NOPAL_PROFILE_OUT" "a wrong name is not refused")

set(ENV{NOPAL_PROFILE_OUT} -)
foreach(wrong IN ITEMS NOPAL_PROFILE_UNIT NOPAL_PROFILE_BURDEN)
  set(before "$ENV{${wrong}}")
  set(ENV{${wrong}} seconds)
  execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "${wrong}=seconds is accepted")
  endif()
  expect_line("${wrong} is 'seconds'; it can be" "the message is wrong")
  set(ENV{${wrong}} "${before}")
endforeach()
