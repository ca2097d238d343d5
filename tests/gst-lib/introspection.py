#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libgstsimaaitensor-1.0 through GObject introspection: getters and setters of shapes, sets, bytes, pools, errors."""
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
