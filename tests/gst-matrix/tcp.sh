#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A matrix crosses process boundaries over TCP as TGMX: tiled -> column-major in another process -> back.
. "$(dirname "$0")/../shell/lib.sh"

# One end listens; the other tries again until it is there. Ports outside the ephemeral range.
first_port=$((20000 + $$ % 9000 + RANDOM % 1000))
quiet() { LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 gst-launch-1.0 -q "$@" >>log.txt 2>&1; }

# there_and_back PORT SHAPE TILE STRIDES
there_and_back() {
  local receiver relay port=$1
  shift
  oracle random in.npy --dtype int8 --shape "$1" --seed 91
  oracle scatter in.npy expected.npy --strides "$3" --hole 0
  quiet tcpserversrc host=127.0.0.1 port=$port ! simaaitgmxdec ! "$tensor,layout=contiguous" \
    ! simaainpysink location=back.npy &
  receiver=$!
  # The relay keeps the matrix column by column and sends it on.
  retry quiet tcpserversrc host=127.0.0.1 port=$((port + 1)) ! simaaitgmxdec \
    ! "$tensor,layout=strided,strides=<$3>" ! tee name=t \
    ! queue ! simaaitgmxenc ! tee name=u ! queue ! tcpclientsink host=127.0.0.1 port=$port \
    t. ! queue ! simaainpysink location=moved.npy u. ! queue ! filesink location=relayed.tgmx &
  relay=$!
  retry quiet simaainpysrc location=in.npy ! simaaitess "tile-shape=<$2>" ! simaaitgmxenc ! tee name=t \
    ! queue ! tcpclientsink host=127.0.0.1 port=$((port + 1)) t. ! queue ! filesink location=sent.tgmx
  wait $relay
  wait $receiver
  sed 's/^/# /' log.txt
  same in.npy back.npy
  cmp sent.tgmx relayed.tgmx
  oracle gather expected.npy gathered.npy --strides "$3" --dtype int8 --shape "$1"
  same in.npy gathered.npy
  same in.npy moved.npy
}

case_ "tiles, columns, rows: byte-identical" there_and_back $first_port 37,300 1,1,8,16 1,37
case_ "a pitched relay" there_and_back $((first_port + 2)) 64,65 1,1,64,32 80,1
finish
