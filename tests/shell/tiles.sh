#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pipelines from and to .npy files whose output equals the oracle's, byte for byte.
. "$(dirname "$0")/lib.sh"

# float32 -> casttess -> bytes, and on to detesscast -> float32.
casttess_pad16() {
  local axes=-1,1,2,3 tile=1,8,16,3
  oracle random in.npy --dtype float32 --shape 1,20,37,3 --seed 11
  launch simaainpysrc location=in.npy ! simaaicasttess "tile-axes=<$axes>" "tile-shape=<$tile>" \
    channel-storage=pad16 ! tee name=t ! queue ! simaainpysink location=tiles.npy \
    t. ! queue ! simaaidetesscast ! "$tensor,dtype=float32" ! simaainpysink location=back.npy
  oracle casttess in.npy tiles_expected.npy --axes $axes --tile $tile --storage pad16
  oracle detesscast tiles_expected.npy back_expected.npy --to float32 --shape 1,20,37,3 \
    --axes $axes --tile $tile --storage pad16
  same tiles.npy tiles_expected.npy
  same back.npy back_expected.npy
}

# casttess_from DTYPE STORAGE
casttess_from() {
  local axes=-1,1,2,3 tile=1,5,7,18
  oracle random in.npy --dtype "$1" --shape 2,11,13,35 --seed 12
  launch simaainpysrc location=in.npy ! simaaicasttess "tile-axes=<$axes>" "tile-shape=<$tile>" \
    channel-storage="$2" ! simaainpysink location=tiles.npy
  oracle casttess in.npy expected.npy --axes $axes --tile $tile --storage "$2"
  same tiles.npy expected.npy
}

cast_tess_detess_cast() {
  oracle random in.npy --dtype float32 --shape 1,17,19,21 --seed 13
  launch simaainpysrc location=in.npy ! simaaicast ! simaaitess ! simaaidetess ! simaaicast \
    ! simaainpysink location=out.npy
  oracle cast in.npy rounded.npy --to bfloat16
  oracle cast rounded.npy expected.npy --to float32
  same out.npy expected.npy
}

tess_nchw() {
  local axes=-1,2,3,1 tile=1,4,5,16
  oracle random in.npy --dtype bfloat16 --shape 2,20,9,13 --seed 14
  launch simaainpysrc location=in.npy ! simaaitess "tile-axes=<$axes>" "tile-shape=<$tile>" \
    ! simaainpysink location=tiles.npy
  oracle tess in.npy expected.npy --axes $axes --tile $tile --storage pad16
  same tiles.npy expected.npy
}

casttess_strided() {
  local axes=-1,1,2,3 tile=1,4,16,3 strides=6400,320,16,4
  oracle random in.npy --dtype float32 --shape 2,9,18,3 --seed 15
  oracle scatter in.npy strided.npy --strides $strides --hole 165
  launch simaainpysrc location=strided.npy \
    caps="$tensor,dtype=float32,shape=<2,9,18,3>,layout=strided,strides=<$strides>" \
    ! simaaicasttess "tile-axes=<$axes>" "tile-shape=<$tile>" channel-storage=compact \
    ! simaainpysink location=tiles.npy
  oracle casttess in.npy expected.npy --axes $axes --tile $tile --storage compact
  same tiles.npy expected.npy
}

# detesscast_cblocked [FILTER]: channel blocks in, a dense or a strided tensor out.
detesscast_cblocked() {
  local shape=1,10,12,35 tile=1,4,5,20
  oracle random in.npy --dtype bfloat16 --shape $shape --seed 16
  oracle tess in.npy blocks.npy --tile $tile --cblocked
  launch simaainpysrc location=blocks.npy \
    caps="$tensor,dtype=bfloat16,shape=<$shape>,layout=mla-cblocked,tile-shape=<$tile>" \
    ! simaaidetesscast ! "$tensor,dtype=float32$1" ! tee name=t ! queue ! simaainpysink location=out.npy \
    t. ! queue ! filesink location=out.bin
  oracle cast in.npy expected.npy --to float32
  same out.npy expected.npy
  [ "$(stat -c %s out.bin)" = "$2" ] || { echo "# $(stat -c %s out.bin) bytes, expected $2"; return 1; }
}

case_ "float32 casttess, three channels padded to 16, and back" casttess_pad16
for dtype in float32 float16 bfloat16; do
  for storage in compact pad16; do
    case_ "$dtype casttess $storage" casttess_from $dtype $storage
  done
done
case_ "cast, tess, detess, cast" cast_tess_detess_cast
case_ "bfloat16 NCHW tess" tess_nchw
case_ "strided float32 casttess" casttess_strided
case_ "channel blocks detesscast, dense" detesscast_cblocked ",layout=contiguous" 16800
# 4 + 11 * 152 + 9 * 1824 + 34 * 4 bytes
case_ "channel blocks detesscast, strided" detesscast_cblocked ",layout=strided,strides=<20000,1824,152,4>" 18228
finish
