#!/usr/bin/env bash
# Writes the archive of a release: this tree, as git has it and with what is new in it, below nopal-VERSION.
#
#     packaging/archive.sh build/nopal-0.2.0.tar.gz 0.2.0
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: packaging/archive.sh FILE VERSION" >&2; exit 2; }
file=$(realpath -m "$1")
version=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
declared=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
[ "$version" = "$declared" ] || { echo "packaging/archive.sh: this is nopal $declared, not $version: CMakeLists.txt says so" >&2; exit 1; }

# What is here of the tree: git says, or all of it where this is such an archive unpacked.
files() {
  if [ -e .git ]; then git ls-files -coz --exclude-standard --deduplicate; else find . -type f -printf '%P\0'; fi |
    while IFS= read -r -d '' name; do
      if [ -e "$name" ]; then printf '%s\0' "$name"; fi
    done
}
files | tar --null --files-from=- --transform "s,^,nopal-$version/,S" --owner=0 --group=0 --numeric-owner --sort=name -czf "$file"
