#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# examples.sh CAMERA KERNELS_ONLY: the example applications with a camera of the kernel and real DMA-BUFs, in the virtual machine.
set -uo pipefail
gst-inspect-1.0 simaaicast >/dev/null
export GST_REGISTRY_UPDATE=no
# shellcheck disable=SC2016
inside='
  "$1" --camera /dev/video0 --frames 30 --size 320x180 --raw /run/tmp/values.f32 >/run/tmp/said || exit 1
  cat /run/tmp/said
  grep -q "^30 frames, latency p50 " /run/tmp/said || exit 2
  grep -q "^memory: dma-heap, " /run/tmp/said || exit 3
  [ "$(stat -c %s /run/tmp/values.f32)" = $((30 * 320 * 180 * 3 * 4)) ] || exit 4
  head -c $((2 * 320 * 180 * 3)) /dev/urandom | "$2" 320x180 2>/run/tmp/said >/dev/null || exit 5
  cat /run/tmp/said
  grep -q "^2 frames, tiles in memory of dma-heap" /run/tmp/said || exit 6'
exec "$VM_RUN" "$VM_KERNEL" --module vgem --module vivid,n_devs=1,multiplanar=1 -- bash -c "$inside" sh "$1" "$2"
