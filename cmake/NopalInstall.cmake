# Installs the library for find_package(nopal) and for pkg-config. Both can be moved with their prefix. A prefix may hold the shared library and
# the static one, each installed by a build of its own: then find_package takes the one that is asked for, and nopal.pc is of the last.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(nopal_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/nopal")
if(IS_ABSOLUTE "${nopal_package_dir}")
  file(RELATIVE_PATH nopal_component_prefix "${nopal_package_dir}" "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH nopal_component_prefix "/${nopal_package_dir}" "/")
endif()
if(nopal_type STREQUAL "STATIC_LIBRARY")
  set(nopal_is_static ON)
  set(nopal_kind static)
else()
  set(nopal_is_static OFF)
  set(nopal_kind shared)
endif()

list(TRANSFORM nopal_companions PREPEND nopal_ OUTPUT_VARIABLE nopal_companion_targets)
set(nopal_engine_alone "")
if(nopal_is_static)  # a shared one is not made to be shared by programs
  set(nopal_engine_alone nopal_core)
endif()
install(TARGETS nopal ${nopal_engine_alone} ${nopal_companion_targets} EXPORT nopalTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(folder IN LISTS nopal_include_folders)
  install(DIRECTORY "${folder}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
endforeach()

# Those apart: what is headers alone is a part of the package; a library is a component, since it needs what most programs do not have. So are
# headers that need such: component.cmake.in in the companion's folder says what.
foreach(companion IN LISTS nopal_apart)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/companions/${companion}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  get_target_property(type nopal_${companion} TYPE)
  set(template "${PROJECT_SOURCE_DIR}/companions/${companion}/component.cmake.in")
  if(NOT EXISTS "${template}" AND type STREQUAL "INTERFACE_LIBRARY")
    install(TARGETS nopal_${companion} EXPORT nopalTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    continue()
  elseif(NOT EXISTS "${template}")
    set(template "${PROJECT_SOURCE_DIR}/cmake/nopal-component.cmake.in")
  endif()
  set(nopal_component ${companion})
  set(nopal_component_needs "${nopal_${companion}_finds}")
  string(REGEX REPLACE " .*" "" nopal_component_package "${nopal_component_needs}")
  # OPTIONAL: who installs what he has built of nopal alone
  install(TARGETS nopal_${companion} ${nopal_${companion}_more} EXPORT nopal${companion}Targets OPTIONAL
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT nopal${companion}Targets FILE nopal-${nopal_kind}-${companion}-targets.cmake NAMESPACE nopal:: DESTINATION "${nopal_package_dir}")
  configure_file("${template}" "${PROJECT_BINARY_DIR}/nopal-${nopal_kind}-${companion}.cmake" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/nopal-${nopal_kind}-${companion}.cmake" DESTINATION "${nopal_package_dir}")
endforeach()
install(EXPORT nopalTargets FILE nopal-${nopal_kind}-targets.cmake NAMESPACE nopal:: DESTINATION "${nopal_package_dir}")

configure_file("${PROJECT_SOURCE_DIR}/cmake/nopal-kind.cmake.in" "${PROJECT_BINARY_DIR}/nopal-${nopal_kind}.cmake" @ONLY)
if(PROJECT_VERSION_MAJOR EQUAL 0)  # docs/versions.md
  set(nopal_compatible SameMinorVersion)
else()
  set(nopal_compatible SameMajorVersion)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/nopalConfigVersion.cmake" COMPATIBILITY ${nopal_compatible})
install(FILES
  "${PROJECT_SOURCE_DIR}/cmake/nopalConfig.cmake"
  "${PROJECT_BINARY_DIR}/nopalConfigVersion.cmake"
  "${PROJECT_BINARY_DIR}/nopal-${nopal_kind}.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findhwloc.cmake"
  DESTINATION "${nopal_package_dir}")

# A static libnopal leaves hwloc, the threads and the C++ library to the link of whoever uses it, in C too, so they are public there and
# `pkg-config --libs nopal` is enough. (With --static, Debian's hwloc.pc would ask for libudev's development files too.) A shared object that
# is linked so stays loaded, as its CMake target would; for a program -z nodelete means nothing.
if(NOPAL_HWLOC)
  set(nopal_pc_requires "hwloc >= 2.0")
else()
  set(nopal_pc_requires "")
endif()
if(nopal_is_static)
  set(nopal_pc_cflags "")
  list(TRANSFORM nopal_cxx_libraries PREPEND "-l" OUTPUT_VARIABLE nopal_pc_cxx)
  list(JOIN nopal_pc_cxx " " nopal_pc_cxx)
  set(nopal_pc_link "Libs: -L\${libdir} -lnopal ${nopal_pc_cxx} -pthread -Wl,-z,nodelete\nRequires: ${nopal_pc_requires}")
else()
  set(nopal_pc_cflags " -DNOPAL_SHARED")
  set(nopal_pc_link "Libs: -L\${libdir} -lnopal -Wl,-z,nodelete\nLibs.private: -pthread\nRequires.private: ${nopal_pc_requires}")
endif()
file(RELATIVE_PATH nopal_pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" nopal_pc_prefix "${nopal_pc_prefix}")
file(RELATIVE_PATH nopal_pc_libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH nopal_pc_includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/nopal.pc.in" "${PROJECT_BINARY_DIR}/nopal.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/nopal.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
