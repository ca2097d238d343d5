# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each operation of the list in the top-level meson.build has every cell of its row, or the cell is listed as pending."""
import re

PENDING = "tests/lint/pending_cells.txt"
# Cell -> where its files are. {op} stands for the operation, * for anything.
CELLS = {
    "contract": ("kernels/include/simaai/kernels/ops/{op}.h", "kernels/ops/{op}/*.cpp"),
    "a65": ("kernels/include/simaai/kernels/a65/{op}.h", "kernels/a65/{op}/*.cpp"),
    "wire": ("kernels/wire/{op}/*.h",),
    "ev74": ("kernels/include/simaai/kernels/ev74/{op}.h", "kernels/ev74/{op}/*.cpp"),
    "firmware": ("firmware/{op}/*.cpp",),
    "element": ("gst-plugins/{op}/*.cpp",),
    "tests": ("tests/a65/a65_{op}_contract.cpp",),
    "bench": ("bench/*/{op}/*.cpp",),
    "doc": ("docs/ops/{op}.md",),
}


def pattern(path, op):
    return re.compile(re.escape(path.format(op=op)).replace(r"\*", ".*") + "$")


def present(files, op, cell):
    """How many of the cell's places are filled, and how many there are."""
    patterns = [pattern(path, op) for path in CELLS[cell]]
    return sum(any(p.match(name) for name in files) for p in patterns), len(patterns)


def read_pending(tree, ops):
    """(operation, cell) -> line number; lines that name neither are findings."""
    pending, findings = {}, []
    lines = tree.text(PENDING).splitlines() if PENDING in tree.files else []
    for number, line in enumerate(lines, 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in ops or words[1] not in CELLS:
            findings.append(f"{PENDING}:{number}: expected an operation and a cell, found '{line}'")
        else:
            pending[tuple(words)] = number
    return pending, findings


def check(tree):
    match = re.search(r"^ops = \[(.*?)\]", tree.text("meson.build"), re.M | re.S)
    if not match:
        yield "meson.build:1: the list of operations `ops = [...]` is not found"
        return
    ops = re.findall(r"'(\w+)'", match.group(1))
    pending, findings = read_pending(tree, ops)
    yield from findings
    for op in ops:
        for cell, places in CELLS.items():
            filled, wanted = present(tree.files, op, cell)
            where = " and ".join(place.format(op=op) for place in places)
            if (op, cell) in pending and filled == wanted:
                yield f"{PENDING}:{pending[op, cell]}: {op} {cell} is there ({where}): remove the line"
            elif (op, cell) not in pending and filled < wanted:
                yield f"meson.build:1: {op} has no {cell}: {where} is missing"


ROW = {path.format(op="cast").replace("*", "a65" if path.startswith(("tests", "bench")) else "a", 1).replace("*", "a"): ""
       for places in CELLS.values() for path in places}
OPS = {"meson.build": "ops = ['cast']\n"}


def without(path):
    return {name: text for name, text in ROW.items() if name != path}


PLANTED = [
    ({**OPS, **ROW}, ""),
    ({**OPS, **without("docs/ops/cast.md"), PENDING: "cast doc # later\n"}, ""),
    ({**OPS, **without("docs/ops/cast.md")}, "cast has no doc"),
    ({**OPS, **without("kernels/include/simaai/kernels/a65/cast.h")}, "cast has no a65"),
    ({**OPS, **ROW, PENDING: "cast firmware\n"}, "remove the line"),
    ({**OPS, **ROW, PENDING: "cast chair\n"}, "expected an operation"),
    ({"meson.build": "ops = ['cast', 'tess']\n", **ROW}, "tess has no contract"),
    ({"meson.build": "project('x')\n"}, "list of operations"),
]
