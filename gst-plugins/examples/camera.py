#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The camera application in Python: camera -> tiles -> application -> tiles -> values.

camera.py [--camera /dev/video0] [--frames N] [--size 640x480] [--ev74 URI] [--raw FILE]

Options, results and exit statuses are those of camera.cpp. Needs python3-gst-1.0 and the typelib of libgstsimaaitensor-1.0.
"""
import argparse
import contextlib
import errno
import os
import re
import signal
import sys
import threading
import time

import gi

try:
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstSimaai", "1.0")
except ValueError as missing:
    sys.exit(f"camera.py: {missing}")
from gi.repository import GLib, Gst, GstApp, GstSimaai  # noqa: E402, F401 (GstApp: methods of appsink and appsrc)

NEGATE = bytes(byte ^ 0x80 for byte in range(256))


class Failure(Exception):
    pass


def stop(why):
    print(f"camera.py: {why}", file=sys.stderr, flush=True)
    os._exit(1)  # what could not be written would be tried again, and other threads may still run


def reason(failure):
    return failure.message if isinstance(failure, GLib.Error) else str(failure)


@contextlib.contextmanager
def mapped(tensors, buffer, flags):
    """The bytes of the first tensor of a buffer, in place."""
    memory, offset, size = tensors.get_memory(buffer, 0)
    access = memory.map(flags)
    view = memoryview(access.data)[offset:offset + size]
    try:
        yield view
    finally:
        view.release()
        memory.unmap(access)


class Latency:
    """When each frame left the camera, and how long it took to its result."""

    def __init__(self):
        self.begun = {}
        self.seconds = []

    def begin(self, _pad, info):
        self.begun[info.get_buffer().pts] = time.monotonic()
        return Gst.PadProbeReturn.OK

    def end(self, pts):
        begun = self.begun.pop(pts, None)
        if begun is not None:
            self.seconds.append(time.monotonic() - begun)

    def __str__(self):
        if not self.seconds:
            raise Failure("no frame arrived")
        ordered = sorted(self.seconds)
        p50, p95, most = (1000 * ordered[(len(ordered) - 1) * percent // 100] for percent in (50, 95, 100))
        return f"{len(ordered)} frames, latency p50 {p50:.2f} ms, p95 {p95:.2f} ms, max {most:.2f} ms"


class Application:
    """Answers tiles with tiles, in buffers of a pool of its own: each picture becomes its negative."""

    def __init__(self, caps):
        self.tensors = GstSimaai.TensorSet.new_from_caps(caps)
        info = self.tensors.get_tensor(0)
        self.channels = info.get_shape()[-1]
        if self.channels > 16 or info.get_channel_storage() != GstSimaai.ChannelStorage.PAD16:
            raise Failure("expected tiles of up to 16 channels, stored as 16")
        self.allocator = GstSimaai.allocator_get_shared()
        self.pool = GstSimaai.pool_new(caps, self.allocator, 2, 0)
        self.pool.set_active(True)

    def answer(self, tiles):
        """A driver would be given the descriptors of both buffers here."""
        flow, out = self.pool.acquire_buffer(None)
        if flow != Gst.FlowReturn.OK:
            raise Failure("no memory")
        out.pts, out.dts, out.duration = tiles.pts, tiles.dts, tiles.duration
        with mapped(self.tensors, tiles, Gst.MapFlags.READ) as source, \
                mapped(self.tensors, out, Gst.MapFlags.WRITE) as target:
            target[:] = source
            # With 16 channels stored a pixel is 32 bytes: the low bytes of all channels, then the high ones with the signs.
            for channel in range(16, 16 + self.channels):
                target[channel::32] = source[channel::32].tobytes().translate(NEGATE)
        return out

    def close(self):
        source = GstSimaai.allocator_get_source(self.allocator)
        print(f"memory: {source}, {GstSimaai.pool_get_allocations(self.pool)} buffers")
        self.pool.set_active(False)


def pass_tiles(pipeline, failures):
    """Hands tiles to the application until there are no more."""
    tiles, answers = pipeline.get_by_name("tiles"), pipeline.get_by_name("answers")
    application = None
    try:
        while (sample := tiles.pull_sample()) is not None:
            if application is None:
                application = Application(sample.get_caps())
                answers.set_caps(sample.get_caps())
            if answers.push_buffer(application.answer(sample.get_buffer())) != Gst.FlowReturn.OK:
                break
        if application is not None:
            application.close()
    except Exception as failure:  # whatever it is: a stream that nobody ends would be waited for
        failures.append(reason(failure))
    finally:
        answers.end_of_stream()


def on_result(sink, latency, raw, failures):
    sample = sink.pull_sample()
    if sample is None:
        return Gst.FlowReturn.EOS
    latency.end(sample.get_buffer().pts)
    if raw is None:
        return Gst.FlowReturn.OK
    try:
        tensors = GstSimaai.TensorSet.new_from_caps(sample.get_caps())
        with mapped(tensors, sample.get_buffer(), Gst.MapFlags.READ) as values:
            raw.write(values)
            raw.flush()
    except Exception as failure:  # out of a signal handler it would be printed and forgotten
        failures.append(f"{raw.name}: {failure.strerror}" if isinstance(failure, OSError) else reason(failure))
        return Gst.FlowReturn.ERROR
    return Gst.FlowReturn.OK


def pipeline_text(options):
    source = "v4l2src io-mode=dmabuf" if options.camera else "videotestsrc"
    width, height = options.size
    # A sink that the application feeds has nothing to wait for before PLAYING: async=false.
    return (f"{source} name=camera num-buffers={options.frames} ! video/x-raw,format=RGB,width={width},height={height}"
            " ! simaaivideototensor mean=<127.5> scale=<0.0078125> ! application/vnd.simaai.tensor,dtype=float32"
            " ! simaaicasttess name=into-tiles channel-storage=pad16 ! appsink name=tiles sync=false max-buffers=4"
            "  appsrc name=answers format=time block=true max-buffers=4 max-bytes=0"
            " ! simaaidetesscast name=out-of-tiles ! appsink name=results sync=false async=false emit-signals=true")


def set_properties(pipeline, options):
    """What a person may have written in any way is a property, and no part of the text of a pipeline."""
    if options.camera:
        pipeline.get_by_name("camera").set_property("device", options.camera)
    for name in ("into-tiles", "out-of-tiles") if options.ev74 else ():
        element = pipeline.get_by_name(name)
        Gst.util_set_object_arg(element, "backend", "ev74")
        element.set_property("device", options.ev74)


def run(options, raw):
    pipeline = Gst.parse_launch(pipeline_text(options))
    set_properties(pipeline, options)
    latency = Latency()
    pipeline.get_by_name("camera").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, latency.begin)
    failures = []
    pipeline.get_by_name("results").connect("new-sample", on_result, latency, raw, failures)
    # The application waits on a thread of its own, and never on one of the pipeline, which could not be stopped then.
    pipeline.set_state(Gst.State.PLAYING)
    application = threading.Thread(target=pass_tiles, args=(pipeline, failures))
    application.start()
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    application.join()
    if message.type == Gst.MessageType.ERROR:
        failures.append(message.parse_error()[0].message)
    if failures:
        raise Failure(failures[0])
    return latency


def size_of(text):
    found = re.fullmatch(r"([0-9]{1,9})x([0-9]{1,9})", text, re.ASCII)
    if not found or not all(1 <= int(one) <= 65536 for one in found.groups()):
        raise argparse.ArgumentTypeError(f"expected WIDTHxHEIGHT, each from 1 to 65536, found {text}")
    return tuple(map(int, found.groups()))


def frames_of(text):
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not 1 <= int(text) <= 1000000:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 1000000, found {text}")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")  # without the usage, which --help prints


def parse():
    parser = Parser(prog="camera.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--camera", metavar="DEVICE", help="video device; else a test picture")
    parser.add_argument("--frames", metavar="N", type=frames_of, default=100, help="number of frames, 100 by default")
    parser.add_argument("--size", metavar="WIDTHxHEIGHT", type=size_of, default=(640, 480), help="640x480 by default")
    parser.add_argument("--ev74", metavar="URI", help="convert on this device, such as model:")
    parser.add_argument("--raw", metavar="FILE", help="where to write the results, rows of float32")
    return parser.parse_args()


def main():
    options = parse()
    if sys.stdout is None:
        stop(f"standard output: {os.strerror(errno.EBADF)}")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python would see it when the wait for the pipeline is over
    Gst.init(None)
    writes = options.raw
    try:
        raw = open(options.raw, "wb") if options.raw else None
        latency = run(options, raw)
        if raw is not None:
            raw.close()
        writes = "standard output"
        print(latency)
        sys.stdout.flush()
    except (Failure, GLib.Error) as failure:
        stop(reason(failure))
    except OSError as failure:
        stop(f"{writes}: {failure.strerror}")


if __name__ == "__main__":
    main()
