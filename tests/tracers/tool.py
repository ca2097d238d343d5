#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""simaai-latency from outside: its forms of output, conditions, comparison, and programs that it watches.

usage: tool.py PROGRAM
"""
import json
import os
import pathlib
import pty
import resource
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
        self.assertEqual((report["format"], report["version"], report["unit"]), ("simaai-latency", 3, "ns"))
        self.assertEqual(report["description"], PIPELINE)
        # As docs/latency.md lists them: what goes, or means something else, needs a new version.
        figure = {"count", "min", "mean", "p50", "p90", "p95", "p99", "max", "exact"}
        self.assertLessEqual({"pipeline", "description", "environment", "settings", "elements", "paths", "notes"}, set(report))
        self.assertLessEqual({"processor", "processors", "machine", "kernel", "gstreamer", "simaai"}, set(report["environment"]))
        self.assertLessEqual({"warmup", "samples", "window", "spans"}, set(report["settings"]))
        self.assertEqual(report["notes"], [])
        for element in report["elements"]:
            self.assertLessEqual({"name", "path", "factory", "forgotten", "thread", "role", "identity", "entered", "left", "appeared", "ambiguous", "drops",
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
        self.assertEqual(report["paths"][0]["frames"], 20)
        self.assertEqual(elements["filter"]["thread"]["count"], 20)
        for metric in ("residence", "thread"):
            self.assertIn(f"element,filter,{metric},20,", paths["csv"].read_text())
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
                parts = sum(jobs[part]["mean"] for part in ("queued", "working", "retirement"))
                parts += elements[name]["waiting"]["mean"] + elements[name]["thread"]["mean"]
                self.assertAlmostEqual(parts, elements[name]["residence"]["mean"], delta=6)  # means add up, but for rounding
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
        # Elements that others make while the pipeline runs, and a name that only looks made up.
        _, err = self.run_tool("--samples", 4, "--warmup", 0, "--repeat", 3, "--check", "wavparse0.processing.p50<10s",
                               "--check", "identity7.p50<10s",
                               "audiotestsrc num-buffers=60 ! wavenc ! decodebin ! identity name=identity7 ! fakesink")
        self.assertEqual(err.count("holds"), 2)

    def test_equal_names(self):
        path = self.folder / "names.json"
        _, err = self.run_tool("--json", path, "--check", "left/filter.drops<1", "--check", "pipeline0/right/filter.p50<10s",
                               "videotestsrc num-buffers=120 ! bin.( name=left identity name=filter ) "
                               "! bin.( name=right identity name=filter ) ! fakesink name=screen")
        self.assertEqual(err.count("holds"), 2)
        names = [element["name"] for element in json.loads(path.read_text())["elements"]]
        self.assertEqual(names, ["videotestsrc0", "left/filter", "right/filter", "screen"])
        _, err = self.run_tool("--check", "filter.drops<1", "videotestsrc num-buffers=120 ! bin.( name=left identity name=filter ) "
                               "! bin.( name=right identity name=filter ) ! fakesink name=screen", status=3)
        self.assertIn("left/filter, right/filter", err)

    def test_names_with_blanks_and_signs(self):
        for name in ("my filter", "a<b"):
            text = PIPELINE.replace("name=filter", f'name="{name}"')
            _, err = self.run_tool("--check", f"{name}.p50 < 10 s", text)
            self.assertIn("holds", err)

    def test_nothing_counted(self):
        short = "videotestsrc num-buffers=5 ! fakesink"
        for arguments in (("--warmup", 100, short), ("--warmup", 100, "--", *LAUNCH, *short.split()),
                          ("--warmup", 100, "--check", "fakesink0.processing.p50<10s", "--compare", short, short)):
            _, err = self.run_tool(*arguments, status=1)
            self.assertIn("no frame was counted; see --warmup", err)

    def test_nothing_arrived(self):
        path = self.folder / "a.json"
        shut = "videotestsrc num-buffers=60 ! valve name=shut drop=true ! fakesink async=false"
        out, err = self.run_tool("--samples", 20, "--json", path, shut, status=1)
        self.assertIn("no counted frame reached a sink", err)
        self.assertIn("shut", out)
        shut_report = next(e for e in json.loads(path.read_text())["elements"] if e["name"] == "shut")
        self.assertEqual(shut_report["drops"], 20)
        shut = shut.replace("valve name=shut drop=true", "identity drop-probability=1")
        _, err = self.run_tool("--warmup", 10, "--samples", 20, "--", *LAUNCH, *shut.split(), status=1)
        self.assertIn("no counted frame reached a sink", err)

    def test_a_pipeline_that_fails_in_the_middle(self):
        paths = {form: self.folder / f"a.{form}" for form in ("json", "csv", "html", "trace", "table")}
        arguments = [word for form, path in paths.items() for word in (f"--{form}", path)]
        broken = "videotestsrc ! identity name=breaks error-after=80 ! fakesink name=screen"
        out, err = self.run_tool(*arguments, "--samples", 1000, broken, status=1)
        self.assertIn("simaai-latency: breaks: ", err)
        self.assertIn("breaks", out)
        for path in paths.values():
            self.assertIn("breaks", path.read_text())
        self.assertGreaterEqual(json.loads(paths["json"].read_text())["paths"][0]["frames"], 60)
        _, err = self.run_tool("--samples", 1000, "--compare", broken, "videotestsrc num-buffers=50 ! fakesink", status=1)
        self.assertIn(f"in: {broken}", err)

    def test_a_failure_says_its_cause(self):
        _, err = self.run_tool("filesrc location=/no/such/file ! fakesink", status=1)
        self.assertIn('"/no/such/file"', err)
        _, err = self.run_tool("videotestsrc ! identity", status=1)
        self.assertIn("not-linked", err)

    def test_room_that_is_used_up(self):
        paths = {form: self.folder / f"a.{form}" for form in ("json", "csv", "html", "trace", "table")}
        arguments = [word for form, path in paths.items() for word in (f"--{form}", path)]
        many = PIPELINE.replace("num-buffers=60", "num-buffers=120")
        out, _ = self.run_tool("--spans", 100, *arguments, many)
        self.assertIn("room for 100 intervals", out)
        for path in paths.values():
            self.assertIn("room for 100 intervals", path.read_text())
        self.assertEqual(len(json.loads(paths["json"].read_text())["notes"]), 1)
        json.loads(paths["trace"].read_text())
        # Eight buffers of two frames each: the queue holds more than it is remembered of.
        held = many.replace("queue name=store", "queue name=store min-threshold-buffers=8")
        out, _ = self.run_tool("--window", 2, "--json", paths["json"], held)
        self.assertRegex(out, r"note: store: \d+ frames stayed while 2 later ones came")
        store = next(e for e in json.loads(paths["json"].read_text())["elements"] if e["name"] == "store")
        self.assertEqual((store["residence"], store["drops"]), (None, None))
        self.assertGreater(store["forgotten"], 50)

    def test_frames_behind_a_payloader(self):
        # 40 frames of about twenty packets each.
        path = self.folder / "packets.json"
        out, _ = self.run_tool("--warmup", 5, "--samples", 30, "--json", path, "videotestsrc num-buffers=40 ! video/x-raw,"
                               "format=UYVY,width=128,height=128 ! rtpvrawpay name=pay ! fakesink name=screen")
        way = json.loads(path.read_text())["paths"][0]
        self.assertEqual(way["frames"], 30)
        self.assertGreater(way["latency"]["count"], 300)
        self.assertRegex(out, r"\d+ buffers of   30 frames")
        pay = next(e for e in json.loads(path.read_text())["elements"] if e["name"] == "pay")
        self.assertIsNone(pay["drops"])

    def test_samples_of_each_origin(self):
        path = self.folder / "several.json"
        one = "videotestsrc num-buffers=200 ! video/x-raw,format=GRAY8,width=16,height=16"
        _, err = self.run_tool("--samples", 60, "--json", path, f"{one} ! funnel name=f ! fakesink {one} ! f. {one} ! f.")
        self.assertEqual(err, "")
        self.assertEqual([way["frames"] for way in json.loads(path.read_text())["paths"]], [60] * 3)

    def test_runs_that_never_end(self):
        path = self.folder / "a.json"
        for text, words in (("videotestsrc ! tee name=t ! fakesink name=one t. ! fakesink name=two", r"a first buffer at .*(one|two)"),
                            ("appsrc ! fakesink name=screen", "a first buffer at screen"),
                            ("videotestsrc num-buffers=1 ! imagefreeze ! fakesink name=screen", "screen:sink has 0 of 20 frames")):
            _, err = self.run_tool("--timeout", 1, "--samples", 20, text, status=1)
            self.assertRegex(err, "nothing came for 1 s; it waited for .*" + words)
        # Frames that came until then are reported; what is waited for is said before.
        stops = "videotestsrc num-buffers=15 ! identity eos-after=1000 ! fakesink name=screen"
        out, err = self.run_tool("--warmup", 0, "--samples", 20, "--timeout", 6, "--json", path,
                                 stops.replace("num-buffers=15", "num-buffers=15 is-live=true") + " appsrc ! fakesink name=other async=false",
                                 status=1)
        self.assertRegex(err, "waiting for .*screen:sink has 15 of 20 frames")
        self.assertIn("screen", out)
        self.assertEqual(json.loads(path.read_text())["paths"][0]["frames"], 15)

    def test_frames_that_are_dropped_end_a_run_too(self):
        path = self.folder / "dropped.json"
        _, err = self.run_tool("--samples", 20, "--json", path, "videotestsrc ! identity name=some drop-probability=0.5 "
                               "! fakesink name=screen")
        self.assertRegex(err, r"\d+ of 20 samples arrived; the others were dropped")
        self.assertNotIn("ended", err)
        _, err = self.run_tool("--samples", 20, "videotestsrc num-buffers=15 ! fakesink")
        self.assertIn("the stream ended after 5 of 20 samples", err)
        report = json.loads(path.read_text())
        some = next(e for e in report["elements"] if e["name"] == "some")
        self.assertGreater(some["drops"], 0)

    def test_a_total_that_is_not_known(self):
        # What a demuxer makes begins there: the queue before it is in no path.
        paths = {form: self.folder / f"a.{form}" for form in ("json", "csv", "html", "trace", "table")}
        arguments = [word for form, path in paths.items() for word in (f"--{form}", path)]
        inside = ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=32,height=32,framerate=30/1 ! queue min-threshold-buffers=4 "
                  "! jpegenc ! matroskamux streamable=true ! matroskademux ! fakesink name=screen")
        out, err = self.run_tool("--samples", 20, "--check", "total.p99<10s", *arguments, inside, status=3)
        self.assertIn("total.p99<10s: FAILS (n/a: frames began", err)
        for text in (out, *(path.read_text() for path in paths.values())):
            self.assertIn("total is n/a", text)
        self.assertIs(json.loads(paths["json"].read_text())["paths"][0]["from_source"], False)
        _, err = self.run_tool("--check", "total.p99<10s", "--", *LAUNCH, *inside.split(), status=3)
        self.assertIn("total.p99<10s: FAILS (n/a: frames began", err)
        out, _ = self.run_tool("--samples", 20, "--repeat", 1, "--compare", inside, inside)
        self.assertIn("other / first: n/a", out)

    def test_nothing_to_compare(self):
        out, _ = self.run_tool("--warmup", 0, "--samples", 4, "--repeat", 1, "--compare", "videotestsrc num-buffers=5 ! fakesink",
                               "videotestsrc num-buffers=5 ! fakesink")
        self.assertRegex(out, r"other / first: (n/a|\d)")

    def test_live(self):
        out, _ = self.run_tool("--live", "--warmup", 0, "--samples", 25, "videotestsrc is-live=true ! video/x-raw,width=32,"
                               "height=32,framerate=30/1 ! identity name=filter ! fakesink name=screen")
        self.assertNotIn("\x1b", out, "escapes are for terminals")
        tables = out.split("pipeline0\n")
        self.assertGreaterEqual(len(tables), 3, "no table while it ran")
        self.assertIn("filter", tables[1])
        self.assertIn("25 frames", tables[-1])
        terminal, inside = pty.openpty()
        subprocess.run([PROGRAM, "--live", "--warmup", "0", "--samples", "20", "videotestsrc is-live=true ! video/x-raw,width=32,"
                        "height=32,framerate=30/1 ! fakesink"], stdout=inside, stderr=subprocess.DEVNULL, timeout=100, check=True,
                       env=os.environ | {"TERM": "xterm"})
        os.close(inside)
        self.assertIn(b"\x1b[H\x1b[2J", os.read(terminal, 100000))
        os.close(terminal)

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

    def test_outputs_of_a_program_that_cannot_be_written(self):
        program = ("--", *LAUNCH, *PIPELINE.split())
        for option, path in (("--json", "/no/such/folder/a.json"), ("--csv", "/no/such/folder/a.csv"), ("--html", "/dev/full"),
                             ("--trace", "/dev/full"), ("--table", self.folder)):
            _, err = self.run_tool("--check", "filter.drops<1", option, path, *program, status=1)
            self.assertIn(f"simaai-latency: cannot write {path}", err)
            self.assertIn("holds", err)
        out, _ = self.run_tool("--quiet", "--csv", "/dev/stdout", "--check", "filter.drops<1", *program)
        self.assertIn("element,filter,residence,", out)

    def test_an_output_that_is_a_link(self):
        target = self.folder / "target.html"
        link = self.folder / "link.html"
        link.symlink_to(target.name)
        target.write_text("before")
        target.chmod(0o600)
        self.run_tool("--html", link, PIPELINE)
        self.assertTrue(link.is_symlink())
        self.assertTrue(target.read_text().startswith("<!DOCTYPE html>"))
        self.assertEqual(target.stat().st_mode & 0o777, 0o600)

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        done = subprocess.run([PROGRAM, "--html", link, PIPELINE], capture_output=True, text=True, timeout=100, check=False,
                              preexec_fn=limit_files, env=os.environ | {"GST_REGISTRY_UPDATE": "no"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"cannot write {link}", done.stderr)
        self.assertTrue(link.is_symlink())
        self.assertFalse(target.exists(), "half a report is none")

    def test_a_table_that_is_lost(self):
        for arguments in ((PIPELINE,), ("--live", PIPELINE), ("--quiet", "--compare", PIPELINE, PIPELINE), ("--help",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=100,
                                      check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("cannot write to standard output", done.stderr)

    def test_a_reader_that_goes_away(self):
        path = self.folder / "a.json"
        for arguments in (("--live", "--json", path, "videotestsrc is-live=true ! video/x-raw,width=16,height=16,framerate=60/1 "
                           "! fakesink name=screen"), ("--json", path, PIPELINE)):
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=100,
                                  check=False)
            os.close(writing)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("cannot write to standard output", done.stderr)
            self.assertEqual(json.loads(path.read_text())["paths"][0]["sink"], "screen:sink")
            path.unlink()
        # A program has the signal as it was.
        done = subprocess.run([PROGRAM, "--", "sh", "-c", "kill -PIPE $$"], capture_output=True, text=True, timeout=100, check=False)
        self.assertIn("status 141", done.stderr)

    def test_a_program_with_several_pipelines(self):
        # Two processes, of which the second has the element that is slow.
        slow = PIPELINE.replace("identity name=filter", "identity name=filter sleep-time=1000")
        launch = " ".join(f"'{word}'" for word in LAUNCH)
        both = f"{launch} {PIPELINE}; {launch} {slow}; {launch} videotestsrc num-buffers=20 ! fakesink name=other"
        page = self.folder / "page.html"
        _, err = self.run_tool("--quiet", "--html", page, "--check", "filter.p50<900us", "--check", "other.processing.p50<10s",
                               "--check", "total.p50<10s", "--", "sh", "-c", both, status=3)
        self.assertEqual(err.count("check filter.p50<900us in pipeline0: holds"), 1)
        self.assertEqual(err.count("check filter.p50<900us in pipeline0: FAILS"), 1)
        self.assertEqual(err.count("check other.processing.p50<10s in pipeline0: holds"), 1)
        self.assertEqual(err.count("check total.p50<10s in pipeline0: holds"), 3)
        for name in ("page.html", "page-2.html", "page-3.html"):
            self.assertIn("<svg", (self.folder / name).read_text())

    def test_tracers_of_the_environment_stay(self):
        log = self.folder / "log"
        environment = {"GST_TRACERS": "latency(flags=pipeline)", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_FILE": str(log)}
        self.run_tool("--check", "filter.drops<1", "--", *LAUNCH, *PIPELINE.split(), **environment)
        self.assertIn("latency, src-element", log.read_text())

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
        both = self.folder / "both"
        self.assertIn("two outputs have the same file", self.run_traced(f"simaailatency(json={both},csv={self.folder}/./both)"))
        # As many as there is memory for, and a window of two frames at least.
        for parameters, complaints in (("spans=2000000000,window=0", ("spans is 4194304, not 2000000000", "window is 2, not 0")),
                                       ("window=1000", ("window is 1024, not 1000",)), ("window=-8", ("window",)),
                                       ("samples=3000000000", ("samples",)), ("table=5", ("table",))):
            err = self.run_traced(f"simaailatency({parameters},table=stderr)" if "table" not in parameters
                                  else f"simaailatency({parameters})")
            for complaint in complaints:
                self.assertIn(complaint, err)
            self.assertIn("filter", err)
        self.assertNotIn("simaailatency:", self.run_traced("simaailatency(window=2048,spans=1000,warmup=1,samples=5,exact=true)"))

    def test_refusals(self):
        for arguments in ((), ("--check", "nonsense", PIPELINE), ("--window", "1000", PIPELINE), ("--window", "1", PIPELINE),
                          ("--spans", "0", PIPELINE), ("--spans", "5000000", PIPELINE), ("--samples", "many", PIPELINE), ("--speed", PIPELINE),
                          ("--live", "--", "true"), ("--timeout", "1", "--", "true"), ("--timeout", "-1", PIPELINE)):
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
