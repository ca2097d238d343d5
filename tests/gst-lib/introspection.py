#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libgstsimaaitensor-1.0 through GObject introspection: getters and setters of shapes, sets, bytes, pools, errors."""
import contextlib
import pathlib
import re
import sys
import unittest

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSimaai", "1.0")
from gi.repository import GLib, Gst, GstSimaai  # noqa: E402

TILED = ("application/vnd.simaai.tensor, dtype=(string)bfloat16, shape=(int)< 1, 8, 6, 20 >, layout=(string)mla-tiled, "
         "tile-axes=(int)< -1, 1, 2, 3 >, tile-shape=(int)< 1, 4, 4, 16 >, channel-storage=(string)pad16")


class Introspection(unittest.TestCase):
    def refused(self, code, *words):
        """The call in this context is refused, for a reason with these words."""
        test = self

        class Refused:
            def __enter__(self):
                return self

            def __exit__(self, kind, failure, _trace):
                test.assertIs(kind, GLib.Error)
                test.assertTrue(failure.matches(GstSimaai.error_quark(), code), failure)
                for word in words:
                    test.assertIn(word, failure.message)
                return True

        return Refused()

    def test_setters_and_getters_of_arrays(self):
        info = GstSimaai.TensorInfo.new(GstSimaai.Dtype.BFLOAT16, [1, 8, 6, 20])
        self.assertEqual(info.get_strides(), [1920, 240, 40, 2])
        info.set_mla_tiled([-1, 1, 2, 3], [1, 4, 4, 16], GstSimaai.ChannelStorage.PAD16)
        self.assertEqual(info.to_caps().to_string(), TILED)
        self.assertEqual(info.get_shape(), [1, 8, 6, 20])
        self.assertEqual(info.get_tile_axes(), [-1, 1, 2, 3])
        self.assertEqual(info.get_tile_shape(), [1, 4, 4, 16])
        # Tiles of 16 and of 4 channels, both stored as 16, over the 8 x 6 pixels.
        self.assertEqual(info.get_size(), (True, 8 * 6 * 2 * 16 * 2))
        self.assertTrue(info.set_shape([4, 5]))
        self.assertTrue(info.set_strided([64, 4]))
        self.assertEqual(info.get_strides(), [64, 4])
        self.assertFalse(info.set_shape([1] * 7))
        self.assertEqual(info.get_shape(), [4, 5])
        self.assertEqual(info.get_layout(), GstSimaai.Layout.STRIDED)
        scalar = GstSimaai.TensorInfo.new(GstSimaai.Dtype.FLOAT32, [])
        self.assertEqual((scalar.get_shape(), scalar.get_size()), ([], (True, 4)))

    def test_an_axis_that_a_rank_does_not_have_is_absent(self):
        for shape, axes in (([5], [-1, -1, -1, 0]), ([4, 5], [-1, -1, 0, 1]), ([3, 4, 5], [-1, 0, 1, 2])):
            info = GstSimaai.TensorInfo.new(GstSimaai.Dtype.BFLOAT16, shape)
            info.set_mla_cblocked([1, 1, 1, 16])
            self.assertEqual(info.get_tile_axes(), axes)

    def test_each_getter_answers_for_each_tensor(self):
        """An array that is not there is an empty list, of a tensor alone and of one of a set."""
        member = "application/vnd.simaai.tensor,dtype=bfloat16,shape=<2,8,6,20>"
        layouts = {
            "contiguous": ([], []),
            "strided,strides=(gint64)<9600,1200,200,2>": ([], []),
            "mla-tiled,tile-axes=<-1,1,2,3>,tile-shape=<1,4,4,16>,channel-storage=pad16": ([-1, 1, 2, 3], [1, 4, 4, 16]),
            "mla-cblocked,tile-shape=<1,4,2,16>": ([-1, 1, 2, 3], [1, 4, 2, 16]),
        }
        scalar = "[application/vnd.simaai.tensor,dtype=int8,shape=<>,layout=contiguous,offset=(gint64)1000000]"
        for layout, (axes, tile) in layouts.items():
            plain = GstSimaai.TensorSet.new_from_caps(Gst.Caps.from_string(f"{member},layout={layout}"))
            shared = GstSimaai.TensorSet.new_from_caps(Gst.Caps.from_string(
                f"application/vnd.simaai.tensor-set,tensors=(structure)<[{member},layout={layout},offset=(gint64)64],{scalar}>"))
            for tensors in (plain, shared):
                info = tensors.get_tensor(0)
                self.assertEqual((info.get_tile_axes(), info.get_tile_shape()), (axes, tile), layout)
                self.assertEqual(info.get_shape(), [2, 8, 6, 20])
                self.assertEqual(len(info.get_strides()), 0 if axes else 4, layout)
                last = tensors.get_tensor(tensors.get_length() - 1)
                for one in (tensors, tensors.copy(), info, info.copy(), last):
                    self.call_getters(one)
        for one in (GstSimaai.TensorSet.new(), GstSimaai.TensorInfo.new(GstSimaai.Dtype.INT8, [2 ** 31 - 1] * 6)):
            self.call_getters(one)

    def call_getters(self, one):
        """Calls what takes no argument; PyGObject ends the process where it cannot convert an answer."""
        called = 0
        for name in dir(type(one)):
            if name.startswith(("get_", "is_", "to_")) and name != "get_tensor" and name != "get_memory":
                called += 1
                try:
                    getattr(one, name)()
                except GLib.Error as refused:
                    self.assertTrue(refused.message)
        self.assertGreater(called, 4)

    def test_arrays_of_other_lengths(self):
        info = GstSimaai.TensorInfo.new(GstSimaai.Dtype.INT8, [4, 4, 16])
        for axes, tile in (([0, 1, 2], [1, 1, 1, 1]), ([-1, 0, 1, 2], [1] * 5), ([], [])):
            with self.assertRaises((ValueError, TypeError)):
                info.set_mla_tiled(axes, tile, GstSimaai.ChannelStorage.PAD16)
        with self.assertRaises((ValueError, TypeError)):
            info.set_mla_cblocked([1, 2])
        self.assertFalse(info.set_strided([1]))
        self.assertEqual(info.get_layout(), GstSimaai.Layout.CONTIGUOUS)
        self.assertTrue(info.set_shape([]))
        self.assertEqual(info.get_strides(), [])

    def test_no_tensor_of_seven_extents(self):
        with self.assertRaises(TypeError):
            GstSimaai.TensorInfo.new(GstSimaai.Dtype.INT8, [1] * 7)

    def test_values_that_cannot_be(self):
        info = GstSimaai.TensorInfo.new(GstSimaai.Dtype.INT8, [4])
        for scale in (0, -1, float("inf"), float("nan")):
            info.set_quantization(scale, 0)
            for call in (info.to_caps, info.get_size):
                with self.refused(GstSimaai.Error.TENSOR, "quant-scale", "above 0"):
                    call()
        info.unset_quantization()
        info.set_framerate(-30, 1)
        with self.refused(GstSimaai.Error.TENSOR, "'framerate' is -30/1"):
            info.to_caps()

    def test_a_memory_that_is_kept_stays(self):
        caps = Gst.Caps.from_string("application/vnd.simaai.tensor,dtype=uint8,shape=<64>,layout=contiguous")
        tensors = GstSimaai.TensorSet.new_from_caps(caps)
        pool = GstSimaai.pool_new(caps, GstSimaai.allocator_get_shared(), 0, 0)
        pool.set_active(True)
        buffer = pool.acquire_buffer(None)[1]
        tensors.write(buffer, 0, GLib.Bytes.new(bytes(range(64))))
        memory = tensors.get_memory(buffer, 0)[0]
        access = memory.map(Gst.MapFlags.READ)
        del buffer
        for _ in range(3):
            buffer = pool.acquire_buffer(None)[1]
            self.assertTrue(tensors.write(buffer, 0, GLib.Bytes.new(bytes(64))))
            del buffer
        self.assertEqual(bytes(access.data[:64]), bytes(range(64)))
        self.assertEqual(GstSimaai.pool_get_allocations(pool), 2)
        memory.unmap(access)
        del memory
        pool.set_active(False)

    def test_optional_fields(self):
        info = GstSimaai.TensorInfo.new_from_caps(Gst.Caps.from_string(TILED))
        self.assertEqual(info.get_quantization(), (False, 1.0, 0))
        self.assertIsNone(info.get_tensor_id())
        info.set_quantization(0.25, -7)
        info.set_tensor_id("scores")
        info.set_framerate(30000, 1001)
        copy = GstSimaai.TensorInfo.new_from_caps(info.to_caps())
        self.assertEqual(copy.get_quantization(), (True, 0.25, -7))
        self.assertEqual(copy.get_tensor_id(), "scores")
        self.assertEqual(copy.get_framerate(), (True, 30000, 1001))
        self.assertEqual(copy.get_offset(), -1)

    def test_sets_and_bytes(self):
        built = GstSimaai.TensorSet.new()
        for count in (3, 5):
            built.append(GstSimaai.TensorInfo.new(GstSimaai.Dtype.UINT8, [count]))
        read = GstSimaai.TensorSet.new_from_caps(built.to_caps())
        self.assertEqual([read.get_tensor(i).get_shape() for i in range(read.get_length())], [[3], [5]])
        self.assertEqual(read.get_size(), (True, 8))
        buffer = Gst.Buffer.new_wrapped(bytes(range(8)))
        self.assertEqual(read.read(buffer, 1).get_data(), bytes(range(3, 8)))
        memory, offset, size = read.get_memory(buffer, 1)
        access = memory.map(Gst.MapFlags.READ)
        self.assertEqual(bytes(access.data[offset:offset + size]), bytes(range(3, 8)))
        memory.unmap(access)
        with self.refused(GstSimaai.Error.BUFFER, "needed 8 bytes", "found 4"):
            read.read(Gst.Buffer.new_wrapped(bytes(4)), 0)
        with self.refused(GstSimaai.Error.TENSOR, "no tensors"):
            GstSimaai.TensorSet.new().to_caps()

    def test_the_page_says_what_works(self):
        """The Python of docs/embedding.md, one block after the other."""
        text = (pathlib.Path(__file__).parents[2] / "docs" / "embedding.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(blocks), 1)
        names = {"contextlib": contextlib, "GLib": GLib, "Gst": Gst, "GstSimaai": GstSimaai}
        exec("".join(blocks), names)  # pylint: disable=exec-used
        self.assertEqual(names["content"], bytes(names["size"]))
        self.assertEqual(names["flow"], Gst.FlowReturn.OK)
        names["pool"].set_active(False)

    def test_pools(self):
        caps = Gst.Caps.from_string(TILED)
        allocator = GstSimaai.allocator_get_shared()
        pool = GstSimaai.pool_new(caps, allocator, 1, 2)
        pool.set_active(True)
        tensors = GstSimaai.TensorSet.new_from_caps(caps)
        _, size = tensors.get_size()
        content = bytes(i % 251 for i in range(size))
        for _ in range(4):
            flow, buffer = pool.acquire_buffer(None)
            self.assertEqual(flow, Gst.FlowReturn.OK)
            self.assertTrue(tensors.write(buffer, 0, GLib.Bytes.new(content)))
            self.assertEqual(tensors.read(buffer, 0).get_data(), content)
            self.assertEqual(GstSimaai.memory_get_kind(buffer.peek_memory(0)),
                             GstSimaai.allocator_get_kind(allocator))
            del buffer
        self.assertEqual(GstSimaai.pool_get_allocations(pool), 1)
        pool.set_active(False)
        with self.refused(GstSimaai.Error.POOL, "at least 3"):
            GstSimaai.pool_new(caps, None, 3, 2)
        with self.refused(GstSimaai.Error.CAPS, "video/x-raw"):
            GstSimaai.pool_new(Gst.Caps.from_string("video/x-raw"), None, 0, 0)


if __name__ == "__main__":
    Gst.init(None)
    sys.exit(unittest.main(verbosity=2))
