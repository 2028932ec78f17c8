# nopal::execution: headers alone, on NVIDIA's stdexec, which is headers alone too. STDEXEC_ROOT names its folder; else find_package finds an
# installed one. So does component.cmake.in, for programs that find an installed nopal. nopal::execution_parallel_scheduler: a source that each
# program compiles which links it, since it must be the program's own: of an archive the linker would take nothing for a weak symbol.

set(STDEXEC_ROOT "$ENV{STDEXEC_ROOT}" CACHE PATH "NVIDIA's stdexec: a folder with include/stdexec/execution.hpp")
if(STDEXEC_ROOT)
  if(NOT EXISTS "${STDEXEC_ROOT}/include/stdexec/execution.hpp")
    message(FATAL_ERROR "STDEXEC_ROOT is ${STDEXEC_ROOT}, which has no include/stdexec/execution.hpp: name a checkout of NVIDIA/stdexec, or leave it empty")
  endif()
else()
  find_package(stdexec QUIET CONFIG)
endif()

if(NOT STDEXEC_ROOT AND NOT TARGET STDEXEC::stdexec)
  message(STATUS "nopal: no nopal::execution, for want of NVIDIA's stdexec: -DSTDEXEC_ROOT=<a checkout of it>")
  return()
endif()

add_library(nopal_execution INTERFACE)
target_link_libraries(nopal_execution INTERFACE nopal)
if(STDEXEC_ROOT)
  target_include_directories(nopal_execution SYSTEM INTERFACE "$<BUILD_INTERFACE:${STDEXEC_ROOT}/include>")
else()
  target_link_libraries(nopal_execution INTERFACE "$<BUILD_INTERFACE:STDEXEC::stdexec>")
endif()

add_library(nopal_execution_parallel_scheduler INTERFACE)
add_library(nopal::execution_parallel_scheduler ALIAS nopal_execution_parallel_scheduler)
target_link_libraries(nopal_execution_parallel_scheduler INTERFACE nopal_execution)
include(GNUInstallDirs)
set(nopal_execution_source "${CMAKE_INSTALL_DATADIR}/nopal/parallel_scheduler.cpp")
target_sources(nopal_execution_parallel_scheduler INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}/src/parallel_scheduler.cpp>"
  "$<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${nopal_execution_source}>")
install(FILES "${CMAKE_CURRENT_LIST_DIR}/src/parallel_scheduler.cpp" DESTINATION "${CMAKE_INSTALL_DATADIR}/nopal")
set_target_properties(nopal_execution_parallel_scheduler PROPERTIES EXPORT_NAME execution_parallel_scheduler)
set(nopal_execution_more nopal_execution_parallel_scheduler)
