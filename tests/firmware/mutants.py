#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Deletes each wait, ownership check and bound of the firmware in turn; every such mutant must be caught.

usage: mutants.py SOURCE_ROOT RUNNER [--jobs N] [--only WORD] [--first N] [--count N] [--every N]

Each mutant is compiled into a shared library that RUNNER (mutant_runner.cpp) judges with the oracle and the
device model. A mutant is caught where the runner objects, crashes, or does not come to an end. The unchanged firmware must
pass. Every wait and every 16-bit bound in the sources must be in the table, so new ones cannot be forgotten.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ['-std=c++17', '-O1', '-fPIC', '-fno-exceptions', '-fno-rtti']
TIMEOUT = 120  # seconds a mutant may take before it counts as endless

COMMON = 'firmware/common/'
TILING = 'firmware/common/tiling/'
CAST = 'firmware/cast/'
DETESS = 'firmware/detess/'
DETESSCAST = 'firmware/detesscast/'
# (file, text, what replaces it). The text must occur exactly once.
MUTANTS = [
    # Waits.
    (COMMON + 'panels.h', '    worker.wait(reads[slot]);\n    worker.wait(writes[slot]);\n    steps',
     '    worker.wait(writes[slot]);\n    steps'),
    (COMMON + 'panels.h', '    worker.wait(writes[slot]);\n    steps', '    steps'),
    (COMMON + 'panels.h', '    worker.wait(reads[slot]);\n    worker.wait(writes[slot]);\n  }\n}', '    worker.wait(writes[slot]);\n  }\n}'),
    (COMMON + 'panels.h', '    worker.wait(writes[slot]);\n  }\n}', '  }\n}'),
    (COMMON + 'dma.h', '      services_.wait(services_.context, index_, chain.tail_);', '      (void)chain;'),
    (COMMON + 'dma.h', '&request, chain.tail_);', '&request, 0);'),
    # Admission and results.
    (COMMON + 'entry.cpp', 'if (services->workers == 0)', 'if (false)'),
    (COMMON + 'entry.cpp', 'if (services->local_bytes < local_bytes)', 'if (false)'),
    (COMMON + 'entry.cpp', 'if (reinterpret_cast<std::uintptr_t>(packet) % kernels::wire::kPacketAlignment != 0)', 'if (false)'),
    (COMMON + 'entry.cpp', 'check_geometry(out); !f.ok()', 'check_geometry(out); false'),
    (COMMON + 'entry.cpp', 'check_addresses(out); !f.ok()', 'check_addresses(out); false'),
    (COMMON + 'entry.cpp', 'bytes, out);\n      !f.ok()', 'bytes, out);\n      false'),
    (COMMON + 'entry.h', 'if (local == nullptr) {', 'if (false) {'),
    (COMMON + 'entry.h', 'if (!worker.ok())', 'if (false)'),
    # Granules and owners.
    (COMMON + 'publish.h', '(bytes - head) / kGranuleBytes * kGranuleBytes', '(bytes - head)'),
    (COMMON + 'publish.h', 'bytes < to_granule ? bytes : to_granule', 'to_granule'),
    (COMMON + 'publish.h', 'return (kGranuleBytes - device % kGranuleBytes) % kGranuleBytes;', 'return 0 * device;'),
    (COMMON + 'partition.h', 'whole_panels ? kPanelElements : kGranuleBytes / width', 'whole_panels ? kPanelElements : 1'),
    (COMMON + 'partition.h', 'const std::uint32_t to_granule = bytes_to_granule(device) / width;',
     'const std::uint32_t to_granule = 0 * device;'),
    (CAST + 'spans.cpp', 'return granule_cut(plan, even_cut(plan.count / unit, plan.workers, index) * unit);',
     'return even_cut(plan.count / unit, plan.workers, index) * unit;'),
    (CAST + 'spans.cpp', 'return pitch % kGranuleBytes == 0 && pitch', 'return pitch'),
    (CAST + 'plan.cpp', 'if (plan.destination % kGranuleBytes != 0)', 'if (false)'),
    (CAST + 'plan.cpp', 'if (axis != plan.column_axis && plan.axes[axis].dst % kGranuleBytes != 0)', 'if (false)'),
    (CAST + 'plan.cpp', 'while (unit * plan.axes[plan.column_axis].dst % kGranuleBytes != 0)', 'while (false)'),
    (CAST + 'columns.cpp', 'if (across_.dst % kGranuleBytes == 0 && across_.dst', 'if (across_.dst'),
    (TILING + 'cursor.cpp', 'while (unit * pixel_bytes_ % kGranuleBytes != 0)', 'while (false)'),
    (TILING + 'tile_writer.cpp', 'copy_local(out, rest, panel.carried);', '(void)rest;'),
    # Pitches of 16 bits.
    (CAST + 'spans.cpp', 'plan_.axes[plan_.rank - 2].src <= kMaxPitchBytes', 'true'),
    (CAST + 'spans.cpp', 'else if (step <= kMaxPitchBytes)', 'else if (true)'),
    (CAST + 'spans.cpp', '&& pitch <= kMaxPitchBytes;', ';'),
    (CAST + 'plan.cpp', 'if (plan.inner().src <= kMaxPitchBytes)', 'if (true)'),
    (CAST + 'columns.cpp', '&& across_.dst <= kMaxPitchBytes) {', ') {'),
    (TILING + 'tile_writer.cpp', '} else if (pitch <= kMaxPitchBytes) {', '} else if (true) {'),
    (TILING + 'tile_writer.cpp', 'if (f.channels < f.pixels && pixel_stride_ <= kMaxPitchBytes) {', 'if (f.channels < f.pixels) {'),
    (TILING + 'tile_writer.cpp', 'if (channel_stride_ <= kMaxPitchBytes)', 'if (true)'),
    (TILING + 'tile_writer.cpp', 'if (columns < f.rows && row_stride <= kMaxPitchBytes) {', 'if (columns < f.rows) {'),
    # Slots and panels.
    (CAST + 'spans.cpp', 'panel = {next_, at_most(end_ - next_, most_)};', 'panel = {next_, end_ - next_};'),
    (CAST + 'spans.cpp', 'most_(plan.packed_pairs ? kPanelElements / 2 : kPanelElements)', 'most_(kPanelElements)'),
    (CAST + 'spans.cpp', 'std::uint32_t count = at_most(left, inner.extent - walk.at(plan_.rank - 1));\n    read_run',
     'std::uint32_t count = left;\n    read_run'),
    (CAST + 'columns.cpp', 'whole ? at_most(columns, kPanelElements / along_.extent) : at_most(columns, kColumnGroup);', 'columns;'),
    (CAST + 'columns.cpp', 'panel.rows = at_most(block_rows_, along_.extent - row_);', 'panel.rows = block_rows_;'),
    (CAST + 'columns.cpp', 'panel.columns = at_most(block_columns_, share_.end - column_);', 'panel.columns = block_columns_;'),
    (TILING + 'tile_writer.cpp', 'left < plan_.panel_bytes ? left : plan_.panel_bytes', 'left'),
    (TILING + 'tile_writer.cpp', 'most = left < plan_.panel_bytes ? left : plan_.panel_bytes', 'most = plan_.panel_bytes'),
    (TILING + 'tile_plan.cpp', 'plan.panel_bytes = kPanelBytes / g.planes;', 'plan.panel_bytes = kPanelBytes;'),
    (TILING + 'cursor.cpp', 'least(bytes / pixel_bytes_, row_left)', 'bytes / pixel_bytes_'),
    (TILING + 'cursor.cpp', 'least(bytes, stored_ - first)', 'bytes'),
    (TILING + 'cursor.cpp', 'least(size, extent_[kAxisC] - first)', 'size'),
    (TILING + 'tile_plan.cpp', 'if (axes.tile[inner] != axes.extent[inner])', 'if (false)'),
    # Detess and DetessCast.
    (DETESS + 'fragments.h', '    worker.wait(reads[slot]);\n    if (fragment.opens)', '    if (fragment.opens)'),
    (DETESS + 'fragments.h', '    if (fragment.opens)\n      worker.wait(writes[fragment.output]);\n', ''),
    (DETESS + 'fragments.h', '    worker.wait(reads[slot]);\n    worker.wait(writes[slot]);\n  }\n}', '    worker.wait(writes[slot]);\n  }\n}'),
    (DETESS + 'fragments.h', '    worker.wait(writes[slot]);\n  }\n}', '  }\n}'),
    (DETESS + 'gather.cpp', '  worker_.wait(raw_chain_);\n', '  raw_chain_ = Chain();\n'),
    (DETESS + 'gather.cpp', '|| raw_used_ + bytes > kRawBytes', ''),
    (DETESS + 'gather.cpp', 'shape.rows == 1 || shape.row_pitch <= kMaxPitchBytes', 'true'),
    (DETESS + 'gather.cpp', 'shape.step <= kMaxPitchBytes && ', ''),
    (DETESS + 'gather.cpp', 'if (step <= kMaxPitchBytes) {', 'if (true) {'),
    (DETESS + 'gather.cpp', 'at_most(room_along(spot, along, from + done), columns - done)', 'columns - done'),
    (DETESS + 'raw_row.h', 'smallest(wanted, kRawBytes / spot.pixel_pitch, run_at(spot))', 'smallest(wanted, wanted, run_at(spot))'),
    (DETESS + 'raw_row.h', 'smallest(wanted, kRawBytes / spot.pixel_pitch, run_at(spot))',
     'smallest(wanted, kRawBytes / spot.pixel_pitch, wanted)'),
    (DETESSCAST + 'channel_band.cpp', 'room < job_.rows ? room : job_.rows', 'job_.rows'),
    (DETESSCAST + 'channel_band.h', 'rows < out ? rows : out', 'rows'),
    (DETESS + 'panel_plan.cpp', 'if (view.destination % kGranuleBytes != 0)\n', 'if (false)\n'),
    (DETESS + 'strided.cpp', 'view_.axes[axis].output_pitch % kGranuleBytes == 0 &&', 'true &&'),
    (DETESS + 'strided.cpp', 'view_.axes[axis].output_pitch <= kMaxPitchBytes)', 'true)'),
    (DETESS + 'select.cpp', 'd.destination_address % kGranuleBytes == 0;', 'true;'),
]
# Places that the table must cover.
GUARDS = re.compile(r'\.wait\(|services_\.wait\(|<= kMaxPitchBytes|% kGranuleBytes [!=]= 0')


def sources(root):
    files = [path for path in sorted((root / 'firmware').rglob('*.cpp'))
             if path.relative_to(root / 'firmware').parts[0] not in ('model', 'target')]
    return files + [root / 'kernels' / 'wire' / name for name in ('check.cpp', 'descriptor.cpp')]


def compile_object(root, source, output, overlay=None):
    include = ['-I', str(overlay)] if overlay else []
    include += ['-I', str(root), '-I', str(root / 'kernels')]
    subprocess.run(['g++', *FLAGS, *include, '-MMD', '-c', str(source), '-o', str(output)], check=True)


def dependencies(root, deps):
    words = deps.read_text().replace('\\\n', ' ').split()[1:]
    return {str(pathlib.Path(word).resolve().relative_to(root)) for word in words
            if pathlib.Path(word).resolve().is_relative_to(root)}


class Build:
    """The unchanged objects; a mutant recompiles only what includes its file."""

    def __init__(self, root, runner, folder, jobs):
        self.root, self.runner, self.folder = root, runner, folder
        self.objects, self.users = {}, {}
        found = sources(root)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda item: compile_object(root, item[1], folder / f'{item[0]}.o'), enumerate(found)))
        for number, source in enumerate(found):
            self.objects[source] = folder / f'{number}.o'
            self.users[source] = dependencies(root, folder / f'{number}.d')

    def judge(self, library):
        try:
            return subprocess.run([self.runner, library], capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([], 1, 'comes to no end', '')

    def link(self, objects, library):
        subprocess.run(['g++', '-shared', '-Wl,-Bsymbolic', '-o', str(library), *map(str, objects)], check=True)

    def run_mutant(self, number):
        name, text, replacement = MUTANTS[number]
        folder = self.folder / f'mutant{number}'
        changed = folder / name
        changed.parent.mkdir(parents=True)
        changed.write_text((self.root / name).read_text().replace(text, replacement))
        objects = []
        for source, compiled in self.objects.items():
            if name in self.users[source]:
                own = folder / compiled.name
                # The overlay comes first in the search path; a changed source is compiled itself.
                compile_object(self.root, changed if source == self.root / name else source, own, folder)
                compiled = own
            objects.append(compiled)
        self.link(objects, folder / 'mutant.so')
        return self.judge(folder / 'mutant.so')


def check_table(root):
    findings = []
    covered = {}
    for name, text, _ in MUTANTS:
        if (root / name).read_text().count(text) != 1:
            findings.append(f'{name}: the text of a mutant does not occur exactly once: {text!r}')
        covered.setdefault(name, []).append(text)
    for file in sources(root) + sorted((root / 'firmware').rglob('*.h')):
        name = str(file.relative_to(root))
        if file.relative_to(root).parts[1] in ('model', 'target', 'wire'):
            continue
        for line in file.read_text().splitlines():
            if GUARDS.search(line) and not any(part.strip() in line or line.strip() in part
                                               for part in covered.get(name, [])):
                findings.append(f'{name}: no mutant deletes {line.strip()!r}')
    return findings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('root')
    parser.add_argument('runner')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', default='')
    parser.add_argument('--first', type=int, default=0, help='leave out that many mutants of the table')
    parser.add_argument('--count', type=int, help='take at most that many, before --every')
    parser.add_argument('--every', type=int, default=1, help='take each so-many-th mutant of the table')
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.root).resolve()
    if findings := check_table(root):
        sys.exit('\n'.join(findings))
    with tempfile.TemporaryDirectory() as name:
        build = Build(root, arguments.runner, pathlib.Path(name), arguments.jobs)
        build.link(build.objects.values(), build.folder / 'whole.so')
        whole = build.judge(build.folder / 'whole.so')
        if whole.returncode != 0:
            sys.exit(f'the unchanged firmware fails: {whole.stdout}{whole.stderr}')
        chosen = [n for n, mutant in enumerate(MUTANTS) if arguments.only in mutant[0] + mutant[1]]
        chosen = chosen[arguments.first:][:arguments.count][::arguments.every]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(pool.map(build.run_mutant, chosen))
    survivors = 0
    for number, result in zip(chosen, results):
        file, text, _ = MUTANTS[number]
        caught = result.returncode == 1 or result.returncode < 0
        survivors += not caught
        reason = result.stdout.strip().splitlines()
        print(f"{'caught  ' if caught else 'SURVIVED'} {file}: {text.strip().splitlines()[0][:60]!r}: "
              f"{reason[0][:160] if reason else f'status {result.returncode}'}")
    print(f'{len(chosen) - survivors} of {len(chosen)} mutants caught')
    sys.exit(1 if survivors or not chosen else 0)


if __name__ == '__main__':
    main()
