#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The example: its accuracy, its scores from tiles and from linear tensors, and weights that are no accident.
. "$(dirname "$0")/../shell/lib.sh"

example=$source_dir/examples/classifier

# run FOLDER [VIDEO]: its output becomes a diagnostic.
run() {
  local status=0
  bash "$example/classify.sh" "${2:-}" "$1" >"$1.log" 2>&1 || status=$?
  sed 's/^/# /' "$1.log"
  return "$status"
}

on_the_demo_clip() {
  run out
  # score fails below 0.9; a third of the labels is what guessing reaches.
  grep -Eq '^accuracy (0\.9|1\.0)' out.log
  grep -q '^60 frames: scores from tiles equal those from the linear tensor, bit for bit$' out.log
  [ -s out/scores-0.png ]
  [ "$(stat -c %s out/scores.raw)" = $((60 * 480 * 160 * 3)) ]
}

# The same data scored with the layers' outputs exchanged must fall below what the test demands.
wrong_weights_are_noticed() {
  python3 "$example/model.py" weights .
  python3 "$example/model.py" labelled .
  launch simaainpysrc location=blocks.npy ! simaaimatmul weights=layer1.tgmx multiplier=-260 shift=15 \
    ! simaaimatmul weights=layer2.tgmx multiplier=512 shift=15 ! simaainpysink location=scores.npy
  if python3 "$example/model.py" score . scores.npy >score.log; then
    return 1
  fi
}

case_ "the demo clip and the labelled set" on_the_demo_clip
case_ "wrong weights are noticed" wrong_weights_are_noticed
finish
