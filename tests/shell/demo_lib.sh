# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by the tests of the demo program.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

demo() {
  local status
  env -u DISPLAY -u WAYLAND_DISPLAY timeout 300 "$DEMO" "$@" >demo.txt 2>&1
  status=$?
  sed 's/^/# /' demo.txt
  return "$status"
}

# well: the last demo compared what it had to and saved both pictures.  well FRAMES CHECKED
well() {
  grep -q "^frames *$1 in" demo.txt
  grep -q "^checked *$2 frames, .* equal" demo.txt
  for element in totensor casttess detesscast tovideo; do
    grep -Eq "^ *$element +meta +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ " demo.txt
    ! grep -Eq "^ *$element +meta +0\.000 " demo.txt
  done
  grep -q "<svg" latency.html
  for picture in before after; do
    file_starts_with $picture.png '\x89PNG'
  done
}

file_starts_with() { [ "$(head -c 4 "$1" | od -An -c)" = "$(printf "$2" | od -An -c)" ]; }

# encode_video ENCODER_AND_MUXER FILE: 12 frames.
encode_video() {
  # shellcheck disable=SC2086
  launch videotestsrc num-buffers=12 ! video/x-raw,width=320,height=240 ! $1 ! filesink location="$2"
}

# video ENCODER_AND_MUXER: every frame of such a file is compared.
video() {
  encode_video "$1" video
  demo --check-every 1 "$PWD/video"
  well 12 12
}
