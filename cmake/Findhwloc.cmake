# Finds hwloc through pkg-config, for this build and for the installed package: target hwloc::hwloc.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(hwloc QUIET IMPORTED_TARGET hwloc)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc
  REQUIRED_VARS hwloc_LINK_LIBRARIES
  VERSION_VAR hwloc_VERSION
  REASON_FAILURE_MESSAGE "nopal needs pkg-config and hwloc's development files (on Debian: apt-get install pkg-config libhwloc-dev), or to be built without: -DNOPAL_HWLOC=OFF")

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc INTERFACE IMPORTED)
  target_link_libraries(hwloc::hwloc INTERFACE PkgConfig::hwloc)
endif()
