#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The demo on an H.264 file, with and without a decoder.
. "$(dirname "$0")/demo_lib.sh"

# Rank 0 hides a decoder from uridecodebin, as if its package were missing.
without_decoder() {
  local status=0
  encode_video "x264enc tune=zerolatency ! mp4mux" video.mp4
  GST_PLUGIN_FEATURE_RANK=avdec_h264:NONE,openh264dec:NONE,vah264dec:NONE,v4l2slh264dec:NONE demo video.mp4 || status=$?
  [ "$status" = 4 ]
  grep -q "H.264" demo.txt
  grep -q "gstreamer1.0-libav" demo.txt
}

with_sound() {
  launch videotestsrc num-buffers=12 ! video/x-raw,width=320,height=240 ! x264enc tune=zerolatency ! mp4mux name=m \
    ! filesink location=video.mp4 audiotestsrc num-buffers=12 ! avenc_aac ! m.
  demo --check-every 1 video.mp4
  well 12 12
}

case_ "H.264 in MP4" video "x264enc tune=zerolatency ! mp4mux"
case_ "H.264 in MP4 with sound" with_sound
case_ "no decoder: the package is named" without_decoder
finish
