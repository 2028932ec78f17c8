#!/usr/bin/env bash
# Makes Debian packages of this tree in a folder that is empty or does not exist: the source package, which is the tree as upstream's archive
# with packaging/debian in it, and the binary packages that dpkg-buildpackage makes of it. Further arguments go to dpkg-buildpackage.
#
#     packaging/debian.sh build/debian
#     DEB_BUILD_OPTIONS=nocheck packaging/debian.sh build/debian
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: packaging/debian.sh FOLDER [ARGUMENT OF DPKG-BUILDPACKAGE...]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ -z "$(ls -A "$out")" ] || { echo "packaging/debian.sh: $out is not empty: name another folder, or empty it" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
version=${version%-*}
packaging/archive.sh "$out/nopal_$version.orig.tar.gz" "$version"
tar -C "$out" -xzf "$out/nopal_$version.orig.tar.gz"
cp -r packaging/debian "$out/nopal-$version"
cd "$out/nopal-$version"
dpkg-buildpackage -us -uc "$@"
