# nopal_mpi is a library of its own: MPI's implementations have different ABIs, so it is made for the one that find_package(MPI) finds, and
# programs must use the same.

option(NOPAL_MPI "Make nopal::mpi, if there is an MPI" ${PROJECT_IS_TOP_LEVEL})
if(NOT NOPAL_MPI)
  return()
endif()
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(STATUS "nopal: no nopal::mpi, for want of MPI (on Debian: apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich)")
  return()
endif()
set(nopal_mpi_finds "MPI COMPONENTS CXX")
set(nopal_mpi_sources engine mpi peers)
list(TRANSFORM nopal_mpi_sources REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/src/\\1.cpp")

# What its library needs, whatever MPI it is made for: tests/ makes it for others.
function(nopal_make_mpi target)
  add_library(${target} STATIC ${nopal_mpi_sources})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # the C++ names that MPI 3 has removed
  target_link_libraries(${target} PUBLIC nopal)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
nopal_make_mpi(nopal_mpi)
target_link_libraries(nopal_mpi PUBLIC MPI::MPI_CXX)
