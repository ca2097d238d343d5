# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table: what is read from the JSON of a program and how the floors judge it."""
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from bench import main, read_rows, row_json, table_lines
from floors import Row, parts

NAME = "casttess/bench_160x160x64/f32-bf16/pad16/dense/"


def row(case, channels=64, sides=(6_000_000, 4_000_000), ns=1e5, **ratios):
    return Row(case, ns, {peer: (value, value - 0.1, value + 0.1) for peer, value in ratios.items()}, sides, channels)


class Judgement(unittest.TestCase):
    def check(self, verdict, reason, judged):
        self.assertEqual(judged.judge()[0], verdict)
        self.assertIn(reason, ", ".join(judged.judge()[1]))

    def test_both_peers_of_a_floor_count(self):
        self.check("ok", "", row(NAME + "hot", memcpy=0.75, onednn=1.25))
        self.check("BELOW", "memcpy 0.740 < 0.75", row(NAME + "hot", memcpy=0.74, onednn=1.25))
        self.check("BELOW", "onednn 1.240 < 1.25", row(NAME + "hot", memcpy=0.9, onednn=1.24))
        self.check("ok", "no onednn", row(NAME + "hot", memcpy=0.75))
        self.check("not judged", "no onednn", row("detesscast/x/bf16-f32/pad16/dense/cold", channels=3, memcpy=0.1))

    def test_cold_rows_have_their_own_floor(self):
        self.check("ok", "", row(NAME + "cold", memcpy=0.1, shaped=0.1, shaped_nt=0.8, onednn=2.5))
        self.check("BELOW", "shaped_nt 0.790 < 0.80", row(NAME + "cold", shaped_nt=0.79, onednn=2.5))

    def test_channels_choose_the_floor(self):
        self.check("", "", row(NAME + "hot", channels=32, memcpy=0.1))
        self.check("BELOW", "memcpy 0.590 < 0.60", row(NAME + "hot", channels=3, sides=(700_000, 2_000_000), memcpy=0.59))
        self.check("", "", row(NAME + "hot", channels=3, sides=(700_000, 2_000_001), memcpy=0.1))

    def test_the_faster_peer_of_a_group_counts(self):
        self.check("BELOW", "best_shaped 0.850 < 0.90", row(NAME + "cold", channels=3, shaped=1.2, shaped_nt=0.85))
        self.check("BELOW", "best_loop 0.900 < 0.95", row("cast/x/f32-bf16/linear/dense/hot", plain=0.9, eigen=2.0))

    def test_small_traffic_has_no_floor_but_the_call_has(self):
        self.check("", "", row(NAME + "hot", sides=(40_000, 25_535), memcpy=0.1))
        self.check("BELOW", "memcpy", row(NAME + "hot", sides=(40_000, 25_536), memcpy=0.1))
        call = "tess/call_1x1x16/i8-i8/pad16/dense/hot"
        self.check("ok", "", row(call, sides=(16, 16), ns=60.0, memcpy=0.1))
        self.check("BELOW", "61 ns, at most 60", row(call, sides=(16, 16), ns=61.0))

    def test_strided_channels_are_compared_with_the_plain_loop(self):
        self.check("BELOW", "plain 2.900 < 3.00", row("tess/x/i8-i8/pad16/planar/hot", plain=2.9, memcpy=0.01))
        self.check("", "", row("tess/x/i8-i8/pad16/pitched/hot", plain=0.1))

    def test_no_peer_is_asked_for_more_than_the_roofline(self):
        case = "detess/x/bf16-bf16/pad16/dense/hot"
        self.check("roofline", "onednn 1.000 < 1.50", row(case, memcpy=0.8, onednn=1.0, shaped=0.9, shaped_nt=1.2))
        self.check("BELOW", "onednn 1.000 < 1.50", row(case, memcpy=0.8, onednn=1.0, shaped=1.2, shaped_nt=0.89))
        self.check("BELOW", "plain 2.900 < 3.00", row("tess/x/i8-i8/pad16/planar/hot", plain=2.9, shaped=1.0))
        self.check("BELOW", "best_shaped 0.899 < 0.90", row(NAME + "cold", channels=3, shaped=0.899))
        spread = "casttess/x/f32-bf16/pad16/spread/hot"
        self.check("roofline", "plain 2.000", row(spread, sides=(4_000_000, 2_000_000), plain=2.0, shaped=0.54))
        self.check("BELOW", "plain 2.000", row(spread, sides=(4_000_000, 2_000_000), plain=2.0, shaped=0.53))
        self.check("BELOW", "plain 2.000", row(spread.replace("casttess", "detesscast"), sides=(4_000_000, 2_000_000), plain=2.0, shaped=0.54))

    def test_int8_and_bfloat16_differ(self):
        self.check("ok", "", row("detess/x/i8-i8/compact/dense/cold", memcpy=0.58, onednn=2.0))
        self.check("BELOW", "memcpy 0.580 < 0.75", row("detess/x/bf16-bf16/compact/dense/cold", memcpy=0.58, onednn=2.0))


class Verdicts(unittest.TestCase):
    """One line a figure of a floor, over all cases."""

    @staticmethod
    def verdict(title, rows):
        return next(part.verdict(rows) for part in parts() if part.title() == title)

    def test_holds_with_the_worst_case(self):
        rows = [row(NAME + "hot", memcpy=0.9), row(NAME.replace("160x160", "20x20") + "hot", memcpy=0.8)]
        word, text = self.verdict("CastTess f32, C >= 64, hot: 0.75 of memcpy", rows)
        self.assertEqual(word, "holds in 2")
        self.assertIn("worst 0.80 (casttess/bench_20x20x64", text)

    def test_below_counts_the_cases(self):
        rows = [row(NAME + "hot", memcpy=0.9), row(NAME + "hot", memcpy=0.7)]
        self.assertEqual(self.verdict("CastTess f32, C >= 64, hot: 0.75 of memcpy", rows)[0], "BELOW in 1 of 2")

    def test_cases_at_the_roofline_are_counted_apart(self):
        rows = [row(NAME + "hot", memcpy=0.9), row(NAME + "hot", memcpy=0.7, shaped=0.95)]
        word, text = self.verdict("CastTess f32, C >= 64, hot: 0.75 of memcpy", rows)
        self.assertEqual(word, "holds in 1")
        self.assertIn("1 below it at the roofline", text)

    def test_a_missing_peer_is_said_and_does_not_pass(self):
        found = row(NAME + "hot", memcpy=0.9)
        found.missing = {"onednn": "its code for this is the reference one, simple:any"}
        word, text = self.verdict("CastTess f32, C >= 64, hot: 1.25 of onednn", [found])
        self.assertEqual(word, "not judged here")
        self.assertIn("simple:any", text)

    def test_a_floor_without_cases_does_not_pass(self):
        self.assertEqual(self.verdict("Cast, cold: 1.10 of best_loop", []), ("not judged here", "no such case was measured"))

    def test_a_call_has_an_upper_limit(self):
        calls = [row("tess/call_1x1x16/i8-i8/pad16/dense/hot", sides=(16, 16), ns=ns) for ns in (20.0, 61.0)]
        word, text = self.verdict("call on a 1x1x16 tensor: 60 ns", calls)
        self.assertEqual(word, "BELOW in 1 of 2")
        self.assertIn("worst 61.00 ns", text)


class Reading(unittest.TestCase):
    def test_rows_of_the_default_level_are_read(self):
        def entry(candidate, **more):
            return {"name": NAME + "hot/" + candidate + "/iterations:9/manual_time", "ns": 100.0, "read_bytes": 6e6,
                    "write_bytes": 3e6, "channels": 64, "prepare_ns": 50.0, **more}
        ours = entry("avx2", vs_memcpy=0.9, vs_memcpy_min=0.8, vs_memcpy_max=1.0, vs_avx2_align16=0.95,
                     vs_avx2_align16_min=0.9, vs_avx2_align16_max=1.0)
        document = {"context": {"level": "avx2", "rounds": "9"},
                    "benchmarks": [entry("scalar"), ours, entry("avx2_align16"), entry("memcpy")]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "casttess.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            _, rows = read_rows(path)
        self.assertEqual([found.case for found in rows], [NAME + "hot"])
        self.assertEqual(rows[0].ratios, {"memcpy": (0.9, 0.8, 1.0), "avx2_align16": (0.95, 0.9, 1.0)})
        self.assertEqual(rows[0].traffic, 9e6)
        line = list(table_lines(rows, "avx2"))[1]
        for word in ("9.0 MB", "100.0 ns", "0.90 0.80-1.00", "align16 0.95", "ok (no onednn)"):
            self.assertIn(word, line)
        self.assertEqual(row_json(rows[0])["ratios"]["memcpy"], {"median": 0.9, "min": 0.8, "max": 1.0})


class Main(unittest.TestCase):
    def ending(self, *arguments, results=()):
        """What main() says when it ends, with `results` as the cases of an earlier run."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bench" / "results"
            path.mkdir(parents=True)
            entries = [{"name": f"{case}/avx2/iterations:9/manual_time", "ns": 50.0, "read_bytes": 16, "write_bytes": 16,
                        "channels": 16, "prepare_ns": 50.0} for case in results]
            (path / "tess.json").write_text(json.dumps({"context": {"level": "avx2", "rounds": "9"}, "benchmarks": entries}))
            with mock.patch("sys.argv", ["bench.py", "--build", folder, "--table", *arguments]), \
                    mock.patch("sys.stdout", io.StringIO()), self.assertRaises(SystemExit) as ended:
                main()
            return ended.exception.code, (path / "table.json").exists()

    def test_a_run_without_cases_is_no_success(self):
        for arguments in ((), ("--strict",), ("no-such-case",)):
            code, wrote = self.ending(*arguments)
            self.assertIn("no case", str(code))
            self.assertFalse(wrote)
        self.assertIn("no-such-case", str(self.ending("no-such-case")[0]))
        self.assertEqual(self.ending("--strict", results=["tess/call_1x1x16/i8-i8/pad16/dense/hot"]), (0, True))


if __name__ == "__main__":
    unittest.main()
