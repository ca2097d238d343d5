#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""leaks.py PROGRAM...: runs test programs with the tracer `leaks` of GStreamer; no object of theirs may be left at the end.

The first program is run once more with a planted leak, which must be found: LEAK_ON_PURPOSE=1 in the environment.
"""
import os
import pathlib
import re
import subprocess
import sys

ALIVE = re.compile(r"object-alive, type-name=\(string\)(\w+).*?description=\(string\)(.*?), ref-count")
FILTER = "--gtest_filter=-*Thousand*:*Python*"


def left_behind(program, **more):
    """Objects that were left, or the reason why that is not known."""
    environment = dict(os.environ, GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1", **more)
    done = subprocess.run([program, FILTER], env=environment, capture_output=True, text=True, timeout=300, check=False,
                          errors="replace")
    if done.returncode:
        return [f"status {done.returncode}", *done.stdout.splitlines()[-20:]]
    if "[  PASSED  ]" not in done.stdout:
        return ["no test passed"]
    return [f"{kind} {description[:120]}" for kind, description in ALIVE.findall(done.stderr)]


def main():
    programs = sys.argv[1:]
    failures = 0
    if not left_behind(programs[0], LEAK_ON_PURPOSE="1"):
        print("a planted leak was not found")
        failures += 1
    for program in programs:
        found = left_behind(program)
        print(f"{pathlib.Path(program).name}: {len(found)} objects left")
        print("".join(f"  {line}\n" for line in found[:20]), end="")
        failures += bool(found)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
