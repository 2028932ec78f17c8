#!/usr/bin/env bash
# Tries a way in to nopal as a user would, in an empty folder that has the unpacked archive of a release, nopal/, and nothing else:
#
#     tests/ways/ways.sh FOLDER installed|embedded|debian|conan|vcpkg|meson
#
# FOLDER/WAY is emptied first. docs/site/guides/installing.md quotes what stands here and in the folders beside it: tests/docs/quotes.py.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: tests/ways/ways.sh FOLDER WAY" >&2; exit 2; }
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packaging=$tests/../../packaging
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# A project of a user's: one of the folders beside this file, with the program.
project() {
  mkdir -p "$2"
  cp "$tests/$1"/* "$tests/app.cpp" "$2"
}

# Does a program need a shared libnopal?
is_shared() { ldd "$1" >libraries && grep -q 'libnopal.so.0.2 =>' libraries; }

# The command that follows must fail, and say that.
refuses() {
  local says=$1
  shift
  if "$@" >said 2>&1; then echo "this should have failed: $*"; exit 1; fi
  grep -q "$says" <<<"$(tr -s ' \n' ' ' <said)" || { cat said; echo "it failed, and did not say: $says"; exit 1; }
}

# Is something in this folder of the companions that are made where the machine has what they need?
has_more_than_nopal() { grep . <<<"$(find "$1" -name 'nopal-*-mpi.cmake' -o -name 'nopal-*-alpi.cmake' -o -name 'nopal-*-execution.cmake')"; }

must() { "$@" || { echo "must be so: $*"; exit 1; }; }
must_not() { if "$@"; then echo "not so: $*"; exit 1; fi; }

try_installed() {
  local kind
  for kind in static shared; do
    cmake -S nopal -B "$kind" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNOPAL_BUILD_TESTS=OFF -DNOPAL_BUILD_EXAMPLES=OFF -DNOPAL_BUILD_BENCHMARKS=OFF \
      -DBUILD_SHARED_LIBS="$([ $kind = shared ] && echo ON || echo OFF)"
    cmake --build "$kind"
    cmake --install "$kind" --prefix ~/"$kind"
    cmake --install "$kind" --prefix ~/.local

    project find_package "$kind-app"
    cmake -S "$kind-app" -B "$kind-app/build" -DCMAKE_PREFIX_PATH="$HOME/$kind"
    cmake --build "$kind-app/build"
    "$kind-app/build/app"

    (
      cd "$kind-app"
      export PKG_CONFIG_PATH=$HOME/$kind/lib/pkgconfig LD_LIBRARY_PATH=$HOME/$kind/lib
      c++ -std=c++20 -O2 app.cpp $(pkg-config --cflags --libs nopal) -o app
      ./app
      cc -O2 ../nopal/examples/fib_in_c.c $(pkg-config --cflags --libs nopal) -o fib_in_c
      ./fib_in_c
    )
  done
  must is_shared shared-app/build/app
  must_not is_shared static-app/build/app

  # Both kinds in one prefix: the shared one, unless the other is asked for. A kind that is not there is not found.
  project find_package app
  cmake -S app -B app/build -DCMAKE_PREFIX_PATH="$HOME/.local"
  cmake --build app/build
  app/build/app
  must is_shared app/build/app
  project find_package_static static-of-both
  cmake -S static-of-both -B static-of-both/build -DCMAKE_PREFIX_PATH="$HOME/.local"
  cmake --build static-of-both/build
  static-of-both/build/app
  must_not is_shared static-of-both/build/app
  refuses 'no static library of nopal: install it' cmake -S static-of-both -B none -DCMAKE_PREFIX_PATH="$HOME/shared"
}

try_embedded() {
  project fetch_content fetched
  cmake -S fetched -B fetched/build -G Ninja -DNOPAL_ARCHIVE="$PWD/nopal-$version.tar.gz"
  cmake --build fetched/build
  fetched/build/app

  # From a repository only as far as the configuration: what is built is the same.
  cp -r nopal repository
  git -C repository init -q -b main
  git -C repository add -A
  git -C repository -c user.name=nopal -c user.email=nopal@example.org commit -q -m 'As released'
  project fetch_content_git fetched-by-git
  cmake -S fetched-by-git -B fetched-by-git/build -G Ninja -DNOPAL_REPOSITORY="$PWD/repository"

  project add_subdirectory beside
  cp -r nopal beside/nopal
  cmake -S beside -B beside/build -G Ninja
  cmake --build beside/build
  beside/build/app
}

try_debian() {
  nopal/packaging/debian.sh debian
  lintian --fail-on error,warning --allow-root debian/*.changes
  # Debian and nothing else, into which apt installs the packages; then packaging/debian/tests are run there. gdb wants /proc.
  "${as_root[@]}" mmdebstrap --variant=minbase --include=ca-certificates bookworm chroot
  "${as_root[@]}" cp -r debian chroot/
  "${as_root[@]}" chroot chroot sh -euc '
    apt-get update
    apt-get install -y ./debian/libnopal0.2_*.deb ./debian/libnopal-dev_*.deb
  '
  "${as_root[@]}" unshare --mount sh -c 'mount -t proc proc chroot/proc && autopkgtest debian/*.changes -- chroot "$PWD/chroot"'
  "${as_root[@]}" rm -rf --one-file-system chroot
}

try_conan() {
  export CONAN_HOME=$HOME/conan
  conan profile detect
  conan create nopal/packaging/conan -s compiler.cppstd=20
  project find_package app
  cp "$tests"/conan/* app
  conan install app -s compiler.cppstd=20 --output-folder=app/build
  cmake -S app -B app/build -DCMAKE_TOOLCHAIN_FILE=conan_toolchain.cmake -DCMAKE_BUILD_TYPE=Release
  cmake --build app/build
  app/build/app
  must_not is_shared app/build/app
  must_not has_more_than_nopal "$CONAN_HOME"

  conan create nopal/packaging/conan -s compiler.cppstd=20 -o '&:shared=True'
  conan create nopal/packaging/conan -s compiler.cppstd=20 -o '&:hwloc=False'
  refuses 'C++ standard' conan create nopal/packaging/conan -s compiler.cppstd=17
}

try_vcpkg() {
  export VCPKG_DISABLE_METRICS=1 VCPKG_BINARY_SOURCES=clear
  local architecture triplet
  case $(uname -m) in aarch64) architecture=arm64 ;; *) architecture=x64 ;; esac
  project find_package app
  cp "$tests"/vcpkg/* app
  for triplet in $architecture-linux $architecture-linux-dynamic; do
    rm -rf build
    cmake -S app -B build -DCMAKE_TOOLCHAIN_FILE="$VCPKG_ROOT/scripts/buildsystems/vcpkg.cmake" -DVCPKG_TARGET_TRIPLET="$triplet"
    cmake --build build
    build/app
    must_not has_more_than_nopal build
    case $triplet in
      *-dynamic) must is_shared build/app ;;
      *) must_not is_shared build/app ;;
    esac
  done
}

try_meson() {
  cmake -S nopal -B built -G Ninja -DCMAKE_BUILD_TYPE=Release -DNOPAL_BUILD_TESTS=OFF -DNOPAL_BUILD_EXAMPLES=OFF -DNOPAL_BUILD_BENCHMARKS=OFF
  cmake --build built
  cmake --install built --prefix ~/.local
  cp -r nopal/examples/meson app
  local from
  for from in pkg-config cmake; do
    PKG_CONFIG_PATH=~/.local/lib/pkgconfig meson setup "$from" app -Dnopal="$from" -Dcmake_prefix_path="$HOME/.local"
    meson test -C "$from"
  done
  mkdir app/subprojects/packagefiles
  cp "nopal-$version.tar.gz" app/subprojects/packagefiles
  meson setup subproject app -Dnopal=subproject
  meson test -C subproject
}

way=$2
[[ " installed embedded debian conan vcpkg meson " == *" $way "* ]] || { echo "tests/ways/ways.sh: there is no way $way" >&2; exit 2; }
version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' "$tests/../../CMakeLists.txt")
[ ! -e "$1/$way" ] || "${as_root[@]}" rm -rf --one-file-system "$1/$way"
mkdir -p "$1/$way"
cd "$1/$way"
"$packaging/archive.sh" "nopal-$version.tar.gz" "$version"
tar -xzf "nopal-$version.tar.gz"
mv "nopal-$version" nopal
mkdir home
export HOME=$PWD/home
"try_$way"
