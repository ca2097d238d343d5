#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# sysroot.sh FOLDER: an arm64 Debian system to compile and run against, made from packages that are downloaded and unpacked.
#
# The packages are those of the group "sysroot" in packages.txt with all that they depend on, from the sources that apt is
# configured with on this machine. Nothing is installed: no foreign architecture is added here and no package script runs, so the
# caller need not be root. About 100 MB to download. A folder made from the same list before is kept.
# Exit status 77: it cannot be made here (not Debian, no network, a source without arm64).
set -euo pipefail

[ $# = 1 ] || { echo "usage: sysroot.sh FOLDER" >&2; exit 2; }
source_root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
root=$(realpath -m "$1")
cannot() { echo "no arm64 system: $*" >&2; exit 77; }

for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || cannot "$tool is not installed"
done
packages=$(awk '!/^#/ && $1 == "sysroot" { print $2 }' "$source_root/packages.txt" | sort -u)
if [ -f "$root/.packages" ] && [ "$(cat "$root/.packages")" = "$packages" ]; then
  exit 0
fi

rm -rf "$root"
mkdir -p "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,archives}/partial
: >"$work/status" # nothing counts as installed, so all dependencies are fetched

apt() {
  apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false \
    -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=3 -o Dir::Etc::Preferences=/dev/null \
    -o Dir::Etc::PreferencesParts=/dev/null -o Dir::State="$work" -o Dir::State::status="$work/status" \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" "$@"
}

apt update >"$work/log" 2>&1 || { cat "$work/log" >&2; cannot "the package lists cannot be read"; }
# shellcheck disable=SC2086
apt --download-only install $packages >"$work/log" 2>&1 || { cat "$work/log" >&2; cannot "packages cannot be downloaded"; }

for package in "$work"/archives/*.deb; do
  # ./bin and ./sbin are nothing to link with, and Meson would put them into the search path of tests.
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --no-same-owner \
    --exclude='./bin' --exclude='./sbin' --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' --exclude='./usr/share/icons'
done
# Links to absolute paths would lead out of the folder.
find "$root" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
  ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "$root$target")" "$link"
done
printf '%s\n' "$packages" >"$root/.packages"
echo "arm64 system: $(find "$work/archives" -name '*.deb' | wc -l) packages in $root"
