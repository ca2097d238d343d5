#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the benchmark programs and prints one table of ratios. docs/performance.md explains both."""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

from floors import Row, parts

OPERATIONS = ("casttess", "detesscast", "cast", "tess", "detess")
COLUMNS = (("memcpy", "memcpy"), ("shaped", "best_shaped"), ("oneDNN", "onednn"), ("plain", "plain"), ("Eigen", "eigen"))
LEVELS = ("scalar", "avx2", "avx512", "avx512vbmi", "neon")


def run_program(program, out, flags, pattern):
    """Runs one program; its console output becomes log files, one dot a case goes to standard error."""
    command = [str(program), f"--benchmark_out={out}", "--benchmark_out_format=json", *flags]
    if pattern:
        command.append(f"--benchmark_filter={pattern}")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    out.unlink(missing_ok=True)
    seen = None
    with open(out.with_suffix(".log"), "w", encoding="utf-8") as log, \
            open(out.with_suffix(".err"), "w+", encoding="utf-8") as errors, \
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as process:
        for line in process.stdout:
            log.write(line)
            case = re.match(r"(\S+)/\w+/iterations:", line)
            if case and case.group(1) != seen:
                seen = case.group(1)
                sys.stderr.write(".")
                sys.stderr.flush()
        if process.wait():
            errors.seek(0)
            sys.stderr.write("\n" + errors.read())
        return process.returncode


def ratios_of(entry):
    """Spreads of all peers and of the other levels, by name."""
    return {key[3:-4]: (entry[key[:-4]], entry[key], entry[key[:-4] + "_max"])
            for key in entry if key.startswith("vs_") and key.endswith("_min")}


def missing_peers(label):
    """Peer -> reason, from "peer: reason; peer: reason"."""
    return dict(part.split(": ", 1) for part in label.split("; ") if part)


def read_rows(path):
    """Rows of the default level; the other levels are among its ratios."""
    document = json.loads(path.read_text(encoding="utf-8"))
    level = document["context"]["level"]
    rows = []
    for entry in document["benchmarks"]:
        case, candidate = re.sub(r"/iterations:.*", "", entry["name"]).rsplit("/", 1)
        if candidate == level and not entry.get("error_occurred"):
            rows.append(Row(case, entry["ns"], ratios_of(entry), (entry["read_bytes"], entry["write_bytes"]),
                            entry["channels"], entry["prepare_ns"], missing_peers(entry.get("label", ""))))
    return document["context"], rows


def spread_text(spread):
    return "" if spread is None else f"{spread[0]:5.2f} {spread[1]:.2f}-{spread[2]:.2f}"


def bytes_text(count):
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def time_text(ns):
    return f"{ns / 1e3:.1f} us" if ns >= 1e4 else f"{ns:.1f} ns"


def levels_text(row, level):
    """How much faster the default level is than each other one and than itself on 16-byte aligned buffers."""
    parts = [f"{name} {row.ratios[name][0]:.1f}" for name in LEVELS if name in row.ratios]
    shifted = row.ratios.get(level + "_align16")
    return "  ".join(parts + ([f"align16 {shifted[0]:.2f}"] if shifted else []))


def table_lines(rows, level):
    head = ["case", "traffic", "call", "GB/s", *(title for title, _ in COLUMNS), "floor", "prepare", "other levels"]
    body = []
    for row in rows:
        verdict, notes = row.judge()
        body.append([row.case, bytes_text(row.traffic), time_text(row.ns), f"{row.traffic / row.ns:.1f}",
                     *(spread_text(row.ratio(peer)) for _, peer in COLUMNS),
                     " ".join(filter(None, [verdict, ", ".join(notes) and f"({', '.join(notes)})"])),
                     time_text(row.prepare_ns), levels_text(row, level)])
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    for line in [head, *body]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()


def row_json(row):
    verdict, notes = row.judge()
    return {"case": row.case, "ns": row.ns, "traffic_bytes": row.traffic, "channels": row.channels,
            "prepare_ns": row.prepare_ns, "floor": verdict, "notes": notes,
            "ratios": {peer: dict(zip(("median", "min", "max"), spread)) for peer, spread in row.ratios.items()}}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./run bench", description="Measure the A65 kernels and print a table of ratios.")
    parser.add_argument("filter", nargs="?", default="", help="regular expression on operation/shape/from-to/storage/linear/cache")
    parser.add_argument("--quick", action="store_true", help="a few shapes, about two minutes")
    parser.add_argument("--all", action="store_true", help="every shape in every storage and conversion")
    parser.add_argument("--rounds", type=int, help="rounds, each of which times every candidate once (default 5, with --quick 7)")
    parser.add_argument("--round-us", type=int, help="microseconds a candidate is timed for in a round (default 2000)")
    parser.add_argument("--strict", action="store_true", help="exit status 1 where a floor does not hold")
    parser.add_argument("--table", action="store_true", help="print the table of the last run again, measure nothing")
    parser.add_argument("--smoke", action="store_true", help="build, run and verify the quick cases; the times mean nothing")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def smoke(options):
    """Settings of --smoke; its results stay apart from measured ones."""
    subprocess.run(["ninja", "-C", str(options.build), "bench-programs"], check=True)
    options.quick, options.rounds, options.round_us = True, 1, 1
    return options.build / "bench" / "smoke"


def measure(options, folder):
    flags = ["--quick"] if options.quick else ["--all"] if options.all else []
    flags += [f"--rounds={options.rounds}"] if options.rounds else []
    flags += [f"--round-us={options.round_us}"] if options.round_us else []
    # One core for the whole run: ratios of candidates that ran on different cores mean less.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    failed = []
    for operation in OPERATIONS:
        sys.stderr.write(f"{operation} ")
        program = options.build / "bench" / f"a65_{operation}_benchmark"
        if run_program(program, folder / f"{operation}.json", flags, options.filter):
            failed.append(operation)
        sys.stderr.write("\n")
    return failed


def main():
    options = parse_arguments()
    folder = smoke(options) if options.smoke else options.build / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    failed = [] if options.table else measure(options, folder)
    context, rows = {}, []
    for operation in OPERATIONS:
        path = folder / f"{operation}.json"
        if path.exists() and path.stat().st_size:
            context, found = read_rows(path)
            rows += found
    if not rows:
        what = f"no case matches {options.filter}" if options.filter else "no case was measured"
        sys.exit(f"bench: {what}" + (f"; failed: {' '.join(failed)}" if failed else ""))
    for line in table_lines(rows, context.get("level", "")):
        print(line)
    judged = [row.judge()[0] for row in rows]
    below = judged.count("BELOW")
    bounded = judged.count("roofline")
    print(f"\n{len(rows)} cases, {judged.count('ok') + below + bounded} with a judged floor, {below} below it, "
          f"{bounded} below it at the roofline; "
          f"ratios are peer time / our time at level {context.get('level')}: median, least-most of "
          f"{context.get('rounds')} rounds")
    for row in rows:
        if row.judge()[0] == "BELOW":
            print(f"below: {row.case}: {', '.join(row.judge()[1])}")
    print("\nfloors:")
    verdicts = [(part.title(), *part.verdict(rows)) for part in parts()]
    for title, word, text in verdicts:
        print(f"  {title:48} {word}: {text}")
    document = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "context": context, "rows": [row_json(row) for row in rows],
                "floors": [dict(zip(("floor", "verdict", "detail"), verdict)) for verdict in verdicts]}
    (folder / "table.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if failed:
        sys.exit(f"bench: failed or wrong results: {' '.join(failed)}")
    sys.exit(1 if options.strict and below else 0)


if __name__ == "__main__":
    main()
