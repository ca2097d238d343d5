#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh KERNEL [OPTION]... -- COMMAND [ARGUMENT]...: run a command as root in a virtual machine with the kernel of kernel.sh.
#
# The machine is emulated (no hardware virtualisation, about 40 times slower for vector code: times mean nothing in it). Its root is
# this machine's file system, read-only; TMPDIR is writable and lost at the end. Output and exit status come back. Variables that begin with GST_,
# GTEST_ or SIMAAI_ are passed on.
#   --module NAME[,PARAMETER=VALUE]...  load a module of the kernel, or a file that ends in .ko, before the command
#   --results FOLDER                    a folder that the command may write: VM_RESULTS names it inside
#   --seconds N                         give up after N seconds (300)
# Exit status: that of the command, or 1 where it succeeded and the kernel complained; 77: no machine can be run here, 125: it gave no exit status (a panic, or no time left). The
# reason is printed for both.
set -euo pipefail

usage() { sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 1 ] || usage
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
kernel=$(realpath -m "$1")
shift
modules=(virtio_pci 9pnet_virtio 9p)
results=
seconds=300
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --module) modules+=("$2") ;;
    --results) results=$2 ;;
    --seconds) seconds=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[ $# -ge 2 ] || usage
shift

cannot() { echo "no virtual machine: $*" >&2; exit 77; }
for tool in qemu-system-x86_64 busybox modprobe cpio xz; do
  command -v "$tool" >/dev/null || cannot "$tool is not installed (group vm in packages.txt; ./run vm installs it)"
done
[ -f "$kernel/version" ] || cannot "no kernel in $kernel (./run vm fetches it)"
version=$(cat "$kernel/version")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
initial=$work/initial
mkdir -p "$initial"/{bin,modules,dev,proc,sys,new} "$work/exchange"
cp "$(command -v busybox)" "$initial/bin/busybox"
cp "$here/init.sh" "$initial/init"
chmod +x "$initial/init"

# Modules in the order in which they are loaded, with all that they depend on.
: >"$initial/modules/list"
# insert FILE PARAMETERS
insert() {
  local name
  name=$(basename "${1%.xz}")
  [ ! -e "$initial/modules/$name" ] || return 0
  case $1 in
    *.xz) xz -dc "$1" >"$initial/modules/$name" ;;
    *) cp "$1" "$initial/modules/$name" ;;
  esac
  echo "$name $2" >>"$initial/modules/list"
}
for module in "${modules[@]}"; do
  name=${module%%,*}
  parameters=
  [ "$name" = "$module" ] || parameters=$(tr , ' ' <<<"${module#*,}")
  if [[ $name == *.ko ]]; then
    [ -f "$name" ] || cannot "no module $name (./run vm compiles it)"
    insert "$name" "$parameters"
    continue
  fi
  modprobe -d "$kernel/root" -S "$version" --show-depends "$name" >"$work/needed" 2>/dev/null || cannot "the kernel has no module $name"
  while read -r action file _; do
    [ "$action" = insmod ] || continue # builtin
    wanted=$(basename "${file%%.ko*}")
    [ "${wanted//-/_}" = "${name//-/_}" ] && insert "$file" "$parameters" || insert "$file" ""
  done <"$work/needed"
done
(cd "$initial" && find . | cpio -o -H newc --quiet) >"$work/initrd"

{
  printf 'cd %q\n' "$PWD"
  for variable in "${!GST_@}" "${!GTEST_@}" "${!SIMAAI_@}"; do
    printf 'export %s=%q\n' "$variable" "${!variable}"
  done
  printf '%q ' "$@"
  echo
} >"$work/exchange/command"
shares=(-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" -device virtio-9p-pci,fsdev=root,mount_tag=root
  -fsdev "local,id=exchange,path=$work/exchange,security_model=none" -device virtio-9p-pci,fsdev=exchange,mount_tag=exchange)
if [ -n "$results" ]; then
  mkdir -p "$results"
  shares+=(-fsdev "local,id=results,path=$(realpath "$results"),security_model=none" -device virtio-9p-pci,fsdev=results,mount_tag=results)
fi

status=0
timeout -k 5 "$seconds" qemu-system-x86_64 -machine q35,accel=tcg -cpu max -smp 2 -m 1024 -nodefaults -no-user-config -display none \
  -serial "file:$work/console" -no-reboot -kernel "$kernel/root/boot/vmlinuz-$version" -initrd "$work/initrd" \
  -append "console=ttyS0 panic=-1 quiet loglevel=4 mitigations=off nokaslr" "${shares[@]}" </dev/null >"$work/emulator" 2>&1 || status=$?
[ ! -e "$work/exchange/output" ] || cat "$work/exchange/output"
# What the kernel complains of is part of the result, whatever the command made of it.
complained=0
grep -aE 'BUG:|WARNING: CPU|Oops|insmod' "$work/console" >&2 && complained=1
if [ -e "$work/exchange/status" ]; then
  status=$(cat "$work/exchange/status")
  [ "$status" = 0 ] && [ "$complained" = 1 ] && status=1
  exit "$status"
fi
if [ ! -s "$work/console" ] && [ "$status" != 124 ]; then
  cat "$work/emulator" >&2
  cannot "the emulator ended with status $status before the kernel started"
fi
tail -n 30 "$work/emulator" "$work/console" >&2
echo "the virtual machine gave no exit status$([ "$status" != 124 ] || echo " within $seconds s")" >&2
exit 125
