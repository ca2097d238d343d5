# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums the results of several Meson test runs and prints "N passed, N failed" as the last line.

Each argument is a path without suffix: PATH.junit.xml counts the cases inside the programs, PATH.json the programs,
which can fail after all of their cases passed (a leak report at exit, for instance).
"""
import json
import pathlib
import sys
import xml.etree.ElementTree

GOOD = {"OK", "EXPECTEDFAIL"}


def count(stem):
    passed = failed = 0
    for case in xml.etree.ElementTree.parse(stem + ".junit.xml").iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
    lines = pathlib.Path(stem + ".json").read_text(encoding="utf-8").splitlines()
    programs = [json.loads(line)["result"] for line in lines if line.strip()]
    bad = sum(result not in GOOD and result != "SKIP" for result in programs)
    return passed, max(failed, bad)


def main(stems):
    total_passed = total_failed = 0
    for stem in stems:
        passed, failed = count(stem)
        print(f"{pathlib.Path(stem).name}: {passed} passed, {failed} failed")
        total_passed += passed
        total_failed += failed
    print(f"{total_passed} passed, {total_failed} failed")
    return 0 if total_passed and not total_failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
