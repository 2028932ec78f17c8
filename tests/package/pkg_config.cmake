# Compiles SOURCES with COMPILER, OPTIONS and what pkg-config says of the nopal in PREFIX, and runs that. PKG_CONFIG: more options of
# pkg-config's.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
string(REPLACE "|" ";" SOURCES "${SOURCES}")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
execute_process(COMMAND pkg-config --cflags --libs ${PKG_CONFIG} nopal
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
list(TRANSFORM SOURCES PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
run("${COMPILER}" ${OPTIONS} ${SOURCES} ${flags} "-Wl,-rpath,${PREFIX}/${LIBDIR}" -o "${WORK}/program")
run("${WORK}/program")
