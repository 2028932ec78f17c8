"""Builds and runs a program with the package: as a project of CMake, and with the compiler alone by pkg-config."""

import shlex
from io import StringIO
from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class NopalTestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "VirtualRunEnv", "PkgConfigDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()
        said = StringIO()
        self.run(f"PKG_CONFIG_PATH={shlex.quote(self.generators_folder)} pkg-config --cflags --libs nopal", stdout=said)
        self.run(f"c++ -std=c++20 -O1 {shlex.quote(str(Path(self.source_folder) / 'app.cpp'))} {said.getvalue().strip()} -o by_pkg_config")

    def test(self):
        if can_run(self):
            for program in ("app", "by_pkg_config"):
                self.run(shlex.quote(str(Path(self.build_folder) / program)), env="conanrun")
