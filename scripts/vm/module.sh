#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# module.sh KERNEL SOURCE.c INCLUDE FOLDER: compile a module for the kernel of kernel.sh into FOLDER/NAME.ko. INCLUDE is a folder of headers.
# Does nothing where it is newer than what is beside SOURCE.c. Exit status 77: there is no kernel.
set -euo pipefail
[ $# = 4 ] || { echo "usage: module.sh KERNEL SOURCE.c INCLUDE FOLDER" >&2; exit 2; }
kernel=$(realpath -m "$1")
source=$(realpath "$2")
include=$(realpath "$3")
folder=$(realpath -m "$4")
name=$(basename "$source" .c)
[ -f "$kernel/version" ] || { echo "no kernel in $kernel" >&2; exit 77; }
if [ -f "$folder/$name.ko" ] && [ -z "$(find "$(dirname "$source")" "$include/simaai/runtime" "$kernel/version" -newer "$folder/$name.ko" -type f -print -quit)" ]; then
  exit 0
fi
rm -rf "$folder"
mkdir -p "$folder"
cp "$source" "$folder/"
{
  echo "obj-m := $name.o"
  echo "ccflags-y := -I$include -I$(dirname "$source") -Wno-declaration-after-statement -Werror"
} >"$folder/Kbuild"
make -s -C "$kernel/headers" M="$folder" modules >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
