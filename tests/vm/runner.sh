#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# scripts/vm/run.sh itself: what comes back from the virtual machine, and how it says that there is none.
set -uo pipefail
number=0
failed=0
check() {
  number=$((number + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $number - $1"
  else
    echo "not ok $number - $1"
    echo "# expected '$3', found '$2'"
    failed=1
  fi
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$VM_RUN" "$work/none" -- true 2>"$work/why"
check "status without a kernel" $? 77
check "reason without a kernel" "$(grep -c 'no kernel in' "$work/why")" 1
mkdir "$work/empty"
for tool in bash dirname readlink realpath; do ln -s "$(command -v "$tool")" "$work/empty/$tool"; done
PATH=$work/empty "$(command -v bash)" "$VM_RUN" "$VM_KERNEL" -- true 2>"$work/why"
check "status without an emulator" $? 77
check "reason without an emulator" "$(grep -c 'qemu-system-x86_64 is not installed' "$work/why")" 1

# shellcheck disable=SC2016
SIMAAI_WORD='two words' "$VM_RUN" "$VM_KERNEL" --results "$work/results" -- \
  sh -c 'echo "$SIMAAI_WORD $1"; id -u; touch /usr/no 2>/dev/null || echo read-only; echo kept >"$VM_RESULTS/file"; exit 3' sh 'third word' >"$work/output" 2>"$work/why"
status=$?
if [ "$status" = 77 ]; then
  cat "$work/why" >&2
  echo "1..0 # SKIP $(head -n 1 "$work/why")"
  exit 0
fi
check "status of the command" "$status" 3
check "output of the command" "$(tr '\n' , <"$work/output")" "two words third word,0,read-only,"
check "results of the command" "$(cat "$work/results/file")" kept

"$VM_RUN" "$VM_KERNEL" --seconds 100 -- sh -c 'echo c >/proc/sysrq-trigger' >"$work/output" 2>&1
check "status after a panic" $? 125
"$VM_RUN" "$VM_KERNEL" -- sh -c 'echo "WARNING: CPU: 0 made up" >/dev/console' >"$work/output" 2>"$work/why"
check "status after a complaint of the kernel" $? 1
echo "1..$number"
exit "$failed"
