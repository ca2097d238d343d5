#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plants one bug after the other in a copy of kernels/a65 and expects the named test to fail.

Only the files that a bug touches are compiled again, with the commands of the build, and linked into a second
libsimaai-kernels.so that the built contract programs load in place of their own. A bug whose text is not found exactly
once fails the check: it would prove nothing.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

LIBRARY = "kernels/libsimaai-kernels.so.0.1.0"
SONAME = "libsimaai-kernels.so.0"


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    file: str  # below kernels/a65
    before: str
    after: str
    compile: tuple  # sources below kernels/a65 that contain the file
    program: str  # operation whose contract program must fail
    tests: str  # GoogleTest filter
    level: str = "scalar"
    stores: str = ""  # forced kind


LINEAR_SCALAR = ("simd/linear_rows_scalar.cpp",)
ROWS_SCALAR = ("simd/rows_scalar.cpp",)
SCALAR_LOOP = "  for (std::int64_t i = 0; i < row.count; ++i)\n    To::store(row.dst + i * dst_stride, From::load(row.src + i * src_stride));\n"
LOAD_F32 = "    return core::bf16_from_f32_bits(load_word<std::uint32_t>(from));\n"
BITS_F32 = "    auto bits = load_word<std::uint32_t>(from);\n"
PADDING = "  std::memset(pixel + stored + channels, 0, padding);\n"
EDGES = "Generated.*:Strided.*"
MANY_TILES = "ChannelAxis.ManyTiles*"

PORTABLE = (
    # The value is the same: only the guard page behind the input sees the access.
    Mutant("off-by-one read", "simd/linear_rows_scalar.cpp", SCALAR_LOOP,
           SCALAR_LOOP + "  static_cast<void>(*static_cast<const volatile std::byte*>(row.src + row.count * src_stride));\n",
           LINEAR_SCALAR, "cast", EDGES),
    Mutant("off-by-one write", "simd/linear_rows_scalar.cpp", SCALAR_LOOP,
           SCALAR_LOOP.replace("To::store", "  To::store").replace(
               "++i)\n", "++i) {\n") + "    row.dst[(i + 1) * dst_stride] = std::byte{0};\n  }\n",
           LINEAR_SCALAR, "cast", EDGES),
    Mutant("flushed subnormal", "simd/lanes_scalar.h", LOAD_F32,
           BITS_F32 + "    if ((bits & 0x7f800000U) == 0)\n      bits &= 0x80000000U;\n    return core::bf16_from_f32_bits(bits);\n",
           LINEAR_SCALAR, "cast", "Exhaustive.*:Golden.*"),
    Mutant("quieted NaN, Float32", "simd/lanes_scalar.h", LOAD_F32,
           BITS_F32 + "    if ((bits & 0x7fffffffU) > 0x7f800000U)\n      bits |= 0x00400000U;\n    return core::bf16_from_f32_bits(bits);\n",
           LINEAR_SCALAR, "cast", "Exhaustive.*:Golden.*"),
    Mutant("quieted NaN, BFloat16", "simd/lanes_scalar.h", "    store_word(to, core::f32_bits_from_bf16(bits));\n",
           "    if ((bits & 0x7fffU) > 0x7f80U)\n      bits = static_cast<std::uint16_t>(bits | 0x40U);\n"
           "    store_word(to, core::f32_bits_from_bf16(bits));\n",
           LINEAR_SCALAR, "cast", "Exhaustive.*:Golden.*"),
    Mutant("missing padding byte", "simd/lanes_scalar.h", PADDING, PADDING.replace(", padding)", ", padding - 1)"),
           ROWS_SCALAR, "casttess", "ChannelAxis.*:Generated.*"),
    Mutant("missing padding byte, strided channels", "simd/lanes_scalar.h", PADDING,
           PADDING.replace(", padding)", ", padding - 1)"), LINEAR_SCALAR, "casttess", EDGES),
    Mutant("missing padding byte, INT8", "simd/linear_rows_scalar.cpp",
           "      std::memset(dst + row.channels, row.fill, padding);\n",
           "      std::memset(dst + row.channels, row.fill, padding - 1);\n", LINEAR_SCALAR, "tess", EDGES),
)

AVX2 = (
    # Of the scalar level, but Gaps.* is written for this processor.
    Mutant("gap read and stored back", "simd/linear_rows_scalar.cpp", SCALAR_LOOP,
           SCALAR_LOOP.replace("++i)\n", "++i) {\n") + "    if (dst_stride > To::kBytes && i + 1 < row.count) {\n"
           "      volatile std::byte* const gap = row.dst + i * dst_stride + To::kBytes;\n      *gap = *gap;\n    }\n  }\n",
           LINEAR_SCALAR, "cast", "Gaps.*"),
    Mutant("negative Float16 zero taken for normal", "simd/lanes_avx2.h",
           "_mm256_cmpeq_epi16(bits, _mm256_setzero_si256()),", "_mm256_cmpeq_epi16(class_of(bits), _mm256_set1_epi16(kZero)),",
           ("simd/rows_avx2.cpp",), "casttess", "Exhaustive.*", "avx2"),
    Mutant("off-by-one read, every second scalar", "simd/block_lanes_avx2.h",
           "load_256(from + 28));", "load_256(from + 32));", ("simd/linear_rows_avx2.cpp",), "cast", EDGES, "avx2"),
    Mutant("read past a short tile", "simd/scatter_rows_avx2.cpp",
           "  return end - from >= 16 ? load_128(from) : load_bytes(from, bytes);\n",
           "  return end - from >= 0 * bytes ? load_128(from) : load_bytes(from, bytes);\n",
           ("simd/scatter_rows_avx2.cpp",), "detesscast", EDGES, "avx2"),
    Mutant("write past a short tile", "simd/gather_rows_avx2.cpp", "  if (end - to >= 16) {\n",
           "  if (end - to >= 15) {\n", ("simd/gather_rows_avx2.cpp",), "casttess", EDGES, "avx2"),
    Mutant("streaming without its unaligned end", "simd/linear_rows_avx2.cpp",
           "  Conversion::template step<Stores::Any>(src + last * kSrc, dst + last * kDst);\n", "",
           ("simd/linear_rows_avx2.cpp",), "cast", EDGES, "avx2"),
)

VBMI = ("simd/rows_avx512vbmi.cpp",)
AVX512VBMI = (
    Mutant("read past the last pixels", "simd/write_pixels_avx512vbmi.h",
           "      const __m512i values = load(type, src, first_bits(left * channels));\n",
           "      const __m512i values = load(type, src, first_bits(left * channels + 1));\n",
           VBMI, "casttess", EDGES, "avx512vbmi"),
    Mutant("write past the last pixels", "simd/isa_avx512.h", "    if (room >= 64)\n", "    if (room >= 60)\n",
           VBMI, "detesscast", EDGES, "avx512vbmi"),
    Mutant("subnormal Float16 taken for normal", "simd/isa_avx512.h",
           "_mm512_cmpge_epu16_mask(most_above, _mm512_set1_epi16(0x7800)) == 0;",
           "_mm512_cmpge_epi16_mask(most_above, _mm512_set1_epi16(0x7800)) == 0;",
           VBMI, "casttess", "Exhaustive.*:" + EDGES, "avx512vbmi"),
    Mutant("rounds ties up", "simd/isa_avx512.h", "    return _mm512_mask_add_epi32(sum, odd, sum, type.one);\n",
           "    return _mm512_mask_add_epi32(_mm512_add_epi32(sum, type.one), odd, sum, type.one);\n",
           VBMI, "casttess", "Exhaustive.*:Golden.*:" + EDGES, "avx512vbmi"),
    Mutant("missing padding byte, INT8", "simd/copies_avx512vbmi.h",
           "        _mm_storeu_si128(to, _mm_mask_loadu_epi8(fill, mask, src + bytes));\n",
           "        _mm_mask_storeu_epi8(to, 0x7fff, _mm_mask_loadu_epi8(fill, mask, src + bytes));\n",
           VBMI, "tess", EDGES, "avx512vbmi"),
    Mutant("next box not found, few channels", "simd/write_pixels_avx512vbmi.h",
           "      src += panel.box_linear_bytes;\n", "      src += panel.box_tile_bytes;\n",
           VBMI, "casttess", EDGES, "avx512vbmi"),
    Mutant("next box not found, many channels", "simd/write_wide_avx512vbmi.h",
           "      grid.dst += panel.box_tile_bytes;\n", "      grid.dst += panel.segment_tile_bytes;\n",
           VBMI, "casttess", "ChannelAxis.*", "avx512vbmi"),
    Mutant("next box not found, INT8", "simd/copies_avx512vbmi.h",
           "      box_src += all.box_src_bytes;\n", "      box_src += all.segment_src_bytes;\n",
           VBMI, "tess", EDGES, "avx512vbmi"),
    Mutant("lines of two pixels of 80 channels", "simd/write_wide_avx512vbmi.h",
           "_mm512_mask_alignr_epi64(rests, 0x3f, fourth, third, 6)", "_mm512_mask_alignr_epi64(rests, 0x3f, fourth, third, 4)",
           VBMI, "casttess", EDGES, "avx512vbmi"),
    Mutant("Float16 ties up", "simd/isa_avx512.h", "_mm512_mask_sub_epi16(given, even, given, constants.one);",
           "_mm512_mask_sub_epi16(given, even, given, _mm512_setzero_si512());",
           VBMI, "casttess", "Exhaustive.*:" + EDGES, "avx512vbmi"),
    Mutant("lines of all tiles, INT8", "simd/copies_avx512vbmi.h",
           "    std::swap(copies->box_dst_bytes, copies->segment_dst_bytes);\n", "",
           VBMI, "detess", EDGES, "avx512vbmi"),
    Mutant("last 16 bytes of INT8 pixels", "simd/copies_avx512vbmi.h",
           "      copy_16(dst + bytes - 16, src + bytes - 16);\n", "      copy_16(dst + bytes - 15, src + bytes - 15);\n",
           VBMI, "tess", EDGES, "avx512vbmi"),
    Mutant("read past a line of a plane", "simd/planar_avx512vbmi.h",
           "    const std::uint64_t pixels = first_bits(chunk.count);\n    const __m512i fill",
           "    const std::uint64_t pixels = first_bits(kPixels<From>);\n    const __m512i fill",
           VBMI, "casttess", EDGES, "avx512vbmi"),
    Mutant("write past a line of a plane", "simd/planar_avx512vbmi.h",
           "    if (pixels == 0xffffffffU)\n      _mm512_storeu_si512(dst, values);",
           "    if (pixels != 1)\n      _mm512_storeu_si512(dst, values);",
           VBMI, "detess", EDGES, "avx512vbmi"),
    Mutant("write past a line of few planes", "simd/planar_few_avx512vbmi.h",
           "first_bits(pixels * To::kBytes)", "first_bits(16)", VBMI, "detess", EDGES, "avx512vbmi"),
    Mutant("read past a line of few planes", "simd/planar_few_avx512vbmi.h",
           "gather<To>(walk, pixels / kPadded<To>)", "gather<To>(walk, kVectors)",
           VBMI, "detess", EDGES, "avx512vbmi"),
    Mutant("next tile of few planes", "simd/planar_few_avx512vbmi.h",
           "        next_segment_ += segment_bytes_;\n", "        next_segment_ += 64 * vectors_;\n",
           VBMI, "detesscast", EDGES, "avx512vbmi"),
    Mutant("pixels of planes swapped", "simd/planar_avx512vbmi.h",
           "          put_planes(to + chunk.at[row + 16], plane_bytes, upper);\n",
           "          put_planes(to + chunk.at[row + 16], plane_bytes, lower);\n",
           VBMI, "casttess", EDGES, "avx512vbmi"),
    Mutant("reads a gap of few channels", "simd/write_wide_avx512vbmi.h",
           "    const auto mask = static_cast<__mmask16>(every_second(values));\n",
           "    const auto mask = static_cast<__mmask16>(first_bits(2 * std::popcount(values)));\n",
           VBMI, "casttess", EDGES, "avx512vbmi"),
    Mutant("writes a gap of few channels", "simd/read_pixels_avx512vbmi.h",
           "    const std::uint64_t slots = first_bits(2 * values) & kEverySecond;\n",
           "    const std::uint64_t slots = first_bits(2 * values) | kEverySecond;\n",
           VBMI, "detesscast", EDGES, "avx512vbmi"),
    Mutant("writes a gap", "simd/spread_avx512vbmi.h",
           "    return Isa::first_bits(2 * channels) & kEverySecond;\n",
           "    return Isa::first_bits(2 * channels - 1);\n", VBMI, "detesscast", EDGES, "avx512vbmi"),
    Mutant("last quarter of a line past the cache", "simd/isa_avx512.h",
           "    stream_128(to + 48, _mm512_extracti32x4_epi32(value, 3));\n",
           "    stream_128(to + 48, _mm512_extracti32x4_epi32(value, 2));\n",
           VBMI, "casttess", EDGES, "avx512vbmi", "streaming"),
    Mutant("last pixels past the cache, INT8", "simd/isa_avx512.h", "      if (bytes > 32)\n", "      if (bytes > 48)\n",
           VBMI, "tess", EDGES, "avx512vbmi", "streaming"),
    Mutant("last pixel past the cache", "simd/write_pixels_avx512vbmi.h", "          Isa::put_first<true>(dst, 32, pixel);\n",
           "          Isa::put_first<true>(dst, 16, pixel);\n", VBMI, "casttess", EDGES, "avx512vbmi", "streaming"),
    Mutant("tiles left behind fours", "simd/bytes_avx512vbmi.h", "    rest.boxes = panel.boxes % kFour;\n",
           "    rest.boxes = (panel.boxes - 1) % kFour;\n", VBMI, "tess", MANY_TILES, "avx512vbmi"),
    Mutant("rows of four tiles", "simd/bytes_avx512vbmi.h", "Isa::load_512(src + 3 * box));\n",
           "Isa::load_512(src + 2 * box));\n", VBMI, "detess", MANY_TILES, "avx512vbmi"),
    Mutant("sixteen pixels of few channels", "simd/bytes_avx512vbmi.h", "static_cast<std::uint8_t>(i / channels % 4 * 16 + i % channels);",
           "static_cast<std::uint8_t>(i / channels % 4 * 16);", VBMI, "detess", "ChannelAxis.OneToFive*", "avx512vbmi"),
    Mutant("last tiles of one pixel", "simd/read_wide_avx512vbmi.h", "      box_src += step * panel.box_tile_bytes;\n      box_dst += step * panel.box_linear_bytes;\n    }\n  }\n\n  template <class To, bool kStream, Rest kRest>\n",
           "      box_src += panel.box_tile_bytes;\n      box_dst += step * panel.box_linear_bytes;\n    }\n  }\n\n  template <class To, bool kStream, Rest kRest>\n",
           VBMI, "detesscast", MANY_TILES, "avx512vbmi"),
    Mutant("two tiles of 80 channels", "simd/read_wide_avx512vbmi.h", "    const std::int64_t apart = across ? panel.box_tile_bytes : 160;",
           "    const std::int64_t apart = across ? 160 : 160;", VBMI, "detess", MANY_TILES, "avx512vbmi"),
    Mutant("last run of less than sixteen channels", "simd/read_wide_avx512vbmi.h", "    const std::int64_t other = rest > 16 ? panel.run_tile_bytes : 0;",
           "    const std::int64_t other = 0;", VBMI, "detess", MANY_TILES, "avx512vbmi"),
    Mutant("writes behind the last run", "simd/read_wide_avx512vbmi.h", "            _mm512_mask_storeu_epi8(to + next, rest_bytes, place(second, pixels, others));\n",
           "            _mm512_mask_storeu_epi8(to + next, rest_bytes << 2 | 3, place(second, pixels, others));\n",
           VBMI, "detess", MANY_TILES, "avx512vbmi"),
)


def cpu_has(flag):
    """Whether the machine has the instructions of a level; others cannot show that its bugs are caught."""
    return flag in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()


class Build:
    """The built tree: commands to compile one source and to link the library."""

    def __init__(self, folder, sources):
        self.folder, self.sources = folder, sources
        self.commands = {}
        for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
            path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
            # Tests compile some of these sources again for emulated levels.
            if path.is_relative_to(sources / "kernels" / "a65") and entry["output"].startswith("kernels/"):
                self.commands[str(path.relative_to(sources / "kernels" / "a65"))] = entry
        link = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", LIBRARY],
                              check=True, capture_output=True, text=True).stdout.splitlines()
        self.link_command = shlex.split(link[-1])

    def compile(self, source, copy, out):
        """Object of `source` from the tree below `copy`."""
        entry = self.commands[source]
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = str(out)
        words[-1] = str(copy / "a65" / source)
        first = next(index for index, word in enumerate(words) if word.startswith("-I"))
        self.run([*words[:first], f"-I{copy}", *words[first:]])
        return entry["output"]

    def link(self, replaced, folder):
        """A library in which the objects `replaced` (output -> object) stand for those of the build."""
        archive = next(word for word in self.link_command if word.endswith("libsimaai-kernels-a65.a"))
        members = subprocess.run(["ar", "t", archive], cwd=self.folder, check=True, capture_output=True, text=True).stdout
        objects = []
        for member in members.split():
            path = pathlib.Path(os.path.normpath(self.folder / member))
            if not path.exists():
                path = pathlib.Path(member).resolve()
            name = str(path.relative_to(self.folder))
            objects.append(str(replaced.get(name, path)))
        missing = set(replaced.values()) - set(map(pathlib.Path, objects))
        if missing:
            raise RuntimeError(f"not in the library: {missing}")
        new = folder / "a65.a"
        self.run(["ar", "rcs", str(new), *objects])
        words = [str(new) if word == archive else word for word in self.link_command]
        words[words.index("-o") + 1] = str(folder / SONAME)
        self.run(words)

    def run(self, words):
        subprocess.run(words, cwd=self.folder, check=True)


def failed_tests(build, library, mutant):
    """Names of the tests that fail with the library in `library`, or how the program ended."""
    program = build.folder / "tests" / "a65" / f"a65_{mutant.program}_contract"
    done = subprocess.run([str(program), f"--gtest_filter={mutant.tests}", "--gtest_brief=1", "--gtest_fail_fast"],
                          env={**os.environ, "LD_LIBRARY_PATH": str(library), "SIMAAI_A65_ISA": mutant.level,
                               **({"SIMAAI_A65_STORES": mutant.stores} if mutant.stores else {})},
                          capture_output=True, text=True, check=False)
    if done.returncode == 77:
        raise RuntimeError(f"level {mutant.level} is not available: {done.stdout[-300:]}")
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    failed = {word.rstrip(",") for line in done.stdout.splitlines() if line.startswith("[  FAILED  ] ")
              for word in line.split()[3:4] if "." in word}
    return ", ".join(sorted(failed)) or ("failed" if done.returncode else "")


def check(build, mutant, planted, work):
    """True where the outcome is as it must be: caught where `planted`, passing where not."""
    copy = work / "kernels"
    shutil.copytree(build.sources / "kernels" / "a65", copy / "a65")
    if planted:
        path = copy / "a65" / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.before) != 1:
            print(f"NOT APPLIED  {mutant.name}: the text to replace stands {text.count(mutant.before)} times in {mutant.file}")
            return False
        path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")
    replaced = {}
    for source in mutant.compile:
        out = work / (source.replace("/", "_") + ".o")
        replaced[build.compile(source, copy, out)] = out
    build.link(replaced, work)
    outcome = failed_tests(build, work, mutant)
    good = bool(outcome) == planted
    word = ("caught" if outcome else "MISSED") if planted else ("FAILS" if outcome else "passes")
    print(f"{word:12} {mutant.name if planted else 'nothing planted'} ({mutant.level}, a65_{mutant.program}_contract {mutant.tests})"
          + (f": {outcome}" if outcome else ""), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--cpu", required=True, help="cpu family that was built for")
    parser.add_argument("--only", default="", help="part of a name")
    options = parser.parse_args()
    build = Build(options.build.resolve(), options.sources.resolve())
    planted_here = PORTABLE
    if options.cpu == "x86_64":
        planted_here += AVX2
        if cpu_has("avx512_vbmi") or cpu_has("avx512vbmi"):
            planted_here += AVX512VBMI
        else:
            print("no AVX-512 with VBMI here: its bugs are not planted")
    mutants = [m for m in planted_here if options.only in m.name]
    good = True
    # Each program and level passes when nothing is planted: the way of building is not what fails.
    controls = {(m.program, m.level): m for m in mutants}
    for mutant, planted in [(m, False) for m in controls.values()] + [(m, True) for m in mutants]:
        with tempfile.TemporaryDirectory() as folder:
            good = check(build, mutant, planted, pathlib.Path(folder)) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
