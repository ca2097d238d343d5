#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole pipelines under simaai-latency: a line for each, its JSON and page, and pipelines.json with all lines.

Pictures of 640x640 and 1080p through CastTess and DetessCast, and a set of the six heads of a detector, on the host CPU, on the model
in the process and behind the server, with one, two and four buffers on the way.

usage: pipelines.py --build BUILD [--output FOLDER] [--warmup N] [--samples N] [--repeat N]
                    [FILTER]
"""
import argparse
import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SHAPES = pathlib.Path(__file__).resolve().parents[2] / "tests/data/shapes.tsv"
HEADS = [f"yolov8_{kind}_p{level}_bf16" for level in (3, 4, 5) for kind in ("box", "class")]
PARTS = ("thread", "queued", "working", "retirement", "waiting")


def picture(width, height, options, between=""):
    """The stages of the demo; the source is never the limit for long, so that what is on its way fills up."""
    return (f"videotestsrc ! video/x-raw,format=RGB,width={width},height={height} ! simaaivideototensor name=totensor "
            f"! application/vnd.simaai.tensor,dtype=float32 ! simaaicasttess name=casttess {options} {between}"
            f"! simaaidetesscast name=detesscast {options} ! simaaitensortovideo name=tovideo ! fakesink name=screen")


def head_caps():
    """Caps and bytes of the heads."""
    rows = [line.split("\t") for line in SHAPES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    for name, shape, axes, tile, dtype, layout, storage, size in rows:
        if name in HEADS:
            fields = f"dtype={dtype},shape=<{shape}>,layout={layout},tile-shape=<{tile}>"
            if layout == "mla-tiled":
                fields += f",tile-axes=<{axes}>,channel-storage={storage}"
            yield name.removesuffix("_bf16"), f"application/vnd.simaai.tensor,{fields}", int(size)


def detector(options):
    """A set of all heads in one buffer of random bytes, one tensor behind the other, through one element."""
    heads = list(head_caps())
    assert len(heads) == len(HEADS)
    tensors = ",".join(f"[{caps},tensor-id={name}]" for name, caps, _ in heads)
    return (f"fakesrc name=detector sizetype=fixed filltype=random sizemax={sum(size for _, _, size in heads)} "
            f"! application/vnd.simaai.tensor-set,tensors=(structure)<{tensors}> ! simaaidetesscast name=heads {options} "
            "! fakesink name=sink")


def pipelines(socket):
    corpus = {"demo-640": lambda options: picture(640, 640, options),
              "demo-1080p": lambda options: picture(1920, 1080, options),
              "heads": detector}
    result = {}
    for name, make in corpus.items():
        result[f"{name}-a65"] = make("backend=a65")
        for device, uri in (("model", "model:"), ("server", f"unix:{socket}")):
            for depth in (1, 2, 4):
                result[f"{name}-{device}-{depth}"] = make(f"backend=ev74 device={uri} async-depth={depth}")
    result["demo-640-a65-queue"] = picture(640, 640, "backend=a65", "! queue name=between max-size-buffers=2 ")
    return result


def parts_of(elements):
    """Sums of the medians of the elements that name jobs, in the order of PARTS."""
    sums = dict.fromkeys(PARTS, 0)
    for element in elements:
        if element["jobs"] and element["residence"]:
            parts = {part: element["jobs"][part]["p50"] for part in ("queued", "working", "retirement")}
            parts |= {part: element[part]["p50"] for part in ("waiting", "thread")}
            for part in PARTS:
                sums[part] += parts[part]
    return sums


def run_one(tool, name, text, options, folder):
    """The line of one pipeline as a dictionary, or the reason why there is none."""
    command = [tool, "--quiet", "--warmup", str(options.warmup), "--samples", str(options.samples), "--repeat", str(options.repeat),
               "--json", folder / f"{name}.json", "--html", folder / f"{name}.html", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"failed: {done.stderr.strip()}"
    report = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    total = max((path["latency"] for path in report["paths"]), key=lambda latency: latency["p50"])
    stages = [(element["residence"]["p50"], element["name"]) for element in report["elements"] if element["residence"]]
    slowest = max(stages)
    parts = parts_of(report["elements"])
    # Each pipeline has op elements between its source and its sink.
    if not 0 < parts["working"] <= total["p50"]:
        return f"{parts['working']} ns of work in {total['p50']} ns from source to sink"
    # Whatever it waits for, a thread hands a frame over and pushes it.
    idle = [element["name"] for element in report["elements"] if element["jobs"] and element["thread"]["min"] == 0]
    if idle:
        return f"frames of {idle} for which no thread worked"
    return {"name": name, "p50": total["p50"], "p95": total["p95"], "max": total["max"], "slowest": slowest[1],
            "slowest_p50": slowest[0], **parts}


def write_index(folder, lines):
    columns = ("p50", "p95", "max", *PARTS)
    rows = "".join(f"<tr><td><a href='{html.escape(line['name'])}.html'>{html.escape(line['name'])}</a>"
                   + "".join(f"<td>{line[column] / 1e6:.3f}" for column in columns) + f"<td>{html.escape(line['slowest'])}"
                   for line in lines)
    (folder / "index.html").write_text(
        "<!DOCTYPE html><meta charset=utf-8><meta name=viewport content='width=device-width'><meta name=color-scheme "
        "content='light dark'><title>Pipelines</title><style>body{font:14px system-ui,sans-serif;overflow-x:auto}td,th"
        "{padding:3px 9px;text-align:right}td:first-child{text-align:left}</style><h1>Pipelines</h1><p>Source to sink and "
        "medians of the parts of the op elements, in ms.<table><tr><th>" + "".join(f"<th>{column}" for column in columns)
        + "<th>slowest stage" + rows + "</table>\n", encoding="utf-8")
    (folder / "pipelines.json").write_text(json.dumps({"unit": "ns", "pipelines": lines}, indent=1) + "\n", encoding="utf-8")


def run_all(options, folder, socket):
    """False where one failed."""
    print(f"{'medians in ms':<20} {'p50':>9} {'p95':>9} {'max':>9} | " + " ".join(f"{part:>10}" for part in PARTS)
          + " | slowest stage")
    lines = []
    failed = False
    for name, text in pipelines(socket).items():
        if options.filter not in name:
            continue
        line = run_one(options.build / "gst-plugins/tools/latency/simaai-latency", name, text, options, folder)
        if isinstance(line, str):
            failed = True
            print(f"{name:<20} {line}", flush=True)
            continue
        lines.append(line)
        print(f"{name:<20} " + " ".join(f"{line[key] / 1e6:9.3f}" for key in ("p50", "p95", "max")) + " | "
              + " ".join(f"{line[part] / 1e6:10.3f}" for part in PARTS)
              + f" | {line['slowest']} {line['slowest_p50'] / 1e6:.3f}", flush=True)
    write_index(folder, lines)
    return bool(lines) and not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    folder = options.output or options.build / "pipelines"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["GST_PLUGIN_PATH"] = str(options.build / "gst-plugins")
    with tempfile.TemporaryDirectory() as place:
        socket = pathlib.Path(place) / "ev74"
        server = subprocess.Popen([options.build / "firmware/model/server/simaai-ev74d", socket])
        try:
            while not socket.exists() and server.poll() is None:
                time.sleep(0.01)
            good = run_all(options, folder, socket)
        finally:
            server.terminate()
            server.wait()
    print(f"JSON and pages: {folder}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
