#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""simaai-latency from outside: its forms of output, conditions, comparison, and programs that it watches.

usage: tool.py PROGRAM
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
PIPELINE = ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=32,height=32 ! identity name=filter "
            "! queue name=store ! fakesink name=screen")
# Programs that are not instrumented load our plug-in after the runtimes of the sanitizers.
LAUNCH = ("env", "LD_PRELOAD=" + os.environ.get("SIMAAI_PRELOAD", ""), "gst-launch-1.0", "-q")


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, status=0, **environment):
        result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                                env=os.environ | environment)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout, result.stderr

    def test_forms(self):
        paths = {form: self.folder / f"a.{form}" for form in ("json", "csv", "html", "trace", "table")}
        arguments = [word for form, path in paths.items() for word in (f"--{form}", path)]
        out, _ = self.run_tool("--samples", 20, *arguments, PIPELINE)
        self.assertIn("filter", out)
        report = json.loads(paths["json"].read_text())
        self.assertEqual((report["format"], report["version"], report["unit"]), ("simaai-latency", 2, "ns"))
        self.assertEqual(report["description"], PIPELINE)
        # As docs/latency.md lists them: what goes, or means something else, needs a new version.
        figure = {"count", "min", "mean", "p50", "p90", "p95", "p99", "max", "exact"}
        self.assertLessEqual({"pipeline", "description", "environment", "settings", "elements", "paths"}, set(report))
        self.assertLessEqual({"processor", "processors", "machine", "kernel", "gstreamer", "simaai"}, set(report["environment"]))
        self.assertLessEqual({"warmup", "samples", "window"}, set(report["settings"]))
        for element in report["elements"]:
            self.assertLessEqual({"name", "factory", "role", "identity", "entered", "left", "appeared", "ambiguous", "drops",
                                  "flushed", "unfinished", "residence", "waiting", "processing", "jobs", "inputs", "outputs"},
                                 set(element))
            for member in (element["residence"], *(pad["interval"] for pad in element["inputs"]),
                           *(pad["residence"] for pad in element["outputs"])):
                self.assertTrue(member is None or figure <= set(member))
        elements = {element["name"]: element for element in report["elements"]}
        self.assertEqual(elements["store"]["residence"]["count"], 20)
        self.assertTrue(elements["store"]["residence"]["exact"])
        self.assertIsNone(elements["screen"]["residence"])
        self.assertEqual(report["paths"][0]["sink"], "screen:sink")
        self.assertEqual(report["paths"][0]["latency"]["count"], 20)
        self.assertIn("element,filter,residence,20,", paths["csv"].read_text())
        self.assertTrue(paths["html"].read_text().startswith("<!DOCTYPE html>"))
        self.assertIn("filter", paths["table"].read_text())
        events = json.loads(paths["trace"].read_text())["traceEvents"]
        begun = [e["id"] for e in events if e["ph"] == "b" and e["name"] == "store"]
        ended = [e["id"] for e in events if e["ph"] == "e" and e["name"] == "store"]
        self.assertEqual(len(begun), 20)
        self.assertEqual(sorted(begun), sorted(ended))

    def test_conditions(self):
        self.run_tool("--check", "filter.p50<10s", "--check", "total.p99<100s", PIPELINE)
        _, err = self.run_tool("--check", "filter.p50<1ns", "--check", "filter.drops<1", PIPELINE, status=3)
        self.assertIn("filter.p50<1ns: FAILS", err)
        self.assertIn("filter.drops<1: holds (0)", err)
        _, err = self.run_tool("--check", "screen.p50<10s", PIPELINE, status=3)
        self.assertIn("n/a", err)

    def test_jobs(self):
        stages = ("videotestsrc num-buffers=40 ! video/x-raw,format=RGB,width=32,height=32 ! simaaivideototensor "
                  "! application/vnd.simaai.tensor,dtype=float32 ! simaaicasttess name=cast %s ! simaaidetesscast name=back %s "
                  "! fakesink name=screen")
        for options, device in (("backend=a65", "a65"), ("backend=ev74 device=model:", "model:"),
                                ("backend=ev74 device=model: async-depth=4", "model:")):
            paths = {form: self.folder / f"jobs.{form}" for form in ("json", "csv", "trace", "html")}
            arguments = [word for form, path in paths.items() for word in (f"--{form}", path)]
            out, _ = self.run_tool("--samples", 20, "--check", "cast.working.p50<10s", "--check", "back.queued.max<10s",
                                   "--check", "back.retirement.p50<10s", *arguments, stages % (options, options))
            self.assertRegex(out, rf"cast +{device} +\d")
            elements = {element["name"]: element for element in json.loads(paths["json"].read_text())["elements"]}
            self.assertIsNone(elements["screen"]["jobs"])
            for name in ("cast", "back"):
                jobs = elements[name]["jobs"]
                self.assertEqual(jobs["device"], device)
                self.assertEqual([jobs[part]["count"] for part in ("queued", "working", "retirement")], [20] * 3)
                self.assertGreater(jobs["working"]["min"], 0)
                self.assertIn(f"element,{name},retirement,20,", paths["csv"].read_text())
                if device == "a65":
                    self.assertEqual((jobs["queued"]["max"], jobs["retirement"]["max"]), (0, 0))
            events = json.loads(paths["trace"].read_text())["traceEvents"]
            self.assertEqual(sum(e["ph"] == "b" and e["name"] == "working" for e in events), 40)
            self.assertIn(f"cast on {device}", [e["args"]["name"] for e in events if e["ph"] == "M"])
            self.assertIn('class="device"', paths["html"].read_text())

    def test_a_device_that_is_not_free_at_once(self):
        # A stop leaves jobs behind, which retire when they end: the next run starts then.
        device = "backend=ev74 device=model:latency-us=20000 async-depth=16"
        out, _ = self.run_tool("--samples", 4, "--warmup", 0, "--repeat", 3, "videotestsrc ! video/x-raw,format=RGB,width=16,"
                               f"height=16 ! simaaivideototensor ! simaaicasttess {device} ! fakesink name=screen")
        self.assertIn("median of 3 runs", out)

    def test_comparison_and_repeats(self):
        out, _ = self.run_tool("--samples", 20, "--repeat", 3, "--compare", PIPELINE, PIPELINE)
        self.assertRegex(out, r"other / first: \d+\.\d+, between .* \(3 pairs\)")
        out, _ = self.run_tool("--samples", 20, "--repeat", 3, PIPELINE)
        self.assertIn("source to sink: median of 3 runs", out)

    def test_names_that_were_made_up_are_those_of_the_first_run(self):
        unnamed = "videotestsrc ! identity sleep-time=1000 ! identity ! fakesink"
        out, err = self.run_tool("--samples", 10, "--repeat", 3, "--check", "identity0.p50>900us", "--check",
                                 "identity1.p50<1s", unnamed)
        self.assertIn("holds", out + err)
        self.assertRegex(out, r"videotestsrc0:src - fakesink0:sink")

    def test_frames_that_are_dropped_end_a_run_too(self):
        path = self.folder / "dropped.json"
        _, err = self.run_tool("--samples", 20, "--json", path, "videotestsrc ! identity name=some drop-probability=0.5 "
                               "! fakesink name=screen")
        self.assertRegex(err, r"ended after \d+ of 20 samples")
        report = json.loads(path.read_text())
        some = next(e for e in report["elements"] if e["name"] == "some")
        self.assertGreater(some["drops"], 0)

    def test_nothing_to_compare(self):
        out, _ = self.run_tool("--warmup", 0, "--samples", 4, "--repeat", 1, "--compare", "videotestsrc num-buffers=5 ! fakesink",
                               "videotestsrc num-buffers=5 ! fakesink")
        self.assertRegex(out, r"other / first: (n/a|\d)")

    def test_live(self):
        out, _ = self.run_tool("--live", "--warmup", 0, "--samples", 25, "videotestsrc is-live=true ! video/x-raw,width=32,"
                               "height=32,framerate=30/1 ! identity name=filter ! fakesink name=screen")
        tables = out.split("\x1b[H\x1b[2J")
        self.assertGreaterEqual(len(tables), 2, "no table while it ran")
        self.assertIn("filter", tables[1])
        self.assertIn("25 frames", tables[-1])

    def test_program(self):
        page = self.folder / "page.html"
        _, err = self.run_tool("--html", page, "--check", "filter.p50<10s", "--check", "filter.drops<1", "--",
                               *LAUNCH, *PIPELINE.split())
        self.assertIn("filter", err)
        self.assertIn("<svg", page.read_text())
        self.run_tool("--check", "filter.p50<1ns", "--", *LAUNCH, *PIPELINE.split(), status=3)
        _, err = self.run_tool("--", "true", status=1)
        self.assertIn("stopped no pipeline", err)
        self.run_tool("--", "/no/such/program", status=1)

    def test_a_program_that_a_signal_ends(self):
        # As from a terminal (SIGINT to both), and to the tool alone: the report and the conditions come all the same.
        for number, whole_group in ((signal.SIGINT, True), (signal.SIGTERM, False)):
            temporary = self.folder / f"tmp{number}"
            temporary.mkdir()
            tool = subprocess.Popen([PROGRAM, "--check", "filter.p50<10s", "--", *LAUNCH[:-1], "-q", "-e",
                                     *PIPELINE.replace("num-buffers=60", "is-live=true").split()],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                    env=os.environ | {"TMPDIR": str(temporary)})
            deadline = time.monotonic() + 60
            while not list(temporary.iterdir()) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(1.5)
            (os.killpg if whole_group else os.kill)(tool.pid, number)
            out, _ = tool.communicate(timeout=60)
            if whole_group:
                self.assertIn("check filter.p50<10s: holds", out)
            self.assertEqual(list(temporary.iterdir()), [], out)

    def test_blanks(self):
        folder = self.folder / "two words"
        folder.mkdir()
        page = folder / "my page.html"
        self.run_tool("--html", page, "--", *LAUNCH, *PIPELINE.split())
        self.assertIn("<svg", page.read_text())
        data = folder / "some data"
        data.write_bytes(bytes(100000))
        _, err = self.run_tool("--warmup", 0, "--samples", 5, "filesrc", f"location={data}", "!", "fakesink", "name=screen")
        self.assertNotIn("some", err)

    def test_two_outputs_in_one_file(self):
        path = self.folder / "both"
        _, err = self.run_tool("--json", path, "--csv", f"{self.folder}/./both", PIPELINE, status=2)
        self.assertIn("same file", err)

    def test_plugin_in_the_same_process(self):
        registry = self.folder / "registry.bin"
        out, err = self.run_tool("--samples", 20, PIPELINE, GST_REGISTRY=str(registry), GST_REGISTRY_FORK="no")
        self.assertIn("filter", out)
        self.assertEqual(err, "")

    def run_traced(self, tracers):
        """What a program says that has this in GST_TRACERS."""
        done = subprocess.run([*LAUNCH, *PIPELINE.split()], capture_output=True, text=True, timeout=100, check=True,
                              env=os.environ | {"GST_TRACERS": tracers})
        return done.stderr

    def test_two_tracers_do_not_count_twice(self):
        one, two = self.folder / "one.json", self.folder / "two.json"
        err = self.run_traced(f"simaailatency(json={one});simaailatency(json={two})")
        self.assertIn("traces this process already", err)
        self.assertFalse(two.exists())
        self.run_tool("--samples", 20, "--json", two, PIPELINE, GST_TRACERS=f"simaailatency(json={one}.tool,exact=true)")
        for path, frames in ((one, 60), (pathlib.Path(f"{one}.tool"), None), (two, 20)):
            elements = {element["name"]: element for element in json.loads(path.read_text())["elements"]}
            self.assertEqual(elements["filter"]["entered"], elements["filter"]["left"])
            self.assertLessEqual(elements["filter"]["entered"], 60)
            if frames:
                self.assertEqual(elements["filter"]["residence"]["count"], frames)

    def test_wrong_parameters_of_the_tracer(self):
        for parameters, complaint in (("warmup=-1,samples=many", "samples"), ("nonsense=1", "nonsense"), ("exact=maybe", "exact"),
                                      (",,,", "cannot read"), ("json=/no/such/folder/a.json", "cannot write /no/such"),
                                      ("html=/dev/full", "cannot write /dev/full"), ("table=/", "cannot write /")):
            self.assertIn(complaint, self.run_traced(f"simaailatency({parameters})"))
        # As many as there is memory for, and a window of two frames at least.
        self.assertIn("filter", self.run_traced("simaailatency(spans=2000000000,window=0,table=stderr)"))

    def test_refusals(self):
        for arguments in ((), ("--check", "nonsense", PIPELINE), ("--samples", "many", PIPELINE), ("--speed", PIPELINE),
                          ("--live", "--", "true")):
            _, err = self.run_tool(*arguments, status=2)
            self.assertIn("--help", err)
        _, err = self.run_tool("videotestsrc ! nosuchelement", status=1)
        self.assertIn("nosuchelement", err)
        _, err = self.run_tool("filesrc location=/no/such/file ! fakesink", status=1)
        self.assertIn("filesrc0", err)
        self.run_tool("--json", "/no/such/folder/a.json", PIPELINE, status=1)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
