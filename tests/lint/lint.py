#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one check over the sources: lint.py CHECK [--root DIR] [--build DIR] [--self-check].

A check is a module of this folder with `check(tree)`, which yields "path:line: text", and PLANTED: pairs of files
(path -> text) and a word. --self-check writes each pair to an empty folder and expects a finding with that word; an
empty word means that the files are in order and nothing may be found. Exit status: 0 clean, 1 findings, 77 not possible.
"""
import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED_FOLDERS = {".git", ".cache", "__pycache__", "subprojects"}


class CannotRun(Exception):
    """The tool that the check needs is not there."""


class Tree:
    """The files of a source tree and where its build folder is."""

    def __init__(self, root, build=None):
        self.root = pathlib.Path(root)
        self.build = pathlib.Path(build) if build else None
        self.files = sorted(self._tracked() or self._walk())

    def _tracked(self):
        if not (self.root / ".git").exists():
            return []
        command = ["git", "-c", "safe.directory=*", "-C", str(self.root), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
        try:
            names = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
        except (OSError, subprocess.CalledProcessError):
            return []
        return [name for name in names if name and (self.root / name).is_file()]

    def _walk(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS and not f.startswith("build")]
            found += [str((pathlib.Path(folder) / name).relative_to(self.root)) for name in names]
        return found

    def sources(self, *suffixes):
        return [name for name in self.files if name.endswith(suffixes)]

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")


def self_check(module):
    missed = []
    for number, (files, word) in enumerate(module.PLANTED):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = list(module.check(Tree(folder)))
            if word and not any(word in line for line in found):
                missed.append(f"planted violation {number} ({word}) was not found, only {found}")
            if not word and found:
                missed.append(f"files in order ({number}) were refused: {found}")
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("check")
    parser.add_argument("--root", default=".")
    parser.add_argument("--build")
    parser.add_argument("--self-check", action="store_true")
    arguments = parser.parse_args()
    module = importlib.import_module(arguments.check)
    try:
        if arguments.self_check:
            found = self_check(module)
        else:
            found = list(module.check(Tree(arguments.root, arguments.build)))
    except CannotRun as reason:
        print(reason)
        return 77
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    # The checks import this file under its own name: one CannotRun for all.
    sys.modules["lint"] = sys.modules["__main__"]
    sys.exit(main())
