// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxenc and simaaitgmxdec: the same bytes from every layout, every layout from the bytes.
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "oracle/random_tensor.h"
#include "weights.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::BufferMap;
namespace oracle = simaai::oracle;

constexpr auto kCompact = ChannelStorage::Compact;
constexpr auto kPad16 = ChannelStorage::PadTo16;
const Shape kShape{19, 37};

/// Row-major, pitched, column-major, tiled.
const Layout kLayouts[] = {
    Contiguous{},
    Strided{{40, 1}},
    Strided{{1, 19}},
    tiled({-1, -1, 0, 1}, {1, 1, 4, 16}, kCompact),
    tiled({-1, -1, 0, 1}, {1, 1, 19, 9}, kPad16),
};

reference::Rows rows_of(const oracle::Tensor& tensor) {
  const auto cols = static_cast<std::size_t>(tensor.shape[1]);
  reference::Rows rows(tensor.bits.size() / cols, reference::Row(cols));
  for (std::size_t n = 0; n < tensor.bits.size(); ++n)
    rows[n / cols][n % cols] = as_int8(tensor.bits[n]);
  return rows;
}

TEST(TgmxEnc, EveryLayoutGivesTheSameStream) {
  const oracle::Tensor tensor = oracle::random_tensor(kShape, DType::Int8, 81);
  for (const Layout& layout : kLayouts) {
    ElementHarness harness("simaaitgmxenc");
    ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, layout})));
    ASSERT_EQ(harness.push(physical(tensor, layout, 0x5A)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), reference::wire(rows_of(tensor)));
    EXPECT_EQ(harness.output_caps(), "application/x-tgmx");
  }
}

TEST(TgmxEnc, RefusesWhatIsNoMatrix) {
  const auto refusal = [](const TensorSpec& spec) {
    ElementHarness harness("simaaitgmxenc");
    harness.send_caps(caps_of(spec));
    EXPECT_EQ(harness.push(Bytes(100)), GST_FLOW_NOT_NEGOTIATED);
    const auto errors = harness.take_errors();
    return errors.empty() ? std::string() : errors.front();
  };
  EXPECT_TRUE(mentions(refusal({{3, 4, 5}, DType::Int8, Contiguous{}}), {"2 axes", "found 3"}));
  EXPECT_TRUE(mentions(refusal({{3, 11173}, DType::Int8, Contiguous{}}), {"11172", "11173"}));
  EXPECT_TRUE(mentions(refusal({{0, 3}, DType::Int8, Contiguous{}}), {"11172", "found 0"}));
}

TEST(TgmxEnc, StatsAndRequireZeroCopy) {
  const oracle::Tensor tensor = oracle::random_tensor(kShape, DType::Int8, 86);
  const Bytes bytes = physical(tensor, kLayouts[3], 0x5A);
  ElementHarness harness("simaaitgmxenc");
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, kLayouts[3]})));
  ASSERT_EQ(harness.push(buffer_of(bytes, 0)), GST_FLOW_OK);
  ASSERT_EQ(harness.push(buffer_of(bytes, 1)), GST_FLOW_OK);
  EXPECT_EQ(harness.stat("frames"), 2U);
  EXPECT_EQ(harness.stat("bytes-out"), 2U * (9 + 5 * 19 * 37));
  EXPECT_EQ(harness.stat("conversions"), 2U);
  EXPECT_EQ(harness.stat("copies"), 1U);
  ElementHarness strict("simaaitgmxenc", {{"require-zero-copy", "true"}});
  ASSERT_TRUE(strict.send_caps(caps_of({kShape, DType::Int8, kLayouts[3]})));
  ASSERT_EQ(strict.push(buffer_of(bytes, 0)), GST_FLOW_OK);
  EXPECT_EQ(strict.push(buffer_of(bytes, 1)), GST_FLOW_ERROR);
  EXPECT_TRUE(mentions(strict.take_errors().at(0), {"input buffer", "require-zero-copy"}));
}

TEST(TgmxEnc, OutputsComeFromAPool) {
  const oracle::Tensor tensor = oracle::random_tensor(kShape, DType::Int8, 87);
  ElementHarness harness("simaaitgmxenc");
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(harness.push(physical(tensor, Contiguous{})), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), reference::wire(rows_of(tensor)));
  }
  EXPECT_EQ(harness.stat("allocations"), 1U);
}

TEST(TgmxEnc, RefusesAShortBuffer) {
  ElementHarness harness("simaaitgmxenc");
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  EXPECT_EQ(harness.push(Bytes(702)), GST_FLOW_ERROR);
  EXPECT_TRUE(mentions(harness.take_errors().at(0), {"shorter", "703", "702"}));
}

/// Sends the stream in pieces of up to `most` bytes; what the last push returned.
GstFlowReturn push_in_pieces(ElementHarness& harness, const Bytes& stream, std::size_t most) {
  oracle::Random random(most);
  GstFlowReturn flow = GST_FLOW_OK;
  for (std::size_t at = 0; at < stream.size() && flow == GST_FLOW_OK;) {
    const std::size_t count = std::min<std::size_t>(1 + random.below(most), stream.size() - at);
    flow = harness.push(Bytes(stream.begin() + static_cast<std::ptrdiff_t>(at),
                              stream.begin() + static_cast<std::ptrdiff_t>(at + count)));
    at += count;
  }
  return flow;
}

TEST(TgmxDec, EveryLayoutFromPiecesOfAnyLength) {
  const oracle::Tensor first = oracle::random_tensor(kShape, DType::Int8, 82);
  const oracle::Tensor second = oracle::random_tensor(kShape, DType::Int8, 83);
  Bytes stream = reference::wire(rows_of(first));
  const Bytes more = reference::wire(rows_of(second));
  stream.insert(stream.end(), more.begin(), more.end());
  for (const Layout& layout : kLayouts)
    for (const std::size_t most : {7U, 600U, 100000U}) {
      const TensorSpec spec{kShape, DType::Int8, layout};
      ElementHarness harness("simaaitgmxdec", {{"int8-channel-padding", "-3"}});
      harness.accept_downstream(caps_of(spec).c_str());
      ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
      ASSERT_EQ(push_in_pieces(harness, stream, most), GST_FLOW_OK);
      EXPECT_EQ(harness.pull(), physical(first, layout, 0xFD, 0));
      EXPECT_EQ(harness.pull(), physical(second, layout, 0xFD, 0));
      EXPECT_TRUE(harness.take_errors().empty());
    }
}

TEST(TgmxDec, StatsCountMatrices) {
  const Bytes stream = reference::wire({{1, -2, 3}, {4, 5, -6}});
  ElementHarness harness("simaaitgmxdec");
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  ASSERT_EQ(harness.push(stream), GST_FLOW_OK);
  EXPECT_EQ(harness.stat("copies"), 0U);
  ASSERT_EQ(harness.push(Bytes(stream.begin(), stream.begin() + 20)), GST_FLOW_OK);
  ASSERT_EQ(harness.push(Bytes(stream.begin() + 20, stream.end())), GST_FLOW_OK);
  EXPECT_EQ(harness.stat("frames"), 2U);
  EXPECT_EQ(harness.stat("bytes-in"), 2U * 39);
  EXPECT_EQ(harness.stat("bytes-out"), 2U * 6);
  EXPECT_EQ(harness.stat("copies"), 1U); // the matrix that came in two pieces
}

TEST(TgmxDec, OutputsComeFromAPool) {
  const Bytes stream = reference::wire({{1, -2, 3}, {4, 5, -6}});
  ElementHarness harness("simaaitgmxdec");
  harness.accept_downstream(
      caps_of({Shape{2, 3}, DType::Int8, Strided{{8, 1}}}).c_str()); // gaps between rows
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  EXPECT_EQ(harness.stat("allocations"), 0U);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(harness.push(stream), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    EXPECT_EQ(bytes_of(output.get()), (Bytes{1, 0xFE, 3, 0, 0, 0, 0, 0, 4, 5, 0xFA}));
    const auto map = BufferMap(output.get(), GST_MAP_WRITE);
    std::fill_n(map.data(), 11, std::byte{0x77}); // the next one does not show it
  }
  EXPECT_EQ(harness.stat("allocations"), 1U);
}

TEST(TgmxDec, AFlushEndsTheWaitForABuffer) {
  const Bytes stream = reference::wire({{1, -2, 3}, {4, 5, -6}});
  ElementHarness harness("simaaitgmxdec", {{"max-buffers", "1"}});
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  ASSERT_EQ(harness.push(stream), GST_FLOW_OK);
  auto held = harness.pull_buffer();
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread pusher([&] { flow = harness.push(stream); });
  bool waits = false;
  for (int i = 0; i < 1000 && !waits; ++i) {
    for (const auto& message : harness.take_messages())
      waits = waits || gst_message_has_name(message.get(), "simaai-pool-wait");
    g_usleep(10000);
  }
  EXPECT_TRUE(waits);
  gst_harness_push_event(harness.get(), gst_event_new_flush_start());
  pusher.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  held.reset();
  EXPECT_EQ(harness.push(stream), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), (Bytes{1, 0xFE, 3, 4, 5, 0xFA}));
}

/// The most that the address space of this process ever was.
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kilobytes = 0; word == "VmPeak:" && status >> kilobytes)
      return kilobytes * 1024;
  ADD_FAILURE() << "no VmPeak";
  return 0;
}

/// 119 MiB of elements, 595 MiB of stream, says a header of nine bytes.
TEST(TgmxDec, WhatAHeaderClaimsIsNotAllocatedBeforeItIsThere) {
  Bytes stream = reference::wire({{1, -2, 3}, {4, 5, -6}});
  for (const std::size_t at : {5U, 7U}) { // rows, columns: 11172
    stream[at] = 0xA4;
    stream[at + 1] = 0x2B;
  }
  ElementHarness harness("simaaitgmxdec", {{"min-buffers", "2"}});
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  const std::uint64_t before = peak_bytes();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(harness.push(i == 0 ? stream : Bytes(4096)), GST_FLOW_OK);
  EXPECT_LT(peak_bytes() - before, std::uint64_t{64} << 20);
  EXPECT_EQ(harness.stat("allocations"), 0U);
  EXPECT_EQ(harness.output_caps(), "");
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_TRUE(mentions(harness.take_errors().at(0), {"ends within a matrix", "8231 bytes"}));
}

TEST(TgmxDec, AnotherShapeIsNegotiatedAnew) {
  ElementHarness harness("simaaitgmxdec");
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  for (const Shape& shape : {Shape{3, 4}, Shape{4, 3}}) {
    const oracle::Tensor tensor = oracle::random_tensor(shape, DType::Int8, 84);
    auto buffer = buffer_of(reference::wire(rows_of(tensor)));
    GST_BUFFER_PTS(buffer.get()) = 5 * GST_SECOND;
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    ASSERT_NE(output, nullptr);
    EXPECT_EQ(GST_BUFFER_PTS(output.get()), 5 * GST_SECOND);
    EXPECT_EQ(bytes_of(output.get()), physical(tensor, Contiguous{}));
    EXPECT_TRUE(mentions(harness.output_caps(), {"layout=(string)contiguous"}));
  }
}

TEST(TgmxDec, RefusesADamagedStreamWithItsReason) {
  const oracle::Tensor tensor = oracle::random_tensor({3, 4}, DType::Int8, 85);
  struct Damage {
    std::size_t offset;
    std::uint8_t value;
    const char* reason;
  };
  for (const Damage& damage : {Damage{0, 'X', "not TGMX"},
                               {4, 2, "version 2"},
                               {5, 0, "0 x 4"},
                               {9, 7, "outside the matrix"},
                               {16, 0, "its own position"}}) {
    Bytes stream = reference::wire(rows_of(tensor));
    stream[damage.offset] = damage.value;
    ElementHarness harness("simaaitgmxdec");
    ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
    EXPECT_EQ(harness.push(stream), GST_FLOW_ERROR);
    EXPECT_TRUE(harness.pull().empty());
    const auto errors = harness.take_errors();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_TRUE(mentions(errors.front(), {"the stream is refused", damage.reason}))
        << errors.front();
  }
}

TEST(TgmxDec, AnEndWithinAMatrixIsAnError) {
  const Bytes stream = reference::wire({{1, -2, 3}, {4, 5, -6}});
  ElementHarness harness("simaaitgmxdec");
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  EXPECT_EQ(harness.push(Bytes(stream.begin(), stream.end() - 1)), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"ends within a matrix", "38 bytes"}));
}

TEST(TgmxDec, DownstreamThatTakesNoSuchMatrixIsNamed) {
  ElementHarness harness("simaaitgmxdec");
  harness.accept_downstream("application/vnd.simaai.tensor,dtype=int8,shape=(int)<5,5>");
  ASSERT_TRUE(harness.send_caps("application/x-tgmx"));
  EXPECT_EQ(harness.push(reference::wire({{1, 2}})), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(mentions(harness.take_errors().at(0), {"downstream", "1 x 2"}));
}

} // namespace
