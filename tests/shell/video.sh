#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Video through tensors and back. What comes back is compared with a copy of the same frames.
. "$(dirname "$0")/lib.sh"

# round_trip FORMAT WIDTH HEIGHT ELEMENTS...: frames that pass the elements and frames that do not, as PNG.
round_trip() {
  local caps="video/x-raw,format=$1,width=$2,height=$3" png=video/x-raw,format=RGB number
  case $1 in
    *A) png=video/x-raw,format=RGBA ;;
    GRAY8) png=video/x-raw,format=GRAY8 ;;
  esac
  shift 3
  launch videotestsrc num-buffers=4 pattern=snow ! "$caps" ! tee name=t \
    t. ! queue ! videoconvert ! $png ! pngenc snapshot=false ! multifilesink location=direct-%d.png \
    t. ! queue ! simaaivideototensor ! "$@" ! simaaitensortovideo ! "$caps" ! videoconvert ! $png \
    ! pngenc snapshot=false ! multifilesink location=through-%d.png
  for number in 0 1 2 3; do
    cmp direct-$number.png through-$number.png
  done
  [ ! -e direct-4.png ]
}

# raw_round_trip: no PNG in between: the very bytes of dense frames.
raw_round_trip() {
  launch videotestsrc num-buffers=3 pattern=snow ! video/x-raw,format=RGB,width=640,height=480 ! tee name=t \
    t. ! queue ! filesink location=direct.raw \
    t. ! queue ! simaaivideototensor ! "$tensor,dtype=uint8" ! simaaitensortovideo ! filesink location=through.raw
  [ "$(stat -c %s direct.raw)" = $((3 * 640 * 480 * 3)) ]
  cmp direct.raw through.raw
}

# int8 of a sample is the sample minus 128, so that 0 to 255 fill the range.
int8_tiles() {
  local axes=-1,1,2,3 tile=1,16,16,3
  launch videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=RGB,width=70,height=50 ! simaaivideototensor \
    ! "$tensor,dtype=int8" ! tee name=t ! queue ! simaainpysink location=linear.npy \
    t. ! queue ! simaaitess int8-channel-padding=-7 channel-storage=pad16 ! simaainpysink location=tiles.npy
  oracle tess linear.npy expected.npy --axes $axes --tile $tile --storage pad16 --fill -7
  same tiles.npy expected.npy
}

int8=("$tensor,dtype=int8" ! simaaitess ! simaaidetess)
case_ "int8, tess, detess" round_trip RGB 640 480 "${int8[@]}"
case_ "int8, tess, detess, odd width" round_trip RGB 643 481 "${int8[@]}"
case_ "int8 with a fill" round_trip RGB 64 48 "$tensor,dtype=int8" ! \
  simaaitess int8-channel-padding=-128 channel-storage=pad16 ! simaaidetess
case_ "int8 tiles equal the oracle's" int8_tiles
case_ "uint8 view, raw bytes" raw_round_trip
for format in RGB BGR RGBA BGRA RGBx BGRx GRAY8; do
  for size in "640 480" "643 481" "641 3"; do
    # shellcheck disable=SC2086
    case_ "uint8 view, $format ${size/ /x}" round_trip $format $size "$tensor,dtype=uint8"
  done
done
case_ "float32, casttess, detesscast" round_trip RGB 643 481 "$tensor,dtype=float32" ! simaaicasttess ! simaaidetesscast
case_ "float16, casttess, detesscast" round_trip GRAY8 322 241 "$tensor,dtype=float16" ! simaaicasttess ! simaaidetesscast
case_ "bfloat16, tess, detess" round_trip BGR 322 241 "$tensor,dtype=bfloat16" ! simaaitess ! simaaidetess
finish
