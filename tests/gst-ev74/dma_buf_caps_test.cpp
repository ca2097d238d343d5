// SPDX-License-Identifier: LGPL-2.1-or-later
// The caps feature memory:DMABuf on op elements: what they take, what they offer, what they propose. Runs on machines with DMA-BUFs
// and without.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include <gst/allocators/gstdmabuf.h>
#include <gst/allocators/gstfdmemory.h>

#include <simaai/runtime/dma_buf.h>

#include "oracle/npy.h"
#include "sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

/// The caps of a tensor in DMA-BUFs.
std::string in_dma_bufs(const TensorSpec& spec) {
  std::string caps = caps_of(spec);
  return caps.insert(caps.find(','), "(memory:DMABuf)");
}

bool has_dma_bufs() { return simaai::gst::gives_dma_bufs(simaai::gst::new_fd_allocator().get()); }

TEST(DmaBufCaps, AreTakenByEveryBackendWhereverOutputsGo) {
  for (const char* backend : {"a65", "ev74"}) {
    ElementHarness harness("simaaicast", {{"backend", backend}, {"require-zero-copy", "true"}});
    ASSERT_TRUE(harness.send_caps(in_dma_bufs(kInput)));
    EXPECT_EQ(harness.output_caps().find("memory:DMABuf"), std::string::npos);
    const Sample sample(3);
    ASSERT_EQ(harness.push(fd_buffer(sample.input, 64)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
  }
}

/// Where this machine has a source of DMA-BUFs; the refusal elsewhere names the memory.
TEST(DmaBufCaps, AreOfferedWhereThereIsASourceOfThem) {
  const TensorSpec output{kInput.shape, DType::BFloat16};
  for (const char* backend : {"a65", "ev74"}) {
    ElementHarness harness("simaaicast", {{"backend", backend}, {"require-zero-copy", "true"}});
    harness.accept_downstream(in_dma_bufs(output).c_str());
    if (!has_dma_bufs()) {
      EXPECT_FALSE(harness.send_caps(caps_of(kInput)));
      const auto errors = harness.take_errors();
      ASSERT_EQ(errors.size(), 1U);
      EXPECT_TRUE(mentions(errors[0], {"downstream wants memory:DMABuf", "memory:SystemMemory"}))
          << errors[0];
      continue;
    }
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    EXPECT_NE(harness.output_caps().find("(memory:DMABuf)"), std::string::npos);
    for (std::uint64_t round = 0; round < 20; ++round) {
      const Sample sample(round);
      ASSERT_EQ(harness.push(fd_buffer(sample.input)), GST_FLOW_OK);
      const auto buffer = harness.pull_buffer();
      ASSERT_TRUE(buffer);
      GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
      ASSERT_TRUE(gst_is_dmabuf_memory(memory));
      const auto found = simaai::runtime::inspect(gst_dmabuf_memory_get_fd(memory));
      const auto* info = std::get_if<simaai::runtime::MemoryInfo>(&found);
      EXPECT_TRUE(info != nullptr && info->kind == simaai::runtime::MemoryKind::DmaBuf);
      EXPECT_EQ(bytes_of(buffer.get()), sample.output);
    }
    EXPECT_EQ(harness.stat("copies"), 0U);
    EXPECT_EQ(harness.stat("allocations"), 1U);
    EXPECT_EQ(text_stat(harness, "memory"), "dma-buf");
    const auto allocator = simaai::gst::new_fd_allocator();
    EXPECT_EQ(text_stat(harness, "memory-source"),
              simaai::gst::fd_allocator_source(allocator.get()));
  }
}

/// What an ALLOCATION query about these caps proposes.
GstPtr<GstBuffer> proposed_buffer(ElementHarness& harness, const std::string& caps_text) {
  const GstPtr<GstCaps> caps(gst_caps_from_string(caps_text.c_str()));
  const GstPtr<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  EXPECT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  GstBufferPool* proposed = nullptr;
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &proposed, &size, nullptr, nullptr);
  const GstPtr<GstBufferPool> pool(proposed);
  EXPECT_EQ(size, kInputBytes);
  GstBuffer* buffer = nullptr;
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
  GstPtr<GstBuffer> kept(buffer);
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
  return kept;
}

TEST(DmaBufCaps, DecideWhatThePoolOfAnAllocationQueryHolds) {
  const struct {
    const char* backend;
    std::string caps;
    bool descriptors;
  } cases[] = {{"a65", caps_of(kInput), false},
               {"a65", in_dma_bufs(kInput), true},
               {"ev74", caps_of(kInput), true},
               {"ev74", in_dma_bufs(kInput), true}};
  for (const auto& one : cases) {
    ElementHarness harness("simaaicast", {{"backend", one.backend}});
    ASSERT_TRUE(harness.send_caps(one.caps));
    const auto buffer = proposed_buffer(harness, one.caps);
    GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
    EXPECT_EQ(gst_is_fd_memory(memory) != FALSE, one.descriptors) << one.backend << one.caps;
    EXPECT_EQ(gst_is_dmabuf_memory(memory) != FALSE, one.descriptors && has_dma_bufs());
  }
}

/// A source of files has no input to take memory from: it fills what downstream insists on.
TEST(DmaBufCaps, OfFilesAreOfferedWhereDownstreamTakesNothingElse) {
  const Sample sample(5);
  const std::string path = testing::TempDir() + "dma_buf_caps.npy";
  simaai::oracle::write_npy(path, sample.values);
  GstHarness* harness = gst_harness_new_parse(("simaainpysrc location=" + path).c_str());
  gst_harness_set_sink_caps_str(harness, "application/vnd.simaai.tensor(memory:DMABuf)");
  gst_harness_play(harness);
  if (has_dma_bufs()) {
    const GstPtr<GstBuffer> buffer(gst_harness_pull(harness));
    ASSERT_TRUE(buffer);
    EXPECT_TRUE(gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer.get(), 0)));
    EXPECT_EQ(bytes_of(buffer.get()), sample.input);
  } else {
    EXPECT_EQ(gst_harness_try_pull(harness), nullptr);
  }
  gst_harness_teardown(harness);
  std::remove(path.c_str());
}

constexpr const char* kPicture = "format=RGB,width=4,height=2,framerate=0/1";

TEST(DmaBufCaps, OfVideoBecomeAViewOfTheSameMemory) {
  ElementHarness harness("simaaivideototensor", {{"require-zero-copy", "true"}});
  const std::string memory = has_dma_bufs() ? "(memory:DMABuf)" : "";
  harness.accept_downstream(("application/vnd.simaai.tensor" + memory + ",dtype=uint8").c_str());
  ASSERT_TRUE(harness.send_caps(std::string("video/x-raw(memory:DMABuf),") + kPicture));
  EXPECT_EQ(harness.output_caps().find("memory:DMABuf") != std::string::npos, has_dma_bufs());
  const auto input = fd_buffer(Bytes(24, 7));
  ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
  const auto output = harness.pull_buffer();
  ASSERT_TRUE(output);
  EXPECT_EQ(gst_buffer_peek_memory(output.get(), 0), gst_buffer_peek_memory(input.get(), 0));
}

TEST(DmaBufCaps, OfAViewNeedThoseOfTheVideo) {
  ElementHarness harness("simaaivideototensor");
  harness.accept_downstream("application/vnd.simaai.tensor(memory:DMABuf),dtype=uint8");
  EXPECT_FALSE(harness.send_caps(std::string("video/x-raw,") + kPicture));
  EXPECT_EQ(harness.take_errors().size(), 1U);
}

TEST(DmaBufCaps, OfConvertedVideoAreOfferedWhereThereIsASource) {
  ElementHarness harness("simaaivideototensor");
  harness.accept_downstream("application/vnd.simaai.tensor(memory:DMABuf),dtype=float32");
  const bool taken = harness.send_caps(std::string("video/x-raw,") + kPicture);
  EXPECT_EQ(taken, has_dma_bufs());
  if (!taken)
    return;
  for (std::uint8_t value = 0; value < 10; ++value) {
    ASSERT_EQ(harness.push(Bytes(24, value)), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    ASSERT_TRUE(output);
    EXPECT_TRUE(gst_is_dmabuf_memory(gst_buffer_peek_memory(output.get(), 0)));
    const float wanted = value;
    Bytes bytes;
    for (int i = 0; i < 24; ++i)
      bytes.insert(bytes.end(), reinterpret_cast<const std::uint8_t*>(&wanted),
                   reinterpret_cast<const std::uint8_t*>(&wanted) + 4);
    EXPECT_EQ(bytes_of(output.get()), bytes);
  }
}

TEST(DmaBufCaps, OfTensorsBecomeVideo) {
  ElementHarness harness("simaaitensortovideo");
  ASSERT_TRUE(harness.send_caps("application/vnd.simaai.tensor(memory:DMABuf),dtype=uint8,"
                                "layout=contiguous,shape=<1,2,4,3>,framerate=0/1"));
  ASSERT_EQ(harness.push(fd_buffer(Bytes(24, 9))), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), Bytes(24, 9));
}

constexpr const char* kPictureTensor =
    "layout=contiguous,shape=<1,2,4,3>,video-format=RGB,framerate=0/1";

/// uint8 goes on in the memory that it came in, which has to be what downstream wants.
TEST(DmaBufCaps, OfTensorsAreThoseOfTheirPictures) {
  for (const char* from : {"(memory:DMABuf)", ""}) {
    ElementHarness harness("simaaitensortovideo", {{"require-zero-copy", "true"}});
    harness.accept_downstream("video/x-raw(memory:DMABuf),format=RGB");
    const bool taken = harness.send_caps(std::string("application/vnd.simaai.tensor") + from +
                                         ",dtype=uint8," + kPictureTensor);
    EXPECT_EQ(taken, *from != '\0' && has_dma_bufs());
    if (!taken) {
      const auto errors = harness.take_errors();
      ASSERT_EQ(errors.size(), 1U);
      EXPECT_TRUE(mentions(errors[0], {"memory:DMABuf"})) << errors[0];
      continue;
    }
    const auto input = fd_buffer(Bytes(24, 7));
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    EXPECT_EQ(gst_buffer_peek_memory(output.get(), 0), gst_buffer_peek_memory(input.get(), 0));
  }
}

TEST(DmaBufCaps, OfConvertedPicturesAreOfferedWhereThereIsASource) {
  ElementHarness harness("simaaitensortovideo");
  harness.accept_downstream("video/x-raw(memory:DMABuf),format=RGB");
  const bool taken = harness.send_caps(std::string("application/vnd.simaai.tensor,dtype=float32,") +
                                       kPictureTensor);
  EXPECT_EQ(taken, has_dma_bufs());
  if (!taken)
    return;
  for (std::uint8_t value = 0; value < 10; ++value) {
    const float element = value;
    Bytes bytes;
    for (int i = 0; i < 24; ++i)
      bytes.insert(bytes.end(), reinterpret_cast<const std::uint8_t*>(&element),
                   reinterpret_cast<const std::uint8_t*>(&element) + 4);
    ASSERT_EQ(harness.push(bytes), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    ASSERT_TRUE(output);
    EXPECT_TRUE(gst_is_dmabuf_memory(gst_buffer_peek_memory(output.get(), 0)));
    EXPECT_EQ(bytes_of(output.get()), Bytes(24, value));
  }
  EXPECT_EQ(harness.stat("allocations"), 1U);
  EXPECT_EQ(harness.stat("conversions"), 10U);
  EXPECT_EQ(text_stat(harness, "memory"), "dma-buf");
}

} // namespace
