# Where only the program or only the library has a sanitizer, the linker refuses, and names the reason.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(with_none "")
set(with_address -fsanitize=address)
set(with_thread -fsanitize=thread)
set(reason_of_none nopal_must_be_built_without_fsanitize_address_or_thread_as_this_program_is)
set(reason_of_address nopal_must_be_built_with_fsanitize_address_as_this_program_is)
set(reason_of_thread nopal_must_be_built_with_fsanitize_thread_as_this_program_is)
# A linker would drop what nobody reads.
set(flags -O2 -ffunction-sections -fdata-sections -Wall -Wextra -Wpedantic -Werror "-I${SOURCE}/include")

# A program in each language that has nothing of nopal but a header, and of the library only what says its sanitizer: nothing else is missing.
file(WRITE "${WORK}/program.cpp" "#include <nopal/core/compiler/config.hpp>\nint main() {}\n")
file(WRITE "${WORK}/program.c" "#include <nopal/nopal.h>\nint main(void) { return 0; }\n")
# And what says its version, which objects in C ask for: versions.cmake.
run("${CXX}" -std=c++20 ${flags} -c "${SOURCE}/src/compiler/abi.cpp" -o "${WORK}/library_abi.o")
foreach(sanitizer IN ITEMS none address thread)
  run("${CXX}" -std=c++20 ${flags} ${with_${sanitizer}} -c "${SOURCE}/src/compiler/sanitizers.cpp" -o "${WORK}/library_${sanitizer}.o")
  run("${CC}" -std=c11 ${flags} ${with_${sanitizer}} -c "${WORK}/program.c" -o "${WORK}/c_${sanitizer}.o")
  run("${CXX}" -std=c++20 ${flags} ${with_${sanitizer}} -c "${WORK}/program.cpp" -o "${WORK}/cxx_${sanitizer}.o")
endforeach()
foreach(program IN ITEMS none address thread)
  foreach(library IN ITEMS none address thread)
    foreach(language IN ITEMS c cxx)
      set(link "${CXX}" ${with_${program}} -Wl,--gc-sections "${WORK}/${language}_${program}.o" "${WORK}/library_${library}.o" "${WORK}/library_abi.o" -o "${WORK}/program")
      if(program STREQUAL library)
        run(${link})
      else()
        run_fails(${reason_of_${program}} ${link})
      endif()
    endforeach()
  endforeach()
endforeach()

# The whole library, and a program that uses it.
foreach(sanitizer IN ITEMS address thread)
  run_fails(${reason_of_${sanitizer}} "${CXX}" -std=c++20 ${flags} ${with_${sanitizer}} -DSIDE=program_side
    "${CMAKE_CURRENT_LIST_DIR}/consumer/work.cpp" "${CMAKE_CURRENT_LIST_DIR}/consumer/program.cpp" "${LIBRARY}" -Wl,--gc-sections -pthread
    -o "${WORK}/program")
endforeach()
