#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""simaai-ev74-packet against packets that this test assembles by itself: packet_tool_test.py PROGRAM."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

CAST = (struct.pack("<IHHIIBBBBBBH", 0x34375645, 1, 1, 208, 0, 3, 2, 2, 0, 0, 0, 0)
        + struct.pack("<QQQQ", 0, 0, 24, 12) + struct.pack("<6q", 2, 3, 0, 0, 0, 0)
        + struct.pack("<6q", 12, 4, 0, 0, 0, 0) + struct.pack("<6q", 6, 2, 0, 0, 0, 0) + struct.pack("<Q", 0))
TESS = (struct.pack("<IHHIIBBBBBBH", 0x34375645, 1, 2, 216, 1, 1, 1, 2, 2, 0xF9, 1, 0)
        + struct.pack("<QQQQ", 4096, 8192, 9, 32) + struct.pack("<6q", 2, 3, 0, 0, 0, 0)
        + struct.pack("<4q", 1, 1, 2, 3) + struct.pack("<4i", -1, -1, 0, 1) + struct.pack("<QQ", 0, 0)
        + struct.pack("<6q", 6, 1, 0, 0, 0, 0))
CASES = [
    ("cast", CAST, 0, {0: ("magic", "0x34375645"), 6: ("operation", "1 cast"), 8: ("packet bytes", "208"),
                       16: ("source dtype", "3 float32"), 17: ("destination dtype", "2 bfloat16"), 18: ("rank", "2"),
                       19: ("channel storage", "0 none"), 40: ("source bytes", "24"), 48: ("destination bytes", "12"),
                       56: ("shape", "2 3 0 0 0 0"), 104: ("source strides", "12 4 0 0 0 0"),
                       152: ("destination strides", "6 2 0 0 0 0"), 200: ("reserved", "0x0")},
     "valid, waits for both addresses"),
    ("tess", TESS, 0, {6: ("operation", "2 tess"), 12: ("flags", "0x1 STRIDED"), 19: ("channel storage", "2 pad16"),
                       20: ("channel fill", "-7"), 21: ("channel fill present", "1"),
                       24: ("source address", "0x1000"), 32: ("destination address", "0x2000"),
                       104: ("tile shape D H W C", "1 1 2 3"), 136: ("axes D H W C", "-1 -1 0 1"),
                       152: ("reserved", "0x0 0x0"), 168: ("linear strides", "6 1 0 0 0 0")}, "valid, can be run"),
    ("cut", CAST[:57], 1, {48: ("destination bytes", "12")}, "field at byte 8: expected 104, found 57"),
    ("empty", b"", 1, {}, "field at byte 8: expected 104, found 0"),
    ("one side bound", CAST[:24] + struct.pack("<Q", 64) + CAST[32:], 1, {24: ("source address", "0x40")},
     "field at byte 32"),
    ("version", CAST[:4] + b"\x02\x00" + CAST[6:], 1, {4: ("version", "2")}, "field at byte 4: expected 1, found 2"),
    ("operation", CAST[:6] + b"\x09\x00" + CAST[8:], 1, {6: ("operation", "9 unknown"), 104: ("bytes", None)},
     "field at byte 6"),
    ("long", CAST + b"\xab", 1, {208: ("bytes", "ab")}, "field at byte 8: expected 208, found 209"),
    ("stride", CAST[:104] + struct.pack("<q", -12) + CAST[112:], 1, {104: ("source strides", "-12 4 0 0 0 0")},
     "field at byte 104"),
]


def main():
    program = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, packet, status, fields, verdict in CASES:
            path = pathlib.Path(folder) / "packet"
            path.write_bytes(packet)
            done = subprocess.run([program, "dump", str(path)], capture_output=True, text=True, check=False)
            piped = subprocess.run([program, "dump", "-"], input=packet, capture_output=True, check=False)
            lines = done.stdout.splitlines()
            found = {}
            for line in lines[:-1]:
                offset, rest = re.match(r" *(\d+)  (.*)", line).groups()
                found[int(offset)] = (rest[:21].rstrip(), rest[22:])
            wrong = [f"{at}: {found.get(at)} is not {field}" for at, field in fields.items()
                     if at not in found or found[at][0] != field[0] or (field[1] and found[at][1] != field[1])]
            if not lines or not lines[-1].startswith("verdict: ") or verdict not in lines[-1]:
                wrong.append(f"last line is '{lines[-1:]}', expected '{verdict}'")
            if done.returncode != status or piped.returncode != status or piped.stdout.decode() != done.stdout:
                wrong.append(f"status {done.returncode}, {piped.returncode} from a pipe, expected {status}")
            failed += bool(wrong)
            print("ok" if not wrong else "not ok", name, *wrong, sep="\n  " if wrong else " ")
    for arguments, status in ([], 2), (["dump"], 2), (["dump", "/nonexistent"], 2), (["--help"], 0):
        done = subprocess.run([program, *arguments], capture_output=True, check=False)
        if done.returncode != status:
            failed += 1
            print("not ok", arguments, done.returncode)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
