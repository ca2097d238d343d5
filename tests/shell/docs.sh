#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every gst-launch-1.0 command that README and the pages of docs/ops print in a block of language sh.
. "$(dirname "$0")/lib.sh"

# blocks FILE: writes the n-th such block to block-n.sh and prints how many there are.
blocks() {
  awk '/^```sh$/ { inside = 1; text = ""; next }
       /^```$/ { if (inside && text ~ /gst-launch-1\.0/) { print text > ("block-" ++n ".sh") } inside = 0; next }
       inside { text = text $0 "\n" }
       END { print n + 0 }' "$1"
}

run_block() {
  LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 bash -e "$1" >log.txt 2>&1 || { sed 's/^/# /' log.txt; return 1; }
}

# The C++ of README is compiled against the public headers.
compiles() {
  awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source_dir/README.md" >readme.cpp
  grep -q check_inference readme.cpp
  c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$source_dir/kernels/include" readme.cpp
}

case_ "README, C++ example" compiles
total=0
for page in "$source_dir/README.md" "$source_dir"/docs/ops/*.md; do
  count=$(blocks "$page")
  for number in $(seq 1 "$count"); do
    case_ "${page#"$source_dir"/}, pipeline $number" run_block "$scratch/block-$number.sh"
    total=$((total + 1))
  done
done
enough() { [ "$total" -ge 10 ]; }
case_ "at least five pipelines in README and one for each operation" enough
finish
