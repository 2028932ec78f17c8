#!/usr/bin/env bash
# tampi.sh TAMPI_ROOT BUILD_FOLDER MPICXX MPIRUN LIBRARIES: builds TAMPI from its sources in TAMPI_ROOT (copied, since its build writes there), then
# tampi.cpp with nopal's two libraries in the folder LIBRARIES (libnopal-alpi.so and libnopal.a), and runs it on two ranks in each of TAMPI's
# ways to poll. Needs autoconf, automake, libtool and Boost's headers.
set -euo pipefail
[ $# -eq 5 ] || { echo "use: tampi.sh TAMPI_ROOT BUILD_FOLDER MPICXX MPIRUN LIBRARIES" >&2; exit 2; }
[ -f "$1/configure.ac" ] || { echo "$1 has no configure.ac: TAMPI_ROOT is the folder of TAMPI's sources" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
nopal=$(cd "$here/../../../.." && pwd)
mkdir -p "$2"
sources=$(cd "$1" && pwd) build=$(cd "$2" && pwd) mpicxx=$3 mpirun=$4 libraries=$(cd "$5" && pwd)

if [ ! -e "$build/installed/lib/libtampi-c.so" ] && [ ! -e "$build/installed/lib/libtampi.so" ]; then
  rm -rf "$build/sources"
  cp -r "$sources" "$build/sources"
  (cd "$build/sources" && ./bootstrap && ./configure --prefix="$build/installed" --disable-static MPICXX="$mpicxx" && make && make install) \
    >"$build/tampi.log" 2>&1 || { tail -n 30 "$build/tampi.log" >&2; exit 1; }
fi

tampi=tampi-c  # without the Fortran half, for which a C++ program has no MPI
[ -e "$build/installed/lib/libtampi-c.so" ] || tampi=tampi
"$mpicxx" -std=c++20 -O2 -g "-I$nopal/include" "-I$nopal/companions/alpi/include" "-I$build/installed/include" "$here/tampi.cpp" \
  "-L$build/installed/lib" "-Wl,-rpath,$build/installed/lib" "-l$tampi" "-L$libraries" "-Wl,-rpath,$libraries" -lnopal-alpi \
  "$libraries/libnopal.a" -lhwloc -lpthread -ldl -o "$build/tampi_on_nopal"
for mode in suspend blocking; do
  TAMPI_POLLING_MODE=$mode timeout 120 "$mpirun" -n 2 "$build/tampi_on_nopal"
done
