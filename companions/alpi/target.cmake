# libnopal-alpi.so: ALPI's functions, which libraries as TAMPI look for by dlsym, so they are a shared library in any case. With a static nopal it
# has none of nopal inside: the program has, and each process has one.
option(NOPAL_ALPI "Make libnopal-alpi.so" ${PROJECT_IS_TOP_LEVEL})
if(NOT NOPAL_ALPI)
  return()
endif()
add_library(nopal_alpi SHARED "${folder}/src/alpi.cpp")
target_compile_features(nopal_alpi PUBLIC cxx_std_20)
target_include_directories(nopal_alpi PRIVATE "${folder}/src" "$<TARGET_PROPERTY:nopal,INTERFACE_INCLUDE_DIRECTORIES>")
target_compile_definitions(nopal_alpi PRIVATE "$<TARGET_PROPERTY:nopal,INTERFACE_COMPILE_DEFINITIONS>")
target_link_libraries(nopal_alpi INTERFACE nopal)
set_target_properties(nopal_alpi PROPERTIES
  OUTPUT_NAME nopal-alpi
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON)
target_link_options(nopal_alpi PRIVATE "LINKER:-z,nodelete")
if(nopal_type STREQUAL "SHARED_LIBRARY")
  target_link_libraries(nopal_alpi PRIVATE nopal)
endif()
