#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pipelines on an EV74 give the bytes of the host and of the oracle: on the model in the process and behind a server.
# FIRMWARE_OPS: operations that the device has; EV74D: path of simaai-ev74d.
. "$(dirname "$0")/../shell/lib.sh"

has() {
  local op
  for op in "$@"; do
    case " $FIRMWARE_OPS " in *" $op "*) ;; *) return 1 ;; esac
  done
}

# serve NAME OPTIONS: starts a server; its socket is $scratch/NAME.
servers=()
serve() {
  LD_PRELOAD= "$EV74D" --model "$2" "$scratch/$1" >"$scratch/$1.log" 2>&1 &
  servers+=("$!")
  trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
  for _ in $(seq 600); do
    [ -S "$scratch/$1" ] && return 0
    sleep 0.1
  done
  sed 's/^/# /' "$scratch/$1.log"
  return 1
}

# chain OUT ELEMENT...: a pipeline through elements, which are words without blanks; ',' stands for a blank inside.
chain() {
  local out=$1 element line=()
  shift
  for element in "$@"; do
    line+=(! ${element//,/ })
  done
  launch simaainpysrc location=in.npy "${line[@]}" ! simaainpysink location="$out"
}

# both_casts DEVICE
both_casts() {
  local on=backend=ev74,device=$1
  oracle random in.npy --dtype float32 --shape 3,31,17,5 --seed 21
  chain host.npy simaaicast simaaicast
  chain device.npy "simaaicast,$on" "simaaicast,$on"
  oracle cast in.npy rounded.npy --to bfloat16
  oracle cast rounded.npy expected.npy --to float32
  same device.npy expected.npy
  same device.npy host.npy
}

# casttess_only DEVICE
casttess_only() {
  local axes=-1,1,2,3 tile=1,8,16,35
  oracle random in.npy --dtype float32 --shape 1,40,37,35 --seed 25
  launch simaainpysrc location=in.npy ! simaaicasttess backend=ev74 device="$1" "tile-axes=<$axes>" \
    "tile-shape=<$tile>" channel-storage=pad16 ! simaainpysink location=tiles.npy
  oracle casttess in.npy expected.npy --axes $axes --tile $tile --storage pad16
  same tiles.npy expected.npy
}

# tess_only DEVICE
tess_only() {
  local axes=-1,2,3,1 tile=1,4,5,16
  oracle random in.npy --dtype bfloat16 --shape 2,20,9,13 --seed 26
  launch simaainpysrc location=in.npy ! simaaitess backend=ev74 device="$1" "tile-axes=<$axes>" \
    "tile-shape=<$tile>" ! simaainpysink location=tiles.npy
  oracle tess in.npy expected.npy --axes $axes --tile $tile --storage pad16
  same tiles.npy expected.npy
}

# casttess_detesscast DEVICE
casttess_detesscast() {
  local on=backend=ev74,device=$1
  oracle random in.npy --dtype float32 --shape 1,40,37,35 --seed 22
  chain host.npy simaaicasttess simaaidetesscast
  chain device.npy "simaaicasttess,$on" "simaaidetesscast,$on"
  oracle cast in.npy rounded.npy --to bfloat16
  oracle cast rounded.npy expected.npy --to float32
  same device.npy expected.npy
  same device.npy host.npy
}

# tess_detess DEVICE
tess_detess() {
  local on=backend=ev74,device=$1
  oracle random in.npy --dtype bfloat16 --shape 2,20,9,13 --seed 23
  chain tiles_host.npy simaaitess
  chain tiles.npy "simaaitess,$on"
  same tiles.npy tiles_host.npy
  chain back.npy "simaaitess,$on" "simaaidetess,$on"
  same back.npy in.npy
}

# mixed DEVICE: host and device take turns, and buffers cross between them.
mixed() {
  local on=backend=ev74,device=$1
  oracle random in.npy --dtype float32 --shape 64,64 --seed 24
  chain device.npy "simaaicast,$on" simaaicast "simaaicast,$on" simaaicast
  oracle cast in.npy rounded.npy --to bfloat16
  oracle cast rounded.npy expected.npy --to float32
  same device.npy expected.npy
}

# frames OUT ELEMENT...: twelve frames of a test video, as float32 tensors, through elements into one file.
frames() {
  local out=$1 element line=()
  shift
  for element in "$@"; do
    line+=(! ${element//,/ })
  done
  launch videotestsrc num-buffers=12 pattern=ball ! video/x-raw,format=RGB,width=80,height=48 \
    ! simaaivideototensor ! "$tensor,dtype=float32" "${line[@]}" ! filesink location="$out"
  [ "$(stat -c %s "$out")" = $((12 * 80 * 48 * 3 * 4)) ]
}

# several_in_flight DEVICE: the same stream, with jobs of every element in flight at once.
several_in_flight() {
  local on=backend=ev74,async-depth=3,device=$1
  frames host.raw simaaicasttess simaaidetesscast
  frames device.raw "simaaicasttess,$on" "simaaidetesscast,$on"
  cmp host.raw device.raw
}

# clip_sum PROPERTIES: the sum of all frames of the demo's clip after both elements.
clip_sum() {
  mkfifo clip.raw
  sha256sum <clip.raw >sum.txt &
  launch filesrc location="$scratch/clip.webm" ! decodebin ! videoconvert ! video/x-raw,format=RGB \
    ! simaaivideototensor "scale=<0.003921569>" ! "$tensor,dtype=float32" \
    ! simaaicasttess $1 ! simaaidetesscast $1 ! "$tensor,dtype=float32" ! filesink location=clip.raw
  wait $!
  rm clip.raw
  cat sum.txt
}

# demo_video DEVICE: every frame of the clip that the demo makes, as on the host.
demo_video() {
  local host device
  [ -s "$scratch/clip.webm" ] ||
    env -u DISPLAY -u WAYLAND_DISPLAY timeout 300 "$DEMO" --output "$scratch" >"$scratch/demo.txt" 2>&1
  host=$(clip_sum backend=a65)
  device=$(clip_sum "backend=ev74 device=$1")
  echo "# $host"
  [ "${#host}" -gt 60 ]
  [ "$host" = "$device" ]
  [ "$host" != "$(sha256sum </dev/null)" ]
}

serve ev74 workers=3,dma=deferred,seed=5,checking=full && serve plain workers=4 || { echo "1..0 # SKIP the server did not start"; exit 1; }
for device in model:workers=2 "unix:$scratch/ev74"; do
  kind=${device%%:*}
  has cast && case_ "$kind: cast there and back" both_casts "$device"
  has cast && case_ "$kind: host and device in turn" mixed "$device"
  has casttess && case_ "$kind: casttess" casttess_only "$device"
  has tess && case_ "$kind: tess" tess_only "$device"
  has casttess detesscast && case_ "$kind: casttess, detesscast" casttess_detesscast "$device"
  has casttess detesscast && case_ "$kind: several jobs in flight" several_in_flight "$device"
  has tess detess && case_ "$kind: tess, detess" tess_detess "$device"
  has casttess detesscast && case_ "$kind: the video of the demo" demo_video "${device/%ev74/plain}"
done
finish
