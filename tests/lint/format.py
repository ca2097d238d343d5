# SPDX-License-Identifier: LGPL-2.1-or-later
"""Formatting: every C and C++ source as clang-format 14 writes it."""
import pathlib
import re
import shutil
import subprocess

from lint import CannotRun

STYLE = pathlib.Path(__file__).resolve().parents[2] / ".clang-format"
VERSION = "14"


def formatter():
    for name in ("clang-format-" + VERSION, "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {VERSION}\.", said):
                return path
    raise CannotRun("clang-format " + VERSION + " is not installed: other versions format differently")


def check(tree):
    tool = formatter()
    names = tree.sources(".cpp", ".h", ".c")
    for start in range(0, len(names), 40):
        command = [tool, "--dry-run", "-Werror", "--ferror-limit=1", f"--style=file:{STYLE}", *names[start:start + 40]]
        said = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False).stderr
        for line in said.splitlines():
            if " error: " in line:
                yield line.replace("error: code should be clang-formatted [-Wclang-format-violations]",
                                   "not formatted: run clang-format -i on this file")


PLANTED = [
    ({"a.cpp": "int f() { return 1; }\n"}, ""),
    ({"a.cpp": "int  f( ) {return 1;}\n"}, "not formatted"),
    ({"sub/b.h": "int* a;\n", "sub/c.h": "int *a;\n"}, "sub/c.h"),
]
