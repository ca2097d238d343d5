#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# numpy files in and out: every dtype, several ranks, numbered series.
. "$(dirname "$0")/lib.sh"

# copy DTYPE SHAPE
copy() {
  oracle random in.npy --dtype "$1" --shape "$2" --seed 31
  launch simaainpysrc location=in.npy ! "$tensor,dtype=$1,layout=contiguous" ! simaainpysink location=out.npy
  same out.npy in.npy
}

series() {
  local number
  for number in 00003 00004 00005; do
    oracle random "in-$number.npy" --dtype float32 --shape 1,6,5,3 --seed "${number#0000}"
  done
  launch simaainpysrc location=in-%05d.npy start-index=3 ! simaaicast ! simaaicast ! simaainpysink location=out-%05d.npy
  for number in 3 4 5; do
    oracle cast "in-0000$number.npy" rounded.npy --to bfloat16
    oracle cast rounded.npy expected.npy --to float32
    same "out-0000$((number - 3)).npy" expected.npy
  done
  [ ! -e out-00003.npy ]
}

for dtype in int8 uint8 int32 float16 bfloat16 float32; do
  case_ "$dtype in and out" copy $dtype 1,7,5,3
done
for shape in 5 2,17 3,4,5 2,3,4,5,6 2,1,3,2,2,5; do
  case_ "shape $shape in and out" copy float32 $shape
done
case_ "numbered series" series
finish
