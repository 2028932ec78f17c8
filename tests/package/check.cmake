# cmake -DWAY=find_package|pkg_config -DBUILD=... -DLIBDIR=... -DWORK=... -DGENERATOR=... -DCOMPILER=... -P check.cmake

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(consumer "${CMAKE_CURRENT_LIST_DIR}/consumer")
set(prefix "${WORK}/prefix")

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

if(WAY STREQUAL "find_package")
  run("${CMAKE_COMMAND}" -S "${consumer}" -B "${WORK}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release)
  run("${CMAKE_COMMAND}" --build "${WORK}/build")
  run("${WORK}/build/consumer")
else()
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  execute_process(COMMAND pkg-config --cflags --libs nopal
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run("${COMPILER}" -std=c++20 "${consumer}/main.cpp" ${flags} "-Wl,-rpath,${prefix}/${LIBDIR}" -o "${WORK}/consumer")
  run("${WORK}/consumer")
endif()
