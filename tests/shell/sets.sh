#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sets in pipelines: files combined, converted together and split again equal the oracle's, byte for byte.
. "$(dirname "$0")/lib.sh"

axes=-1,1,2,3
tile=1,8,16,16

# inputs: three heads of a detector and what the oracle makes of them.
inputs() {
  local shape n=0
  for shape in 1,20,20,64 1,10,10,80 1,5,7,17; do
    oracle random in$n.npy --dtype float32 --shape $shape --seed $((70 + n))
    oracle casttess in$n.npy tiles$n.npy --axes $axes --tile $tile --storage pad16
    oracle cast in$n.npy rounded$n.npy --to bfloat16
    oracle cast rounded$n.npy back$n.npy --to float32
    n=$((n + 1))
  done
}

expect() {
  local n
  for n in 0 1 2; do
    same out$n.npy "$1$n.npy"
  done
}

# tiles_of PROPERTY...: combined, converted in one element, split by position.
tiles_of() {
  inputs
  launch simaaitensormux name=m ! simaaicasttess "tile-axes=<$axes>" "tile-shape=<$tile>" channel-storage=pad16 "$@" \
    ! simaaitensordemux name=d \
    simaainpysrc location=in0.npy ! m.sink_0 simaainpysrc location=in1.npy ! m.sink_1 simaainpysrc location=in2.npy ! m.sink_2 \
    d.src_0 ! queue ! simaainpysink location=out0.npy d.src_1 ! queue ! simaainpysink location=out1.npy \
    d.src_2 ! queue ! simaainpysink location=out2.npy
  expect tiles
}

# there_and_back PROPERTY...: tiles in one memory in between; the names that the pads gave find the way out.
there_and_back() {
  inputs
  launch simaaitensormux name=m sink_0::tensor-id=small sink_1::tensor-id=middle sink_2::tensor-id=large \
    ! simaaicasttess single-memory=true "$@" ! simaaidetesscast "$@" \
    ! "$tensor-set,tensors=(structure)<[$tensor,dtype=float32],[$tensor,dtype=float32],[$tensor,dtype=float32]>" \
    ! simaaitensordemux name=d tensor_0::tensor-id=large tensor_1::tensor-id=small tensor_2::tensor-id=middle \
    simaainpysrc location=in0.npy ! m.sink_0 simaainpysrc location=in1.npy ! m.sink_1 simaainpysrc location=in2.npy ! m.sink_2 \
    d.tensor_0 ! queue ! simaainpysink location=out2.npy d.tensor_1 ! queue ! simaainpysink location=out0.npy \
    d.tensor_2 ! queue ! simaainpysink location=out1.npy
  expect back
}

# wanted_order: downstream names the tensors.
wanted_order() {
  inputs
  launch simaaitensormux name=m sink_0::tensor-id=a sink_1::tensor-id=b sink_2::tensor-id=c \
    ! "$tensor-set,tensors=(structure)<[$tensor,tensor-id=c],[$tensor,tensor-id=a],[$tensor,tensor-id=b]>" \
    ! simaaitensordemux name=d \
    simaainpysrc location=in0.npy ! m.sink_0 simaainpysrc location=in1.npy ! m.sink_1 simaainpysrc location=in2.npy ! m.sink_2 \
    d.src_0 ! queue ! simaainpysink location=out2.npy d.src_1 ! queue ! simaainpysink location=out0.npy \
    d.src_2 ! queue ! simaainpysink location=out1.npy
  expect in
}

# spelled_otherwise: as other/tensors in between, and as tensor/strided.
spelled_otherwise() {
  inputs
  launch simaaitensormux name=m ! simaaitensorbridge ! other/tensors,format=static,num_tensors=3 ! simaaitensorbridge \
    ! simaaicasttess "tile-axes=<$axes>" "tile-shape=<$tile>" channel-storage=pad16 ! simaaitensordemux name=d \
    simaainpysrc location=in0.npy ! m.sink_0 simaainpysrc location=in1.npy ! m.sink_1 simaainpysrc location=in2.npy ! m.sink_2 \
    d.src_0 ! queue ! simaainpysink location=out0.npy d.src_1 ! queue ! simaainpysink location=out1.npy \
    d.src_2 ! queue ! simaainpysink location=out2.npy
  expect tiles
  launch simaainpysrc location=in0.npy ! simaaitensorbridge ! tensor/strided,type=float32 ! simaaitensorbridge \
    ! "$tensor" ! simaainpysink location=strided.npy
  same in0.npy strided.npy
}

# Two cameras of different rates: the slower one decides, and every set has pictures of one time.
two_rates() {
  launch simaaitensormux name=m ! simaaicasttess ! simaaidetesscast ! "$tensor-set,framerate=10/1" ! simaaitensordemux name=d \
    videotestsrc num-buffers=30 ! video/x-raw,format=RGB,width=16,height=8,framerate=30/1 ! simaaivideototensor \
    ! "$tensor,dtype=float32" ! m.sink_0 \
    videotestsrc num-buffers=10 ! video/x-raw,format=RGB,width=8,height=8,framerate=10/1 ! simaaivideototensor \
    ! "$tensor,dtype=float32" ! m.sink_1 \
    d.src_0 ! queue ! filesink location=a.raw d.src_1 ! queue ! filesink location=b.raw
  [ "$(stat -c %s a.raw)" = $((10 * 16 * 8 * 3 * 4)) ]
  [ "$(stat -c %s b.raw)" = $((10 * 8 * 8 * 3 * 4)) ]
}

inspect() {
  local element
  for element in simaaitensormux simaaitensordemux simaaitensorbridge; do
    LD_PRELOAD=${SIMAAI_PRELOAD:-} gst-inspect-1.0 $element >$element.txt
    grep -q "$tensor-set" $element.txt
    grep -q "$element" "$source_dir/docs/gstreamer.md"
  done
  grep -q 'match-time' simaaitensormux.txt
  grep -q 'Availability: On request' simaaitensordemux.txt
  grep -q 'Availability: Sometimes' simaaitensordemux.txt
}

case_ "three files, one set of tiles" tiles_of
case_ "three files, one set of tiles, on the model" tiles_of backend=ev74
case_ "one memory in between, out by name" there_and_back
case_ "one memory in between, out by name, on the model" there_and_back backend=ev74 async-depth=3
case_ "the order of downstream" wanted_order
case_ "spelled otherwise in between" spelled_otherwise
case_ "two rates" two_rates
case_ "gst-inspect-1.0" inspect
finish
