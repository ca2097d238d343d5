#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# An int8 classifier between Tess and Detess: edge, warm or cool for each block of four pixels of a video.
#
# usage: classify.sh [VIDEO [FOLDER]]     VIDEO: a file; without one a clip is encoded first. FOLDER: default classifier-output
#
# Prints the accuracy on a generated labelled set, runs the model on tiles and on the linear tensor, compares all scores bit
# for bit, and leaves scores.raw and one picture a second (red: edge, green: warm, blue: cool). Needs GST_PLUGIN_PATH.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
video=${1:-}
out=${2:-classifier-output}
mkdir -p "$out"
launch() { timeout 300 env LD_PRELOAD="${SIMAAI_PRELOAD:-}" gst-launch-1.0 -q "$@"; }

width=640 height=480
tensor=application/vnd.simaai.tensor
layer1=(simaaimatmul weights="$out/layer1.tgmx" multiplier=260 shift=15)
layer2=(simaaimatmul weights="$out/layer2.tgmx" multiplier=512 shift=15)
# The accelerator's layout in front of each layer and behind the last one.
on_tiles=(simaaitess 'tile-shape=<1,8,32,16>' ! "${layer1[@]}" ! "$tensor,layout=mla-tiled" ! "${layer2[@]}"
  ! "$tensor,layout=mla-tiled" ! simaaidetess)
linear=("${layer1[@]}" ! "$tensor,layout=contiguous" ! "${layer2[@]}" ! "$tensor,layout=contiguous")

python3 "$here/model.py" weights "$out"
python3 "$here/model.py" labelled "$out"
launch simaainpysrc location="$out/blocks.npy" ! tee name=t \
  t. ! queue ! "${on_tiles[@]}" ! simaainpysink location="$out/labelled-tiled.npy" \
  t. ! queue ! "${linear[@]}" ! simaainpysink location="$out/labelled-linear.npy"
cmp "$out/labelled-tiled.npy" "$out/labelled-linear.npy"
python3 "$here/model.py" score "$out" "$out/labelled-tiled.npy"

if [ -z "$video" ]; then
  video=$out/clip.webm
  launch videotestsrc pattern=smpte horizontal-speed=4 num-buffers=60 ! video/x-raw,width=$width,height=$height,framerate=30/1 \
    ! videoconvert ! vp8enc deadline=1 cpu-used=8 ! webmmux ! filesink location="$video"
fi
# Four RGBA pixels of a row are the 16 channels of a block: the same bytes under another shape.
blocks="$tensor,dtype=int8,layout=contiguous,shape=(int)<1,$height,$((width / 4)),16>,framerate=30/1"
launch filesrc location="$video" ! decodebin ! videoconvert ! videoscale ! videorate \
  ! "video/x-raw,format=RGBA,width=$width,height=$height,framerate=30/1,pixel-aspect-ratio=1/1" \
  ! simaaivideototensor ! "$tensor,dtype=int8" ! capssetter join=false replace=true caps="$blocks" ! tee name=t \
  t. ! queue ! "${linear[@]}" ! filesink location="$out/scores-linear.raw" \
  t. ! queue ! "${on_tiles[@]}" ! tee name=u \
  u. ! queue ! filesink location="$out/scores.raw" \
  u. ! queue ! simaaitensortovideo ! videorate ! video/x-raw,framerate=1/1 ! videoconvert ! pngenc \
  ! multifilesink location="$out/scores-%d.png"
cmp "$out/scores.raw" "$out/scores-linear.raw"
bytes=$(stat -c %s "$out/scores.raw")
frame=$((height * width / 4 * 3))
[ "$bytes" -gt 0 ] && [ $((bytes % frame)) = 0 ]
echo "$((bytes / frame)) frames: scores from tiles equal those from the linear tensor, bit for bit"
