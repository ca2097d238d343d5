#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""simaai-tgmx from outside: every command, every conversion, every malformed file.

usage: tgmx_tool.py PROGRAM
"""
import os
import pathlib
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
WORKED = [[1, -2, 3], [4, 5, -6]]


def tgmx(rows, version=1, magic=b'TGMX', shape=None):
    shape = shape or (len(rows), len(rows[0]))
    records = b''.join(struct.pack('<HHb', i, j, value)
                       for i, row in enumerate(rows) for j, value in enumerate(row))
    return magic + struct.pack('<BHH', version, *shape) + records


def npy(rows, descr='|i1', fortran=False, shape=None, data=None, header=None, version=1):
    shape = shape or (len(rows), len(rows[0]))
    if header is None:
        header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    if data is None:
        order = zip(*rows) if fortran else rows
        data = b''.join(struct.pack('b', value) for row in order for value in row)
    length = struct.pack('<H' if version == 1 else '<I', len(header))
    return b'\x93NUMPY' + bytes([version, 0]) + length + header.encode() + data


def text(rows):
    return ''.join(' '.join(map(str, row)) + '\n' for row in rows).encode()


def limit_files():
    """In a child: files of at most 4 KB, and an error instead of a signal beyond that."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = pathlib.Path(self.folder.name) / name
        if content is not None:
            path.write_bytes(content)
        return path

    def run_tool(self, *arguments, status=0, stdin=None):
        result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, input=stdin)
        self.assertEqual(result.returncode, status, result.stderr.decode(errors='replace'))
        return result.stdout, result.stderr.decode()

    def expect_refused(self, content, message, name='bad.tgmx'):
        """Every command that reads the file names it and the reason, and leaves an output alone."""
        path = self.path(name, content)
        output = self.path('untouched.txt', b'before')
        commands = [('convert', path, output)]
        if name.endswith('.tgmx'):
            commands += [('info', path), ('print', path), ('verify', path)]
        for command in commands:
            out, err = self.run_tool(*command, status=1)
            self.assertEqual(out, b'')
            self.assertEqual(err, f'simaai-tgmx: {path}: {message}\n')
        self.assertEqual(output.read_bytes(), b'before')

    def test_info_names_shape_size_and_range(self):
        path = self.path('a.tgmx', tgmx(WORKED))
        self.assertEqual(self.run_tool('info', path)[0].decode(),
                         f'{path}: 2 x 3, 39 bytes, elements -6 to 5\n')

    def test_print_writes_rows(self):
        self.assertEqual(self.run_tool('print', self.path('a.tgmx', tgmx(WORKED)))[0], text(WORKED))

    def test_verify_is_silent_about_sound_files_and_names_each_bad_one(self):
        good = self.path('good.tgmx', tgmx(WORKED))
        self.assertEqual(self.run_tool('verify', good, good), (b'', ''))
        bad, worse = self.path('bad.tgmx', b'TGM'), self.path('worse.tgmx', tgmx(WORKED)[:-1])
        err = self.run_tool('verify', bad, good, worse, status=1)[1]
        self.assertEqual([line.split(': ')[1] for line in err.splitlines()], [str(bad), str(worse)])

    def test_every_conversion_keeps_the_elements(self):
        generator = random.Random(7)
        for rows in (WORKED, [[0]], [[-128, 127]] * 9,
                     [[generator.randrange(-128, 128) for _ in range(33)] for _ in range(17)]):
            forms = {'tgmx': tgmx(rows), 'npy': npy(rows), 'txt': text(rows)}
            for source, content in forms.items():
                for target, expected in forms.items():
                    output = self.path(f'out.{target}')
                    self.run_tool('convert', self.path(f'in.{source}', content), output)
                    self.assertEqual(output.read_bytes(), expected, (source, target))
            output = self.path('fortran.npy')
            self.run_tool('convert', '--order', 'column', self.path('in.tgmx', tgmx(rows)), output)
            self.assertEqual(output.read_bytes(), npy(rows, fortran=True))
            back = self.path('back.tgmx')
            self.run_tool('convert', output, back)
            self.assertEqual(back.read_bytes(), tgmx(rows))

    def test_pipes_and_explicit_formats(self):
        out = self.run_tool('convert', '--from', 'text', '--to', 'tgmx', '/dev/stdin', '/dev/stdout',
                            stdin=b'# weights\n1, -2; 3\n\n+4\t5 -6 # last row\r\n')[0]
        self.assertEqual(out, tgmx(WORKED))
        self.assertEqual(self.run_tool('print', '/dev/stdin', stdin=tgmx(WORKED))[0], text(WORKED))

    def test_standard_output_is_written_where_it_stands(self):
        """Neither cut, as opening /dev/stdout anew would, nor removed where it takes no more."""
        source = self.path('in.tgmx', tgmx(WORKED))
        for form, expected in (('tgmx', tgmx(WORKED)), ('npy', npy(WORKED)), ('text', text(WORKED))):
            for name in ('-', '/dev/stdout'):
                target = self.path('all', b'before')
                with open(target, 'ab') as output:
                    for _ in range(2):
                        subprocess.run([PROGRAM, 'convert', '--to', form, source, name], stdout=output, check=True)
                self.assertEqual(target.read_bytes(), b'before' + 2 * expected)
                with open(self.path('all', b'before'), 'ab') as output:
                    result = subprocess.run(
                        [PROGRAM, 'convert', '--to', form, source, name], stdout=output, stderr=subprocess.PIPE,
                        preexec_fn=lambda: (limit_files(), resource.setrlimit(resource.RLIMIT_FSIZE, (6, 6))))
                self.assertEqual((result.returncode, result.stderr),
                                 (1, b'simaai-tgmx: standard output: cannot be written: File too large\n'))
                self.assertEqual(target.read_bytes(), b'before')

    def test_standard_input_may_be_a_socket(self):
        for name in ('-', '/dev/stdin'):
            for arguments, content, expected in (
                    (['print', name], tgmx(WORKED), text(WORKED)),
                    (['convert', '--from', 'text', '--to=npy', name, '-'], text(WORKED), npy(WORKED)),
                    (['info', name], tgmx(WORKED), b'standard input: 2 x 3, 39 bytes, elements -6 to 5\n')):
                here, there = socket.socketpair()
                with here, there:
                    here.sendall(content)
                    here.shutdown(socket.SHUT_WR)
                    result = subprocess.run([PROGRAM, *arguments], stdin=there, capture_output=True)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, expected, b''))
        err = self.run_tool('verify', '-', status=1, stdin=b'TGM')[1]
        self.assertEqual(err, 'simaai-tgmx: standard input: too short: a header has 9 bytes, there are 3\n')

    def test_text_of_other_systems(self):
        for content in (b'1 -2 3\r\n4 5 -6\r\n', b'1 -2 3\r4 5 -6\r', b'\xef\xbb\xbf1,-2,3\n4,5,-6\n',
                        b'# signs\r1;-2;3\r# more\r\r4;5;-6'):
            output = self.path('out.tgmx')
            self.run_tool('convert', self.path('in.csv', content), output)
            self.assertEqual(output.read_bytes(), tgmx(WORKED))

    def test_other_npy_headers_of_the_same_matrix(self):
        for content in (npy(WORKED, version=2), npy(WORKED, version=3), npy(WORKED, descr='<i1'),
                        npy(WORKED, header='{"shape":(2,3),"fortran_order":False,"descr":"|i1"}')):
            output = self.path('out.tgmx')
            self.run_tool('convert', self.path('in.npy', content), output)
            self.assertEqual(output.read_bytes(), tgmx(WORKED))

    def test_malformed_tgmx(self):
        good = tgmx(WORKED)
        for content, message in (
                (b'', 'too short: a header has 9 bytes, there are 0'),
                (good[:8], 'too short: a header has 9 bytes, there are 8'),
                (tgmx(WORKED, magic=b'TGMY'), 'not TGMX: the first four bytes belong to another format'),
                (tgmx(WORKED, version=2), 'version 2 is not supported, only 1'),
                (tgmx(WORKED, shape=(0, 3)), 'the stated shape is 0 x 3; both dimensions must be 1 to 11172'),
                (tgmx(WORKED, shape=(2, 11173)),
                 'the stated shape is 2 x 11173; both dimensions must be 1 to 11172'),
                (tgmx(WORKED, shape=(11172, 11172)),
                 'truncated: the shape needs 624067929 bytes, there are 39'),
                (good[:-1], 'truncated: the shape needs 39 bytes, there are 38'),
                (good + b'\0', 'trailing bytes behind the 39 that the shape accounts for'),
                (good + good, 'trailing bytes behind the 39 that the shape accounts for'),
                (good[:9] + b'\x02' + good[10:],
                 'the record at byte 9 names coordinate (2, 0), which is outside the matrix, instead of (0, 0)'),
                (good[:14] + good[19:24] + good[14:19] + good[24:],
                 'the record at byte 14 names coordinate (0, 2) instead of its own position (0, 1)')):
            self.expect_refused(content, message)

    def test_malformed_npy(self):
        malformed = 'the .npy header is malformed'
        for content, message in (
                (b'', 'not .npy: the first six bytes belong to another format'),
                (tgmx(WORKED), 'not .npy: the first six bytes belong to another format'),
                (npy(WORKED)[:10], 'the .npy header is truncated'),
                (npy(WORKED)[:40], 'the .npy header is truncated'),
                (npy(WORKED, version=4), 'version 4 of .npy is not supported'),
                (npy(WORKED, header='descr'), malformed),
                (npy(WORKED, header="{'descr': '|i1', 'fortran_order': False}"), malformed),
                (npy(WORKED, header="{'descr': '|i1', 'fortran_order': 0, 'shape': (2, 3)}"), malformed),
                (npy(WORKED, header="{'descr': '|i1', 'fortran_order': False, 'shape': (2, -3)}"), malformed),
                (npy(WORKED, header="{'descr': '|i1', 'fortran_order': False, 'shape': (2 3)}"), malformed),
                (npy(WORKED, header="{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3"), malformed),
                (npy(WORKED, descr='<f4'),
                 'the .npy elements are "<f4", only int8 ("|i1") is a matrix element'),
                (npy(WORKED, shape=(6,)), 'the .npy shape (6,) has rank 1, a matrix has rank 2'),
                (npy(WORKED, shape=(1, 2, 3)), 'the .npy shape (1, 2, 3) has rank 3, a matrix has rank 2'),
                (npy(WORKED, shape=(0, 3), data=b''),
                 'the .npy shape is (0, 3); both dimensions must be 1 to 11172'),
                (npy(WORKED, shape=(1, 11173)),
                 'the .npy shape is (1, 11173); both dimensions must be 1 to 11172'),
                (npy(WORKED)[:-1], 'the .npy shape (2, 3) needs 6 bytes of elements, there are 5'),
                (npy(WORKED) + b'\0', 'the .npy shape (2, 3) needs 6 bytes of elements, there are 7')):
            self.expect_refused(content, message, 'bad.npy')

    def test_malformed_text(self):
        for content, message in (
                (b'', 'the text holds no number'),
                (b'# nothing\n\n', 'the text holds no number'),
                (b'1 2\n3\n', 'line 2 has 1 numbers, the lines before it have 2'),
                (b'1 2\n3 x\n', 'line 2, number 2: "x" is not a whole number'),
                (b'1.5\n', 'line 1, number 1: "1.5" is not a whole number'),
                (b'+\n', 'line 1, number 1: "+" is not a whole number'),
                (b'+-5\n', 'line 1, number 1: "+-5" is not a whole number'),
                (b'1 -129\n', 'line 1, number 2: "-129" is outside -128 to 127'),
                (b'128\n', 'line 1, number 1: "128" is outside -128 to 127'),
                (b'99999999999999999999\n', 'line 1, number 1: "99999999999999999999" is outside -128 to 127'),
                (b'\xff\x00abc\n', 'line 1, number 1: "??abc" is not a whole number'),
                (b'1,,3\n4,5,6\n', 'line 1, number 2: the cell is empty'),
                (b',2,3\n', 'line 1, number 1: the cell is empty'),
                (b'1,2\n3, \n', 'line 2, number 2: the cell is empty'),
                (b'1; ;3 # last\n', 'line 1, number 2: the cell is empty'),
                (b'1 2\r3\r', 'line 2 has 1 numbers, the lines before it have 2'),
                (b'1 2\r\n3 4\r\n5 x\r\n', 'line 3, number 2: "x" is not a whole number'),
                (b'1 ' * 11173 + b'\n', 'the text is 1 x 11173; both dimensions must be 1 to 11172')):
            self.expect_refused(content, message, 'bad.txt')

    def test_files_that_cannot_be_used(self):
        missing = self.path('missing.tgmx')
        self.assertEqual(self.run_tool('info', missing, status=1)[1],
                         f'simaai-tgmx: {missing}: cannot be opened: No such file or directory\n')
        self.assertIn('cannot be read: Is a directory',
                      self.run_tool('verify', self.folder.name, status=1)[1])
        good = self.path('good.tgmx', tgmx(WORKED))
        for target in ('/dev/full', self.path('no/folder.tgmx')):
            for form in ('tgmx', 'npy', 'text'):
                err = self.run_tool('convert', '--to', form, good, target, status=1)[1]
                self.assertIn(f'simaai-tgmx: {target}: cannot be ', err)

    def test_what_cannot_be_printed_is_no_success(self):
        good = self.path('good.tgmx', tgmx(WORKED))
        for arguments in (['info', good], ['info', good, good], ['print', good], ['--help']):
            with open('/dev/full', 'wb') as full:
                result = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertEqual(result.stderr.decode(),
                             'simaai-tgmx: standard output: cannot be written: No space left on device\n')
            closed = subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
            self.assertEqual(closed.returncode, 1, arguments)
            self.assertIn('standard output: cannot be written', closed.stderr.decode())

    def test_a_file_that_cannot_be_written_whole_is_removed(self):
        good = self.path('good.tgmx', tgmx([[1] * 100] * 100))
        for form in ('tgmx', 'npy', 'text'):
            target = self.path(f'part.{form}', b'what was there before')
            result = subprocess.run([PROGRAM, 'convert', '--to', form, good, target], capture_output=True,
                                    preexec_fn=limit_files)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f'simaai-tgmx: {target}: cannot be written: File too large', result.stderr.decode())
            self.assertFalse(target.exists())

    def test_links_are_followed_and_stay(self):
        good = self.path('good.tgmx', tgmx([[1] * 100] * 100))
        small = self.path('small.tgmx', tgmx(WORKED))
        target = self.path('target.tgmx', b'what was there before')
        target.chmod(0o600)
        link = self.path('link.tgmx')
        link.symlink_to(target.name)
        self.run_tool('convert', '--to', 'tgmx', small, link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_bytes(), small.read_bytes())
        self.assertEqual(target.stat().st_mode & 0o777, 0o600)
        result = subprocess.run([PROGRAM, 'convert', '--to', 'tgmx', good, link], capture_output=True,
                                preexec_fn=limit_files)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(link.is_symlink(), 'the link is not what was written')
        self.assertFalse(target.exists(), 'the part is not taken for the whole')

    def test_wrong_usage_explains_itself(self):
        good = self.path('good.tgmx', tgmx(WORKED))
        for arguments, message in (
                ([], 'a command is missing'),
                (['show', good], 'unknown command show'),
                (['show'], 'unknown command show'),
                (['--to', 'npy'], 'unknown command --to'),
                (['info'], 'info needs a file'),
                (['print', good, good], 'print takes one file'),
                (['convert', good], 'convert takes an input and an output'),
                (['convert', good, self.path('a.bin')], 'a.bin: the extension names no format; use --to'),
                (['convert', self.path('a.bin'), good], 'a.bin: the extension names no format; use --from'),
                (['convert', '--to', 'json', good, good], '--to is tgmx, npy or text, not "json"'),
                (['convert', '--order', 'up', good, good], '--order is row or column, not "up"'),
                (['convert', '--speed', '1', good, good], 'unknown option --speed'),
                (['convert', '--speed=1', good, good], 'unknown option --speed'),
                (['convert', '--order', 'row', good, good], '--order is for npy outputs'),
                (['convert', '--order=up', good, good], '--order is row or column, not "up"'),
                (['convert', '--to=', good, good], '--to is tgmx, npy or text, not ""'),
                (['convert', good, good, '--to'], '--to needs a value')):
            err = self.run_tool(*arguments, status=2)[1]
            self.assertIn(message, err.splitlines()[0])
            self.assertIn('usage: simaai-tgmx info FILE', err)
        self.assertEqual(good.read_bytes(), tgmx(WORKED))
        for arguments in (['--help'], ['-h'], ['help'], ['convert', '--help'], ['info', '-h'], ['print', good, '-h'],
                          ['convert', '--to', '-h']):
            out, err = self.run_tool(*arguments)
            self.assertIn(b'usage: simaai-tgmx', out)
            self.assertEqual(err, '')

    def test_options_in_either_spelling_and_names_that_look_like_options(self):
        good = self.path('good.tgmx', tgmx(WORKED))
        self.run_tool('convert', '--from=tgmx', '--order=column', good, self.path('out.npy'))
        self.assertEqual(self.path('out.npy').read_bytes(), npy(WORKED, fortran=True))
        odd = self.path('--help', tgmx(WORKED))
        back = subprocess.run([PROGRAM, 'convert', '--from', 'tgmx', '--', odd.name, '--to.npy'],
                              cwd=self.folder.name, capture_output=True)
        self.assertEqual((back.returncode, back.stderr), (0, b''))
        self.assertEqual(self.path('--to.npy').read_bytes(), npy(WORKED))
        for command in ('info', 'print', 'verify'):
            shown = subprocess.run([PROGRAM, command, '--', odd.name], cwd=self.folder.name, capture_output=True)
            self.assertEqual((shown.returncode, shown.stderr), (0, b''), command)


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
