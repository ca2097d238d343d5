#!/bin/busybox sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# First program in the virtual machine of run.sh: loads modules, mounts the host's file system, runs the command, switches off.
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
while read -r module parameters; do
  # shellcheck disable=SC2086
  $b insmod "/modules/$module" $parameters || echo "insmod $module failed" >/dev/console
done </modules/list

share() { $b mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000$3" "$1" "$2"; }
if ! share root /new ,ro,cache=loose; then
  echo "the host's file system cannot be mounted" >/dev/console
  $b poweroff -f
fi
$b mount -t tmpfs tmp /new/run
$b mkdir /new/run/tmp /new/run/exchange /new/run/results
share exchange /new/run/exchange ""
share results /new/run/results "" 2>/dev/null
for folder in dev proc sys; do
  $b mount -o move /$folder /new/$folder
done
$b mkdir -p /new/dev/shm
$b mount -t tmpfs shm /new/dev/shm
$b mount -t debugfs debug /new/sys/kernel/debug
$b ifconfig lo 127.0.0.1 up

# The status comes last and whole: without it the host knows that the machine failed, not the command.
# shellcheck disable=SC2016
$b chroot /new /bin/sh -c '
  export HOME=/run/tmp TMPDIR=/run/tmp XDG_RUNTIME_DIR=/run/tmp XDG_CACHE_HOME=/run/tmp VM_RESULTS=/run/results
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  # As on a desktop: sets on several devices hold more descriptors than 1024.
  ulimit -n 16384
  bash /run/exchange/command >/run/exchange/output 2>&1
  echo $? >/run/exchange/status.new
  mv /run/exchange/status.new /run/exchange/status
  sync'
$b poweroff -f
