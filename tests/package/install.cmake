# Installs nopal into WORK/prefix: from BUILD, or built with OPTIONS from SOURCE, the library alone.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}")
if(NOT BUILD)
  set(BUILD "${WORK}/build")
  run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}"
    -DNOPAL_BUILD_TESTS=OFF -DNOPAL_BUILD_EXAMPLES=OFF -DNOPAL_BUILD_BENCHMARKS=OFF ${OPTIONS})
  run("${CMAKE_COMMAND}" --build "${BUILD}")
endif()
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
