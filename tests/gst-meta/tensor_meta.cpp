// SPDX-License-Identifier: LGPL-2.1-or-later
// Against GStreamer 1.26: what GstTensorMeta says of tensors that leave simaaitensorbridge, and of outputs that downstream asked to have
// it. A program without a test framework: it runs in a tree of another release. Exit status: number of failures.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gst/analytics/analytics.h>
#include <gst/check/gstharness.h>

#include "common/gstsimaaitensortransform.h"
#include "tensorbridge/gstsimaaitensorbridge.h"

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds)
    return;
  std::printf("not so: %s\n", what);
  ++failures;
}

GstHarness* harness_of(const char* element, const char* sink_caps, const char* src_caps,
                       bool ask_for_meta) {
  GstHarness* harness = gst_harness_new(element);
  gst_harness_set_sink_caps_str(harness, sink_caps);
  if (ask_for_meta)
    gst_harness_add_propose_allocation_meta(harness, GST_TENSOR_META_API_TYPE, nullptr);
  gst_harness_set_src_caps_str(harness, src_caps);
  return harness;
}

GstBuffer* through(GstHarness* harness, const std::vector<guint8>& bytes, bool shared = false) {
  GstBuffer* input =
      bytes.empty() ? gst_buffer_new() : gst_buffer_new_memdup(bytes.data(), bytes.size());
  if (shared)
    gst_buffer_ref(input);
  expect(gst_harness_push(harness, input) == GST_FLOW_OK, "the buffer is taken");
  GstBuffer* output = gst_harness_try_pull(harness);
  expect(output != nullptr, "there is an output");
  if (shared)
    gst_buffer_unref(input);
  return output;
}

bool holds(GstBuffer* data, const std::vector<guint8>& bytes) {
  return gst_buffer_get_size(data) == bytes.size() &&
         gst_buffer_memcmp(data, 0, bytes.data(), bytes.size()) == 0;
}

void bridge_says_what_there_is(bool shared) {
  GstHarness* harness =
      harness_of("simaaitensorbridge", "tensor/strided",
                 "application/"
                 "vnd.simaai.tensor,dtype=bfloat16,layout=contiguous,shape=<1,2,3>,tensor-id=boxes",
                 false);
  const std::vector<guint8> bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  GstBuffer* output = through(harness, bytes, shared);
  GstTensorMeta* meta = gst_buffer_get_tensor_meta(output);
  expect(meta != nullptr && meta->num_tensors == 1, "a dense tensor has the meta");
  if (meta != nullptr) {
    const GstTensor* tensor = gst_tensor_meta_get(meta, 0);
    expect(tensor->id == g_quark_from_string("boxes"), "the id is the tensor-id");
    expect(tensor->layout == GST_TENSOR_LAYOUT_CONTIGUOUS, "the layout is contiguous");
    expect(tensor->data_type == GST_TENSOR_DATA_TYPE_BFLOAT16, "the type is bfloat16");
    expect(tensor->dims_order == GST_TENSOR_DIM_ORDER_ROW_MAJOR, "dims are row-major");
    expect(tensor->num_dims == 3 && tensor->dims[0] == 1 && tensor->dims[1] == 2 &&
               tensor->dims[2] == 3,
           "dims are the shape, outermost first");
    expect(holds(tensor->data, bytes), "the data are the tensor's");
    expect(gst_buffer_peek_memory(tensor->data, 0) == gst_buffer_peek_memory(output, 0),
           "the memory is the buffer's own");
  }
  gst_buffer_unref(output);
  gst_harness_teardown(harness);
}

void sets_have_one_for_each_tensor() {
  GstHarness* harness = harness_of(
      "simaaitensorbridge", "other/tensors",
      "application/vnd.simaai.tensor-set,tensors=(structure)<"
      "[application/vnd.simaai.tensor,dtype=uint8,layout=contiguous,shape=<3>,offset=(gint64)4],"
      "[application/vnd.simaai.tensor,dtype=int32,layout=contiguous,shape=<>,offset=(gint64)0]>",
      false);
  GstBuffer* output = through(harness, {1, 2, 3, 4, 5, 6, 7, 8});
  GstTensorMeta* meta = gst_buffer_get_tensor_meta(output);
  expect(meta != nullptr && meta->num_tensors == 2, "a set has a meta of two tensors");
  if (meta != nullptr && meta->num_tensors == 2) {
    expect(holds(gst_tensor_meta_get(meta, 0)->data, {5, 6, 7}), "the first tensor");
    expect(holds(gst_tensor_meta_get(meta, 1)->data, {1, 2, 3, 4}), "the second tensor");
    const GstTensor* scalar = gst_tensor_meta_get(meta, 1);
    expect(scalar->num_dims == 1 && scalar->dims[0] == 1, "a scalar has the dimension 1");
  }
  gst_buffer_unref(output);
  gst_harness_teardown(harness);
}

void empty_tensors_have_one_without_bytes() {
  GstHarness* harness = harness_of(
      "simaaitensorbridge", "tensor/strided",
      "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<0,4>", false);
  GstBuffer* output = through(harness, {});
  GstTensorMeta* meta = gst_buffer_get_tensor_meta(output);
  expect(meta != nullptr && meta->num_tensors == 1, "an empty tensor has the meta");
  if (meta != nullptr)
    expect(gst_tensor_meta_get(meta, 0)->dims[0] == 0 &&
               gst_buffer_get_size(gst_tensor_meta_get(meta, 0)->data) == 0,
           "an empty tensor has no bytes");
  gst_buffer_unref(output);
  gst_harness_teardown(harness);
}

/// simaaicast: outputs of a pool, which must get its buffers back.
void outputs_have_it_where_it_was_asked_for(bool asked) {
  GstHarness* harness =
      harness_of("simaaicast", "application/vnd.simaai.tensor",
                 "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<2>", asked);
  GstMemory* memory = nullptr;
  for (int round = 0; round < 3; ++round) {
    GstBuffer* output = through(harness, {0, 0, 128, 63, 0, 0, 0, 64});
    GstTensorMeta* meta = gst_buffer_get_tensor_meta(output);
    expect((meta != nullptr) == asked, "outputs have the meta where downstream asks for it");
    if (meta != nullptr)
      expect(holds(gst_tensor_meta_get(meta, 0)->data, {128, 63, 0, 64}), "1 and 2 in bfloat16");
    if (round > 0)
      expect(gst_buffer_peek_memory(output, 0) == memory, "the pool has its memory back");
    memory = gst_buffer_peek_memory(output, 0);
    gst_buffer_unref(output);
  }
  gst_harness_teardown(harness);
}

void tiles_have_none() {
  GstHarness* harness =
      harness_of("simaaitess", "application/vnd.simaai.tensor",
                 "application/vnd.simaai.tensor,dtype=bfloat16,layout=contiguous,shape=<4>", true);
  GstBuffer* output = through(harness, {1, 2, 3, 4, 5, 6, 7, 8});
  expect(gst_buffer_get_tensor_meta(output) == nullptr, "tiles have no meta");
  gst_buffer_unref(output);
  gst_harness_teardown(harness);
}

} // namespace

GST_ELEMENT_REGISTER_DECLARE(simaaicast)
GST_ELEMENT_REGISTER_DECLARE(simaaitess)

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  std::printf("%s\n", gst_version_string());
  if (!GST_ELEMENT_REGISTER(simaaitensorbridge, nullptr) ||
      !GST_ELEMENT_REGISTER(simaaicast, nullptr) || !GST_ELEMENT_REGISTER(simaaitess, nullptr))
    return 1;
  bridge_says_what_there_is(false);
  bridge_says_what_there_is(true);
  sets_have_one_for_each_tensor();
  empty_tensors_have_one_without_bytes();
  outputs_have_it_where_it_was_asked_for(true);
  outputs_have_it_where_it_was_asked_for(false);
  tiles_have_none();
  std::printf("%d failures\n", failures);
  return failures;
}
