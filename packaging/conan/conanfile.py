"""nopal for Conan 2, from the tree that this file is in: conan create packaging/conan"""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.scm import Version
from conan.tools.system.package_manager import Apt, Dnf

COMPILERS = {"gcc": "12", "clang": "16"}  # the oldest of each


class NopalRecipe(ConanFile):
    name = "nopal"
    description = "Work-stealing fork-join for coroutines, ordinary functions and fibers"
    license = "Apache-2.0"
    topics = ("parallelism", "work-stealing", "coroutines", "fibers", "scheduler")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "hwloc": [True, False]}
    default_options = {"shared": False, "fPIC": True, "hwloc": True}

    @property
    def _tree(self):
        return Path(self.recipe_folder).parents[1]

    def set_version(self):
        declared = re.search(r"^  VERSION ([0-9.]+)$", (self._tree / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        if self.version not in (None, declared):
            raise ConanInvalidConfiguration(f"this is nopal {declared}, not {self.version}: CMakeLists.txt says so")
        self.version = declared

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "companions/*/include/*", "companions/*/src/*", "companions/*/target.cmake",
                        "companions/*/component.cmake.in"):
            copy(self, pattern, self._tree, self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        # The system's hwloc, whose plug-ins are the system's as well.
        if self.options.hwloc:
            Apt(self).install(["libhwloc-dev", "pkg-config"], check=True)
            Dnf(self).install(["hwloc-devel", "pkgconf-pkg-config"], check=True)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration(f"nopal is for Linux on x86_64 and armv8, not for {self.settings.os} on {self.settings.arch}")
        check_min_cppstd(self, 20)
        oldest = COMPILERS.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"nopal needs {self.settings.compiler} {oldest} or newer, not {self.settings.compiler.version}")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["NOPAL_HWLOC"] = bool(self.options.hwloc)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"NOPAL_BUILD_{part}"] = False
        # What the machine that builds this happens to have is no part of the package.
        for part in ("MPI", "ALPI", "USDT"):
            toolchain.cache_variables[f"NOPAL_{part}"] = False
        toolchain.cache_variables["STDEXEC_ROOT"] = ""
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_stdexec"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        # find_package takes what nopal installs, which knows what each kind of library and each language needs: both targets, and components.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/nopal"]
        # For what does not: Meson, Autotools.
        self.cpp_info.set_property("pkg_config_name", "nopal")
        self.cpp_info.libs = ["nopal"]
        self.cpp_info.sharedlinkflags = ["-Wl,-z,nodelete"]
        if self.options.shared:
            self.cpp_info.defines = ["NOPAL_SHARED"]
        else:
            self.cpp_info.system_libs = ["pthread", *(["hwloc"] if self.options.hwloc else [])]
