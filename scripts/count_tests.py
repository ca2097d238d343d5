#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums the results of several Meson test runs and prints "N passed, N failed" as the last line.

Each argument is a path without suffix: PATH.junit.xml counts the cases inside the programs, PATH.json the programs,
which can fail after all of their cases passed (a leak report at exit, for instance). With --self-check it proves on
planted results that it counts what it should.
"""
import json
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

GOOD = {"OK", "EXPECTEDFAIL"}
# Meson copies what a program printed, colours and binary data included; XML cannot hold these characters.
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def count(stem):
    passed = failed = 0
    text = pathlib.Path(stem + ".junit.xml").read_text(encoding="utf-8", errors="replace")
    for case in xml.etree.ElementTree.fromstring(NOT_IN_XML.sub("?", text)).iter("testcase"):
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


def self_check():
    junit = (b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites><testsuite>"
             b"<testcase name='a'/><testcase name='b'><failure/></testcase><testcase name='c'><skipped/></testcase>"
             b"<testcase name='d'/><system-out>%s</system-out></testsuite></testsuites>")
    with tempfile.TemporaryDirectory() as folder:
        stem = pathlib.Path(folder) / "planted"
        for output in (b"plain", b"\x1b[31mcolour\x1b[0m", b"\x00\xff\xef\xbf\xbe", "\u00b5s".encode()):
            for bad_programs, failed in ((0, 1), (1, 1), (2, 2)):
                stem.with_suffix(".junit.xml").write_bytes(junit % output)
                results = ["OK", "SKIP"] + ["TIMEOUT"] * bad_programs
                stem.with_suffix(".json").write_text("\n".join(json.dumps({"result": each}) for each in results))
                assert count(str(stem)) == (2, failed), (output, bad_programs, count(str(stem)))
    print("planted results are counted")
    return 0


if __name__ == "__main__":
    sys.exit(self_check() if sys.argv[1:] == ["--self-check"] else main(sys.argv[1:]))
