#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws docs/performance.svg from the table.json of ./run bench: ratio to memcpy against footprint, hot and cold."""
import argparse
import json
import math
import pathlib

# (title, operations, conversion, colour)
SERIES = (
    ("CastTess f32", ("casttess",), "f32-bf16", "#1f77b4"),
    ("CastTess f16", ("casttess",), "f16-bf16", "#9467bd"),
    ("DetessCast to f32", ("detesscast",), "bf16-f32", "#d62728"),
    ("Cast f32 to bf16", ("cast",), "f32-bf16", "#ff7f0e"),
    ("Cast bf16 to f32", ("cast",), "bf16-f32", "#8c564b"),
    ("Tess, Detess bf16", ("tess", "detess"), "bf16-bf16", "#2ca02c"),
    ("Tess, Detess int8", ("tess", "detess"), "i8-i8", "#17becf"),
)
LEFT, TOP, WIDTH, HEIGHT, GAP = 56, 34, 380, 300, 48
LEAST, MOST = 1e3, 3e7  # bytes
HIGHEST = 2.0  # ratio


def points(rows, series, cache):
    _, operations, conversion, _ = series
    for row in rows:
        operation, _, dtypes, storage, linear, when = row["case"].split("/")
        main = storage in ("pad16", "linear") and linear == "dense"
        if operation in operations and dtypes == conversion and when == cache and main and "memcpy" in row["ratios"]:
            if row["traffic_bytes"] >= LEAST:
                yield row["traffic_bytes"], row["ratios"]["memcpy"]["median"], row["case"]


def text(x, y, words, anchor="middle", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def panel(rows, cache, left):
    def across(traffic):
        return left + WIDTH * math.log(traffic / LEAST) / math.log(MOST / LEAST)

    def up(ratio):
        return TOP + HEIGHT * (1 - min(ratio, HIGHEST) / HIGHEST)

    yield text(left + WIDTH / 2, TOP - 12, f"{cache} buffers", size=13)
    yield f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>'
    for traffic, name in ((1e3, "1 kB"), (1e4, "10 kB"), (1e5, "100 kB"), (1e6, "1 MB"), (1e7, "10 MB")):
        yield f'<path d="M{across(traffic):.1f} {TOP}v{HEIGHT}" stroke="#ddd"/>'
        yield text(across(traffic), TOP + HEIGHT + 15, name)
    for tenth in range(0, int(HIGHEST * 10) + 1, 5):
        ratio = tenth / 10
        yield f'<path d="M{left} {up(ratio):.1f}h{WIDTH}" stroke="{"#888" if ratio == 1 else "#ddd"}"/>'
        yield text(left - 6, up(ratio) + 4, f"{ratio:.1f}", anchor="end")
    for series in SERIES:
        for traffic, ratio, case in points(rows, series, cache):
            yield (f'<circle cx="{across(traffic):.1f}" cy="{up(ratio):.1f}" r="3.2" fill="{series[3]}" '
                   f'fill-opacity="0.75"><title>{case}: {ratio:.2f}</title></circle>')
    yield text(left + WIDTH / 2, TOP + HEIGHT + 32, "bytes read and written a call")


def drawing(document):
    width, height = LEFT + 2 * WIDTH + GAP + 20, TOP + HEIGHT + 92
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" fill="#222">')
    yield '<!-- SPDX-License-Identifier: LGPL-2.1-or-later. Drawn by bench/plot.py. -->'
    yield f'<rect width="{width}" height="{height}" fill="#fff"/>'
    yield from panel(document["rows"], "hot", LEFT)
    yield from panel(document["rows"], "cold", LEFT + WIDTH + GAP)
    middle = TOP + HEIGHT / 2
    yield (f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle" font-size="11">'
           'time of memcpy of equal traffic / our time</text>')
    shown = [series for series in SERIES if any(True for cache in ("hot", "cold") for _ in points(document["rows"], series, cache))]
    for index, series in enumerate(shown):
        x, y = LEFT + 210 * (index % 4), TOP + HEIGHT + 56 + 20 * (index // 4)
        yield f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{series[3]}"/>' + text(x + 9, y, series[0], anchor="start")
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=pathlib.Path, nargs="?", default=pathlib.Path("build/bench/results/table.json"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/performance.svg"))
    options = parser.parse_args()
    document = json.loads(options.table.read_text(encoding="utf-8"))
    options.out.write_text("\n".join(drawing(document)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
