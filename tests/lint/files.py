# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every file: name, licence line, purpose, size, and no path that exists on one machine only."""
import re

MAX_LINES = 500
SPDX = "SPDX-License-Identifier: LGPL-2.1-or-later"
CPP = (".cpp", ".h", ".c")
SCRIPTS = (".py", ".sh", "meson.build", "meson_options.txt", "CMakeLists.txt", ".cmake")
DATA = ("LICENSE",)
# Folders that exist where a program was developed, not where it is built. Written apart: this file is checked too.
MACHINE_PATH = re.compile(
    r"(?<![\w.$}*-])/(?:" + "|".join(["wo" "rk", "fa" "rm", "ho" "me", "Us" "ers", "ro" "ot", "tmp/bash" "_jobs"]) + r")/"
    + r"|\." "library")


def is_script(tree, name):
    return name.endswith(SCRIPTS) or tree.text(name).startswith("#!")


def check(tree):
    for name in tree.files:
        if not (name[0].isalpha() or name[0] == "."):
            yield f"{name}: not the name of a file: a program wrote it by mistake"
        if name in DATA or b"\0" in (tree.root / name).read_bytes()[:8192]:
            continue
        lines = tree.text(name).splitlines()
        if len(lines) > MAX_LINES:
            yield f"{name}:{len(lines)}: {len(lines)} lines, at most {MAX_LINES} are allowed: look for a seam"
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                yield f"{name}:{number}: path of one machine"
        if name.endswith(CPP):
            if not lines or lines[0] != "// " + SPDX:
                yield f"{name}:1: the licence line is missing"
            elif len(lines) < 2 or not lines[1].startswith("// "):
                yield f"{name}:2: the line that states the purpose of the file is missing"
        elif is_script(tree, name) and not any(line == "# " + SPDX for line in lines[:2]):
            yield f"{name}:1: the licence line is missing"


GOOD = "// " + SPDX + "\n// Adds numbers.\n"
PLANTED = [
    ({"a.cpp": GOOD, "b.sh": "#!/bin/sh\n# " + SPDX + "\n", "c.md": "text, src" "/wo" "rk/x\n"}, ""),
    ({"a.cpp": "int a;\n"}, "licence"),
    ({"a.h": "// " + SPDX + "\nint a;\n"}, "purpose"),
    ({"tool": "#!/bin/sh\ntrue\n"}, "licence"),
    ({"sub/meson.build": "x = 1\n"}, "licence"),
    ({"a.cpp": GOOD + "int a;\n" * 499}, "501 lines"),
    ({"a.cpp": GOOD + 'auto p = "/wo' 'rk/x";\n'}, "one machine"),
    ({"-": GOOD}, "by mistake"),
    ({"a.md": "see /ho" "me/me/x\n"}, "one machine"),
]
