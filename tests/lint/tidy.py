# SPDX-License-Identifier: LGPL-2.1-or-later
"""clang-tidy 14 over what ships, as the build folder compiles it, with the checks of .clang-tidy."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess

from lint import CannotRun

CONFIG = pathlib.Path(__file__).resolve().parents[2] / ".clang-tidy"


# Test and benchmark programs take most of the time and find little, because their macros hide the paths.
SHIPPED = ("kernels/", "firmware/", "gst-plugins/")


def tidy(tool, build, source):
    command = [tool, "-p", str(build), "--quiet", f"--config-file={CONFIG}", "--warnings-as-errors=*",
               "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if " error: " in line or " warning: " in line]
    if done.returncode and not lines:
        lines = [f"{source}:1: clang-tidy failed: {(done.stderr or done.stdout).strip()[-400:]}"]
    return lines


def check(tree):
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tool:
        raise CannotRun("clang-tidy is not installed")
    build = tree.build or tree.root
    if tree.build is None:  # self-check: compile commands for the planted files
        entries = [{"directory": str(tree.root), "file": name, "command": f"c++ -std=c++20 -c {name}"}
                   for name in tree.sources(".cpp")]
        (build / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    root = tree.root.resolve()
    sources = {(pathlib.Path(entry["directory"]) / entry["file"]).resolve() for entry in entries}
    names = {str(path.relative_to(root)) for path in sources if path.is_relative_to(root)}
    ours = sorted(name for name in names & set(tree.files) if tree.build is None or name.startswith(SHIPPED))
    found = set()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for lines in pool.map(lambda name: tidy(tool, build, str(root / name)), ours):
            found.update(lines)
    yield from sorted(found)


PLANTED = [
    ({"a.cpp": "int add_one(int a) { return a + 1; }\n"}, ""),
    ({"a.cpp": "int AddOne(int a) { return a + 1; }\n"}, "readability-identifier-naming"),
    ({"a.cpp": "int f() {\n  int* p = nullptr;\n  return *p;\n}\n"}, "NullDereference"),
]
