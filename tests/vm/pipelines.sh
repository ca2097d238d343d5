#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# pipelines.sh PROGRAM...: makes the registry of plug-ins on this machine, which takes long on the shared file system, then runs a
# test program of pipelines in the virtual machine.
set -euo pipefail
gst-inspect-1.0 simaaicast >/dev/null
export GST_REGISTRY_UPDATE=no
exec "$VM_RUN" "$VM_KERNEL" --module vgem --module vivid,n_devs=1,multiplanar=1 --module "$VM_MODULE" -- \
  env SIMAAI_SYNC_LOG=/run/tmp/sync LD_PRELOAD="$VM_SYNC_GUARD" "$@"
