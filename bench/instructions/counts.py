#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions that the A65 operations execute for each element, counted under QEMU.

counts.py --plugin PLUGIN --tables FOLDER --wrapper COMMAND --programs PROGRAM... [--update]
                compares the counts with the tables and fails where one is more than 5 % higher, or where a case is
                missing on either side; with --update writes the tables
counts.py --self-check
                proves that a higher count, a missing row and an unknown row are found

COMMAND runs an arm64 program. FOLDER has a table for each operation, OPERATION.tsv. A line is level, case, elements, instructions and
instructions an element. Times under QEMU say nothing; counts are repeatable: two runs differ by nothing.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ALLOWED_GROWTH = 0.05
HEAD = """\
# Instructions of one call of the operation, all of them: checks of execute, loops, row kernels, libc.
# Compiler, flags and counting: docs/testing.md. Written by `./run arm64 --update-counts`.
# level\tcase\telements\tinstructions\tinstructions an element
"""


def count_program(program, wrapper, plugin):
    """{(level, case): (elements, instructions)} of one program."""
    with tempfile.TemporaryDirectory(prefix="simaai-counts-") as folder:
        marks = pathlib.Path(folder) / "marks"
        environment = dict(os.environ, QEMU_PLUGIN=f"file={plugin},out={marks}", LD_BIND_NOW="1")
        done = subprocess.run([*wrapper, program], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        spent = dict(map(int, line.split()) for line in marks.read_text().splitlines())
    counts = {}
    marks_only = spent[1]
    for line in done.stdout.splitlines():
        number, level, name, elements = line.split("\t")
        if int(number):
            counts[level, name] = int(elements), spent[2 * int(number) + 1] - marks_only
    if not counts:
        raise RuntimeError(f"{program} ran no case")
    return counts


def render(counts):
    rows = [f"{level}\t{name}\t{elements}\t{instructions}\t{instructions / elements:.3f}\n"
            for (level, name), (elements, instructions) in sorted(counts.items())]
    return HEAD + "".join(rows)


def write_tables(folder, counts):
    for operation in {name.split("/")[0] for _, name in counts}:
        own = {key: value for key, value in counts.items() if key[1].startswith(operation + "/")}
        (folder / f"{operation}.tsv").write_text(render(own))


def parse(text):
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {(level, name): (int(elements), int(instructions)) for level, name, elements, instructions, _ in rows}


def compare(recorded, counted):
    """Faults, and cases that became cheaper by more than the tolerance."""
    faults = [f"{level} {name}: in the table, but not counted" for level, name in sorted(recorded.keys() - counted.keys())]
    faults += [f"{level} {name}: counted, but not in the table" for level, name in sorted(counted.keys() - recorded.keys())]
    cheaper = []
    for key in sorted(recorded.keys() & counted.keys()):
        before, now = recorded[key][1], counted[key][1]
        text = f"{' '.join(key)}: {now} instructions instead of {before} ({now / before - 1:+.1%})"
        if now > before * (1 + ALLOWED_GROWTH):
            faults.append(text)
        elif now < before * (1 - ALLOWED_GROWTH):
            cheaper.append(text)
    return faults, cheaper


def self_check():
    recorded = {("neon", "a"): (10, 1000), ("neon", "b"): (10, 1000)}
    planted = [({("neon", "a"): (10, 1051), ("neon", "b"): (10, 1000)}, 1, 0),
               ({("neon", "a"): (10, 1050), ("neon", "b"): (10, 949)}, 0, 1),
               ({("neon", "a"): (10, 1000)}, 1, 0),
               ({**recorded, ("neon", "c"): (10, 1000)}, 1, 0)]
    for counted, faults, cheaper in planted:
        found = compare(parse(render(recorded)), parse(render(counted)))
        if (len(found[0]), len(found[1])) != (faults, cheaper):
            print(f"self-check: {counted} gave {found}")
            return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-check", action="store_true")
    parser.add_argument("--plugin", type=pathlib.Path)
    parser.add_argument("--tables", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--wrapper", nargs="+", default=[])
    parser.add_argument("--programs", nargs="+", default=[])
    arguments = parser.parse_args()
    if arguments.self_check:
        return self_check()
    counted = {}
    for program in arguments.programs:
        counted.update(count_program(program, arguments.wrapper, arguments.plugin))
    if arguments.update:
        write_tables(arguments.tables, counted)
        print(f"{arguments.tables}: {len(counted)} cases")
        return 0
    recorded = {}
    for path in arguments.tables.glob("*.tsv"):
        recorded.update(parse(path.read_text()))
    faults, cheaper = compare(recorded, counted)
    for text in faults:
        print(f"FAILED: {text}")
    if cheaper:
        print(f"{len(cheaper)} cases became cheaper; record them with ./run arm64 --update-counts:")
        print("\n".join(cheaper))
    print(f"{len(counted)} cases counted, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
