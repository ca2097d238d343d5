#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""exported_symbols.py LIBRARY LIST HEADER...: the interface of libgstsimaaitensor-1.0.

What the library exports, what its headers declare and document, and what LIST says are the same functions. LIST only ever grows
while the soname stays: a line less breaks programs.
"""
import pathlib
import re
import subprocess
import sys

SONAME = "libgstsimaaitensor-1.0.so.0"
# Instrumented libraries export helpers of their sanitizer.
RUNTIME = re.compile(r"^(_init|_fini|__bss_start|_edata|_end|__(asan|ubsan|tsan|odr_asan|sanitizer)\w*)")


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    lines = tool("nm", "--dynamic", "--defined-only", library).splitlines()
    # An absolute symbol is the name of the version.
    names = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}
    return {name for name in names if not RUNTIME.match(name)}


def declared(headers):
    """Functions of the headers; those without a comment that names all their parameters are second."""
    names, undocumented = set(), []
    for header in headers:
        text = pathlib.Path(header).read_text(encoding="utf-8")
        comments = {match.group(1): match.group(0) for match in re.finditer(r"/\*\*\n \* (\w+):.*?\*/", text, re.S)}
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for match in re.finditer(r"GST_SIMAAI_API\s[\w\s*]*?\b(gst_simaai_\w+)\(([^;]*)\);", code):
            name, parameters = match.groups()
            names.add(name)
            if name.endswith("_get_type"):
                continue
            wanted = [re.search(r"(\w+)$", part.strip()).group(1) for part in parameters.split(",") if part.strip() != "void"]
            comment = comments.get(name, "")
            if not comment or any(f"@{one}:" not in comment for one in wanted):
                undocumented.append(name)
    return names, undocumented


def main():
    library, listed, *headers = sys.argv[1:]
    failures = []
    wanted = set(pathlib.Path(listed).read_text(encoding="utf-8").split())
    found, (in_headers, undocumented) = exported(library), declared(headers)
    for what, names in (("exported and not in the list", found - wanted), ("in the list and not exported", wanted - found),
                        ("declared and not in the list", in_headers - wanted), ("in the list and not declared", wanted - in_headers),
                        ("without a comment on each parameter", undocumented)):
        failures += [f"{name}: {what}" for name in sorted(names)]
    soname = re.search(r"SONAME.*\[(.+)\]", tool("readelf", "--dynamic", library)).group(1)
    if soname != SONAME:
        failures.append(f"the soname is {soname}; expected {SONAME}")
    if len(wanted) < 40:
        failures.append(f"the list has {len(wanted)} names only")
    print("\n".join(failures) or f"{len(wanted)} functions")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
