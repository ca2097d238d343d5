#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The demo program on several kinds of source, its printed pipeline, and what it says when something is wrong.
. "$(dirname "$0")/demo_lib.sh"

clip() { demo; well 90 18; file_starts_with clip.webm '\x1a\x45\xdf\xa3'; }

# The printed command runs as it stands.
pasted() {
  demo --frames 3 videotestsrc
  sed -n '/^GST_PLUGIN_PATH=/,/^$/p' demo.txt >command.sh
  grep -q simaaicasttess command.sh
  LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 bash -e command.sh
}

# picture WIDTH HEIGHT ENCODER FILE
picture() {
  launch videotestsrc num-buffers=1 ! "video/x-raw,width=$1,height=$2" ! videoconvert ! "$3" ! filesink location="$4"
  demo "$4"
  well 1 1
}

odd_name() { picture 320 240 pngenc "a name with 'quotes' & more.png"; }

by_uri() {
  launch videotestsrc num-buffers=1 ! jpegenc ! filesink location=a.jpg
  demo "file://$PWD/a.jpg"
  well 1 1
}

test_pattern() { demo videotestsrc --frames 7; well 7 2; }

# refused STATUS TEXT ARGUMENTS...
refused() {
  local expected=$1 text=$2 status=0
  shift 2
  demo "$@" || status=$?
  [ "$status" = "$expected" ] || { echo "# status $status, expected $expected"; return 1; }
  grep -q "$text" demo.txt
}

no_video() {
  head -c 5000 /dev/urandom >noise.bin
  refused 1 simaai-demo: noise.bin
}

only_sound() {
  launch audiotestsrc num-buffers=5 ! wavenc ! filesink location=a.wav
  refused 1 simaai-demo: a.wav
}

case_ "no argument: a clip is encoded and played" clip
case_ "the printed pipeline can be pasted" pasted
case_ "JPEG photo" picture 1280 720 jpegenc a.jpg
case_ "PNG of odd size" picture 643 481 pngenc a.png
case_ "file name with spaces and quotes" odd_name
case_ "VP8 in Matroska" video "vp8enc deadline=1 cpu-used=8 ! matroskamux"
case_ "URI" by_uri
case_ "videotestsrc" test_pattern
case_ "missing file" refused 1 "does not exist" missing.mp4
case_ "missing camera" refused 1 "does not exist" /dev/video999
case_ "folder" refused 1 "is a folder" .
case_ "unknown option" refused 2 "see --help" --speed 3
case_ "bad number" refused 2 "see --help" --frames none
case_ "neither video nor picture" no_video
case_ "sound only" only_sound
finish
