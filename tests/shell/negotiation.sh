#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who decides the tile fields: a caps filter, properties, both in part, or nobody. The bytes tell.
. "$(dirname "$0")/lib.sh"

# tiled EXPECTED_AXES EXPECTED_TILE EXPECTED_STORAGE [CASTTESS ARGUMENTS...] [! FILTER]
tiled() {
  local axes=$1 tile=$2 storage=$3
  shift 3
  oracle random in.npy --dtype float32 --shape 1,21,34,20 --seed 21
  launch simaainpysrc location=in.npy ! simaaicasttess "$@" ! simaainpysink location=tiles.npy
  oracle casttess in.npy expected.npy --axes "$axes" --tile "$tile" --storage "$storage"
  same tiles.npy expected.npy
}

default_axes=-1,1,2,3
case_ "no configuration" tiled $default_axes 1,16,16,16 pad16
case_ "properties fix all" tiled -1,2,1,3 1,7,9,20 compact \
  "tile-axes=<-1,2,1,3>" "tile-shape=<1,7,9,20>" channel-storage=compact
case_ "properties fix the tile" tiled $default_axes 1,4,32,20 pad16 "tile-shape=<1,4,32,20>"
case_ "properties fix the axes" tiled -1,1,3,2 1,16,16,16 pad16 "tile-axes=<-1,1,3,2>"
case_ "a filter fixes all" tiled -1,1,2,3 1,5,6,18 compact ! \
  "$tensor,dtype=bfloat16,layout=mla-tiled,tile-axes=<-1,1,2,3>,tile-shape=<1,5,6,18>,channel-storage=compact"
case_ "a filter fixes the tile" tiled $default_axes 1,5,6,18 pad16 ! "$tensor,tile-shape=<1,5,6,18>"
case_ "a filter fixes the axes" tiled -1,2,1,3 1,16,16,16 pad16 ! "$tensor,tile-axes=<-1,2,1,3>"
case_ "a filter fixes the storage" tiled $default_axes 1,16,16,16 compact ! "$tensor,channel-storage=compact"
case_ "a filter fixes tile and storage" tiled $default_axes 1,3,34,20 compact ! \
  "$tensor,tile-shape=<1,3,34,20>,channel-storage=compact"
case_ "filter and properties complete each other" tiled -1,2,1,3 1,5,6,18 compact \
  "tile-axes=<-1,2,1,3>" channel-storage=compact ! "$tensor,tile-shape=<1,5,6,18>"
case_ "the filter wins over a property" tiled $default_axes 1,5,6,18 pad16 \
  "tile-shape=<1,2,2,2>" ! "$tensor,tile-shape=<1,5,6,18>"
finish
