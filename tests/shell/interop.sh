#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tensors cross process boundaries in GStreamer's own data protocol, over TCP and shared memory: caps and bytes arrive
# as they were sent, tiles, strides and sets included.
. "$(dirname "$0")/lib.sh"

# One end listens; the other tries again until it is there. Ports outside the ephemeral range.
port=$((30000 + $$ % 1500 + RANDOM % 1000))

tile="tile-axes=<-1,1,2,3> tile-shape=<1,8,16,16>"

# What is sent, and what the oracle says that it is. Both ends know the caps only from the stream.
frames() {
  oracle random in.npy --dtype float32 --shape 1,20,24,40 --seed 17
  oracle cast in.npy rounded.npy --to bfloat16
  oracle cast rounded.npy back.npy --to float32
}

# over TRANSPORT "SENDER ELEMENTS" RECEIVER...: one process sends, another receives; both print their caps.
over() {
  local transport=$1 sender=$2 receiver sending status
  shift 2
  case $transport in
    tcp)
      port=$((port + 1))
      LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 gst-launch-1.0 -v tcpserversrc host=127.0.0.1 port=$port \
        ! gdpdepay name=received ! "$@" >received.txt 2>&1 &
      receiver=$!
      # Word splitting is wanted: elements and properties.
      retry sent $sender ! gdppay ! tcpclientsink host=127.0.0.1 port=$port
      wait $receiver
      ;;
    shm)
      # The memory goes with its owner: the sender repeats the buffer until the receiver has what it wants.
      sent ${sender//location=/loop=true location=} ! gdppay ! shmsink socket-path="$PWD/socket" shm-size=67108864 &
      sending=$!
      while [ ! -S socket ] && kill -0 $sending; do sleep 0.1; done
      LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 gst-launch-1.0 -v shmsrc socket-path="$PWD/socket" \
        ! gdpdepay name=received ! identity eos-after=3 ! "$@" >received.txt 2>&1
      status=$?
      kill $sending
      wait $sending || true
      [ $status = 0 ] || { sed 's/^/# /' received.txt; return 1; }
      ;;
  esac
  sed 's/^/# /' log.txt
  diff <(caps_of gdppay0.GstPad:sink sent.txt) <(caps_of received.GstPad:src received.txt) | sed 's/^/# caps: /'
  return "${PIPESTATUS[0]}"
}
sent() { LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 gst-launch-1.0 -v "$@" >sent.txt 2>>log.txt; }

# caps_of PAD FILE: the caps that gst-launch-1.0 -v printed last for a pad.
caps_of() {
  grep -F "$1: caps = " "$2" | tail -n 1 | sed 's/.*: caps = //' | grep . || echo "no caps of $1 in $2"
}

contiguous() {
  frames
  over "$1" "simaainpysrc location=in.npy" simaainpysink location=out.npy
  same out.npy in.npy
}

tiles() {
  frames
  oracle casttess in.npy tiles.npy --axes -1,1,2,3 --tile 1,8,16,16 --storage pad16
  over "$1" "simaainpysrc location=in.npy ! simaaicasttess $tile channel-storage=pad16" \
    tee name=t ! queue ! simaainpysink location=out.npy t. ! queue ! simaaidetesscast ! simaainpysink location=linear.npy
  same out.npy tiles.npy
  same linear.npy back.npy
}

strides() {
  frames
  over "$1" "simaainpysrc location=in.npy ! simaaicast ! $tensor,layout=strided,strides=<76800,3840,160,4>" \
    simaaicast ! simaainpysink location=out.npy
  same out.npy back.npy
}

set_of_heads() {
  local transport=$1
  shift
  frames
  oracle random in1.npy --dtype float32 --shape 1,10,12,80 --seed 18
  oracle casttess in.npy tiles.npy --axes -1,1,2,3 --tile 1,8,16,16 --storage pad16
  oracle casttess in1.npy tiles1.npy --axes -1,1,2,3 --tile 1,8,16,16 --storage pad16
  over "$transport" "simaaitensormux name=m ! simaaicasttess $tile channel-storage=pad16 $* ! identity name=whole
    simaainpysrc location=in.npy ! m.sink_0 simaainpysrc location=in1.npy ! m.sink_1 whole." \
    simaaitensordemux name=d d.src_0 ! queue ! simaainpysink location=out.npy d.src_1 ! queue ! simaainpysink location=out1.npy
  same out.npy tiles.npy
  same out1.npy tiles1.npy
}

if ! gst-inspect-1.0 --exists gdppay || ! gst-inspect-1.0 --exists shmsink; then
  echo "1..0 # SKIP gdppay and shmsink are not installed"
  exit 0
fi
for transport in tcp shm; do
  case_ "$transport: contiguous" contiguous $transport
  case_ "$transport: tiles" tiles $transport
  case_ "$transport: strides" strides $transport
  case_ "$transport: a set, one memory each" set_of_heads $transport
  case_ "$transport: a set in one memory" set_of_heads $transport single-memory=true
done
finish
