#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernel.sh FOLDER: a Debian kernel with udmabuf, dma-heap, vgem and vivid, and the headers to compile a module against it.
#
# The packages come from the backports of this Debian release (its own kernel has no udmabuf and no dma-heap), are unpacked into
# FOLDER and not installed; about 130 MB to download. A folder made before is kept. FOLDER/version names the kernel, and
# FOLDER/headers the build folder for modules.
# Exit status 77: it cannot be made here; the reason is printed.
set -euo pipefail

[ $# = 1 ] || { echo "usage: kernel.sh FOLDER" >&2; exit 2; }
folder=$(realpath -m "$1")
cannot() { echo "no kernel for the virtual machine: $*" >&2; exit 77; }

[ ! -f "$folder/version" ] || exit 0
[ "$(uname -m)" = x86_64 ] || cannot "the machine is $(uname -m), x86_64 is needed"
for tool in apt-get apt-cache dpkg-deb depmod; do
  command -v "$tool" >/dev/null || cannot "$tool is not installed"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,archives}/partial "$work/packages"
: >"$work/status"

# The archive that this machine already uses: the first source of its release, in either format of apt.
archive=$(find /etc/apt -maxdepth 2 \( -name '*.sources' -o -name 'sources.list' -o -path '*/sources.list.d/*.list' \) -exec cat {} + \
  | awk '!found && $1 == "URIs:" { found = $2 } !found && $1 == "deb" { for (i = 2; i <= NF; i++) if (!found && $i ~ /:\//) found = $i } END { print found }')
[ -n "$archive" ] || cannot "no Debian archive is configured"
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "$archive" "$release" >"$work/backports.sources"
options=(-q -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User= -o Acquire::Languages=none
  -o Acquire::Retries=3 -o Dir::Etc::SourceList="$work/backports.sources" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$work"
  -o Dir::State::status="$work/status" -o Dir::State::lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives")

# depends PACKAGE PATTERN: the first dependency of that name.
depends() { apt-cache "${options[@]}" depends "$1" | awk -v pattern="$2" '!found && $1 ~ /Depends:/ && $2 ~ pattern { found = $2 } END { print found }'; }

apt-get "${options[@]}" update >"$work/log" 2>&1 || { cat "$work/log" >&2; cannot "the package lists cannot be read"; }
image=$(depends linux-image-amd64 '^linux-image-[0-9]')
[ -n "$image" ] || cannot "$release-backports has no linux-image-amd64"
version=${image#linux-image-}
headers=linux-headers-$version
common=$(depends "$headers" '^linux-headers-.*-common')
kbuild=$(depends "$headers" '^linux-kbuild-')
[ -n "$common" ] && [ -n "$kbuild" ] || cannot "$release-backports has no headers for $version"
(cd "$work/packages" && apt-get "${options[@]}" download "$image" "$headers" "$common" "$kbuild" >"$work/log" 2>&1) \
  || { cat "$work/log" >&2; cannot "packages cannot be downloaded"; }

rm -rf "$folder"
mkdir -p "$folder/root"
# Of the kernel only what the machine boots with and what the tests load.
dpkg-deb --fsys-tarfile "$work/packages/$image"_*.deb | tar -x -C "$folder/root" --no-same-owner --wildcards \
  './boot/vmlinuz-*' './lib/modules/*/modules.*' '*/kernel/net/9p/*' '*/kernel/fs/9p/*' '*/kernel/fs/netfs/*' \
  '*/kernel/drivers/virtio/*' '*/kernel/drivers/gpu/drm/*.ko*' '*/kernel/drivers/media/rc/rc-core*' \
  '*/kernel/drivers/media/cec/*' '*/kernel/drivers/media/mc/*' '*/kernel/drivers/media/common/*' \
  '*/kernel/drivers/media/v4l2-core/*' '*/kernel/drivers/media/test-drivers/*'
depmod -b "$folder/root" "$version"
for package in "$headers" "$common" "$kbuild"; do
  dpkg-deb --fsys-tarfile "$work/packages/$package"_*.deb | tar -x -C "$folder/root" --no-same-owner --exclude='./usr/share/doc' --exclude='*/vmlinux'
done
# Their makefiles name the other packages by their place in a system.
for name in "$headers" "$common"; do
  find "$folder/root/usr/src/$name" -maxdepth 2 -type f -name Makefile -exec sed -i "s|/usr/src/|$folder/root/usr/src/|g" {} +
  find "$folder/root/usr/src/$name" -maxdepth 1 -type l | while read -r link; do
    target=$(readlink "$link")
    ln -sfn "$folder/root/usr/lib/${target##*/lib/}" "$link"
  done
done
ln -sfn "root/usr/src/$headers" "$folder/headers"
echo "$version" >"$folder/version"
echo "kernel $version in $folder"
