#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tree.sh FOLDER: headers and libraries of GStreamer 1.26 as Debian 13 has them, to compile and run against.
#
# The packages of the group "debian13" in packages.txt come from the archive that this machine uses, by the name of that release, and
# are unpacked into FOLDER, not installed; about 40 MB to download. A folder made from the same list before is kept.
# Exit status 77: it cannot be made here; the reason is printed.
set -euo pipefail

[ $# = 1 ] || { echo "usage: tree.sh FOLDER" >&2; exit 2; }
source_root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
folder=$(realpath -m "$1")
cannot() { echo "no tree of Debian 13: $*" >&2; exit 77; }

[ "$(uname -m)" = x86_64 ] || cannot "the machine is $(uname -m), x86_64 is needed"
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || cannot "$tool is not installed"
done
packages=$(awk '!/^#/ && $1 == "debian13" { print $2 }' "$source_root/packages.txt" | sort -u)
if [ -f "$folder/.packages" ] && [ "$(cat "$folder/.packages")" = "$packages" ]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,archives}/partial "$work/packages"
: >"$work/status"
# The first archive that apt is configured with, in either of its formats.
archive=$(find /etc/apt -maxdepth 2 \( -name '*.sources' -o -name 'sources.list' -o -path '*/sources.list.d/*.list' \) -exec cat {} + \
  | awk '!found && $1 == "URIs:" { found = $2 } !found && $1 == "deb" { for (i = 2; i <= NF; i++) if (!found && $i ~ /:\//) found = $i } END { print found }')
[ -n "$archive" ] || cannot "no Debian archive is configured"
printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "$archive" >"$work/debian13.sources"
options=(-q -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User= -o Acquire::Languages=none
  -o Acquire::Retries=3 -o Dir::Etc::SourceList="$work/debian13.sources" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$work"
  -o Dir::State::status="$work/status" -o Dir::State::lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives")
apt-get "${options[@]}" update >"$work/log" 2>&1 || { cat "$work/log" >&2; cannot "the package lists cannot be read"; }
# shellcheck disable=SC2086
(cd "$work/packages" && apt-get "${options[@]}" download $packages >"$work/log" 2>&1) \
  || { cat "$work/log" >&2; cannot "packages cannot be downloaded"; }

rm -rf "$folder"
mkdir -p "$folder/root"
for package in "$work"/packages/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder/root" --keep-directory-symlink --no-same-owner --exclude='./usr/share'
done
printf '%s\n' "$packages" >"$folder/.packages"
echo "tree of Debian 13 in $folder"
