#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles every case of negative.cpp and expects it to be refused with its message.

usage: negative.py SOURCE COMPILER [ARGUMENT ...]

CASE=0, the text of all #else branches, must compile: it proves that nothing but the case is wrong.
"""
import concurrent.futures
import os
import re
import subprocess
import sys


def compile_case(compiler, source, number):
    # Plain English messages with straight quotes, whatever the user's locale is.
    result = subprocess.run(compiler + [f'-DCASE={number}', '-fsyntax-only', source],
                            capture_output=True, text=True, env=dict(os.environ, LC_ALL='C'))
    return number, result.returncode, result.stderr


def verdict(number, status, text, expected):
    """What is wrong with a compilation, or None."""
    if number == 0:
        return None if status == 0 else 'the positive control does not compile:\n' + text
    if status == 0:
        return 'compiles, but must be refused'
    errors = '\n'.join(line for line in text.splitlines() if 'error:' in line or 'note:' in line)
    if expected not in errors:
        return f'is refused without saying "{expected}":\n{text}'
    return None


def main():
    source, compiler = sys.argv[1], sys.argv[2:] + ['-std=c++20', '-fdiagnostics-color=never']
    with open(source, encoding='utf-8') as file:
        cases = {int(n): message for n, message in
                 re.findall(r'^// case (\d+): (.*)$', file.read(), re.MULTILINE)}
    assert sorted(cases) == list(range(1, len(cases) + 1)) and len(cases) >= 20, sorted(cases)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_case, compiler, source, n) for n in range(len(cases) + 1)]
        for job in jobs:
            number, status, text = job.result()
            problem = verdict(number, status, text, cases.get(number))
            if problem:
                failures += 1
                print(f'case {number}: {problem}')
    print(f'{len(cases)} refused programs and one accepted, {failures} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
