#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole pipelines under simaai-latency: a line for each, and its JSON and page in the output folder.

usage: pipelines.py --build BUILD [--output FOLDER] [--samples N] [--repeat N] [FILTER]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def tensor_stages(width, height, options=""):
    """The stages of the demo on pictures of one size; enough of them for the warm-up and the samples."""
    return (f"videotestsrc ! video/x-raw,format=RGB,width={width},height={height} ! simaaivideototensor name=totensor "
            f"! application/vnd.simaai.tensor,dtype=float32 ! simaaicasttess name=casttess {options} "
            f"! simaaidetesscast name=detesscast {options} ! simaaitensortovideo name=tovideo ! fakesink name=screen")


def pipelines(socket):
    a65, model, server = "backend=a65", "backend=ev74 device=model:", f"backend=ev74 device=unix:{socket}"
    return {
        "demo-640": tensor_stages(640, 640, a65),
        "demo-1080p": tensor_stages(1920, 1080, a65),
        "demo-640-queues": tensor_stages(640, 640, a65).replace("! simaaidetesscast", "! queue name=between max-size-buffers=2 "
                                                                "! simaaidetesscast"),
        "ev74-model-160": tensor_stages(160, 160, model),
        "ev74-server-160": tensor_stages(160, 160, server),
        "a65-160": tensor_stages(160, 160, a65),
    }


def run_one(tool, name, text, options, folder):
    command = [tool, "--quiet", "--samples", str(options.samples), "--repeat", str(options.repeat),
               "--json", folder / f"{name}.json", "--html", folder / f"{name}.html", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"failed: {done.stderr.strip()}"
    report = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    total = max((path["latency"] for path in report["paths"]), key=lambda latency: latency["p50"])
    stages = [(element["residence"]["p50"], element["name"]) for element in report["elements"] if element["residence"]]
    slowest = max(stages)
    return (f"{total['p50'] / 1e6:9.3f} {total['p95'] / 1e6:9.3f} {total['max'] / 1e6:9.3f}  {slowest[1]} "
            f"{slowest[0] / 1e6:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    folder = options.output or options.build / "pipelines"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["GST_PLUGIN_PATH"] = str(options.build / "gst-plugins")
    failed = False
    with tempfile.TemporaryDirectory() as place:
        socket = pathlib.Path(place) / "ev74"
        server = subprocess.Popen([options.build / "firmware/model/server/simaai-ev74d", socket])
        try:
            while not socket.exists() and server.poll() is None:
                time.sleep(0.01)
            print(f"{'source to sink, ms':<20} {'p50':>9} {'p95':>9} {'max':>9}  slowest stage, p50 ms")
            for name, text in pipelines(socket).items():
                if options.filter in name:
                    result = run_one(options.build / "gst-plugins/tools/latency/simaai-latency", name, text, options, folder)
                    failed = failed or result.startswith("failed")
                    print(f"{name:<20} {result}", flush=True)
        finally:
            server.terminate()
            server.wait()
    print(f"JSON and pages: {folder}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
