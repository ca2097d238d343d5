#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the seven matrix suites keep at least the number of cases that they promise.

usage: count_cases.py DIRECTORY | --self-check
"""
import pathlib
import re
import sys
import tempfile

LEAST = {'scalar_ref': 5, 'matmul': 6, 'relocation': 7, 'wire': 10, 'borrowed': 6,
         'addressing': 5, 'requant': 10}
CASE = re.compile(r'^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*\w+,\s*(?!DISABLED_)\w+\)', re.MULTILINE)


def problems(directory):
    found = []
    for suite, least in LEAST.items():
        path = directory / f'{suite}.cpp'
        count = len(CASE.findall(path.read_text(encoding='utf-8'))) if path.exists() else 0
        if count < least:
            found.append(f'{path}: {count} cases, at least {least} are required')
    return found


def self_check():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for suite, least in LEAST.items():
            cases = ''.join(f'TEST(Suite, Case{n}) {{}}\n' for n in range(least))
            (directory / f'{suite}.cpp').write_text(cases, encoding='utf-8')
        if problems(directory):
            return 'complete suites are refused'
        path = directory / 'wire.cpp'
        path.write_text(path.read_text().replace('Case3', 'DISABLED_Case3'), encoding='utf-8')
        if len(problems(directory)) != 1:
            return 'a disabled case is counted'
        path.unlink()
        if len(problems(directory)) != 1:
            return 'a missing suite goes unnoticed'
    return None


def main():
    if sys.argv[1] == '--self-check':
        problem = self_check()
        print(problem or 'planted violations are found')
        return 1 if problem else 0
    found = problems(pathlib.Path(sys.argv[1]))
    print('\n'.join(found) or 'every suite has its cases')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
