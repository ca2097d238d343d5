#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# setup.sh BUILD [OPTION OF meson setup]...: configure BUILD as a cross build for the Cortex-A65 whose programs run under QEMU.
#
# BUILD-system holds the arm64 system (sysroot.sh), the Meson cross file and the programs that tests start by name.
# QEMU 7.2 has no Cortex-A65: its Cortex-A76 has the same Armv8.2-A with fp16 and dot product, and neither SVE nor BF16.
# Exit status 77: it cannot be done here; the reason is printed.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: setup.sh BUILD [OPTION OF meson setup]..." >&2; exit 2; }
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source_root=$(cd "$here/../.." && pwd)
build=$(realpath -m "$1")
shift
system=$build-system
root=$system/root
libraries=lib/aarch64-linux-gnu
cannot() { echo "no arm64 build: $*" >&2; exit 77; }

compiler=$(command -v aarch64-linux-gnu-g++-12 || command -v aarch64-linux-gnu-g++) || cannot "g++-12-aarch64-linux-gnu is not installed"
emulator=$(command -v qemu-aarch64) || cannot "qemu-user is not installed"
"$here/sysroot.sh" "$root"

# Meson puts ccache before native compilers where it is installed; the same for this one.
cache=
! command -v ccache >/dev/null || cache="'ccache', "

mkdir -p "$system/bin"
cat >"$system/bin/emulate" <<TEXT
#!/bin/sh
exec "$emulator" -cpu cortex-a76 -L "$root" "\$@"
TEXT
# Programs of GStreamer that shell tests start.
for program in gst-launch-1.0 gst-inspect-1.0; do
  printf '#!/bin/sh\nexec "%s/bin/emulate" "%s/usr/bin/%s" "$@"\n' "$system" "$root" "$program" >"$system/bin/$program"
done
chmod +x "$system"/bin/*

cat >"$system/cross.new" <<TEXT
[constants]
root = '$root'

[binaries]
c = [$cache'${compiler/g++/gcc}']
cpp = [$cache'$compiler']
ar = 'aarch64-linux-gnu-ar'
nm = 'aarch64-linux-gnu-nm'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = '$system/bin/emulate'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'cortex-a65'
endian = 'little'

[built-in options]
cpp_args = ['--sysroot=' + root, '-mcpu=cortex-a65']
cpp_link_args = ['--sysroot=' + root, '-Wl,-rpath-link,' + root / 'usr/$libraries' + ':' + root / '$libraries']

[properties]
sys_root = root
pkg_config_libdir = [root / 'usr/$libraries/pkgconfig', root / 'usr/lib/pkgconfig', root / 'usr/share/pkgconfig']
needs_exe_wrapper = true
emulator = '$system/bin/emulate'
emulated_programs = '$system/bin'
gst_plugin_system_path = root / 'usr/$libraries/gstreamer-1.0'
TEXT
# Meson configures again when the cross file is touched.
if cmp -s "$system/cross.new" "$system/cross.ini"; then rm "$system/cross.new"; else mv "$system/cross.new" "$system/cross.ini"; fi

if [ ! -f "$build/build.ninja" ]; then
  meson setup --cross-file "$system/cross.ini" "$@" "$build" "$source_root"
fi
