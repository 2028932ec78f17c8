# Builds TARGET of the project CONSUMER with OPTIONS, against the nopal in PREFIX, and runs RUN in the build folder. SAYS: it ends with
# a failure, and says that.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
string(REPLACE "|" ";" RUN "${RUN}")

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" -DCMAKE_BUILD_TYPE=Release ${OPTIONS})
run("${CMAKE_COMMAND}" --build "${WORK}" --target ${TARGET})
list(POP_FRONT RUN program)
list(TRANSFORM RUN PREPEND "${WORK}/" REGEX "\\.so$")
if(SAYS)
  run_fails("${SAYS}" "${CMAKE_COMMAND}" -E env ${ENVIRONMENT} "${WORK}/${program}" ${RUN})
else()
  foreach(again RANGE 1 3)
    run("${CMAKE_COMMAND}" -E env ${ENVIRONMENT} "${WORK}/${program}" ${RUN})
  endforeach()
endif()
