# The tree that this port is in. Its files are no part of what vcpkg knows a build by, so for a tree that changes say --binarysource=clear.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES hwloc NOPAL_HWLOC)
vcpkg_find_acquire_program(PKGCONFIG)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${features}
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
    -DNOPAL_BUILD_TESTS=OFF
    -DNOPAL_BUILD_EXAMPLES=OFF
    -DNOPAL_BUILD_BENCHMARKS=OFF
    # What the machine that builds this happens to have is no part of the package.
    -DNOPAL_MPI=OFF
    -DNOPAL_ALPI=OFF
    -DNOPAL_USDT=OFF
    -DSTDEXEC_ROOT=
    -DCMAKE_DISABLE_FIND_PACKAGE_stdexec=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/nopal)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
