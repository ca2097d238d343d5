// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaimatmul against products of the test's own, from and to every layout, and what it refuses.
#include <gtest/gtest.h>

#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "oracle/random_tensor.h"
#include "weights.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
namespace oracle = simaai::oracle;

constexpr auto kCompact = ChannelStorage::Compact;
constexpr auto kPad16 = ChannelStorage::PadTo16;
constexpr std::int32_t kMultiplier = 38'997'123;
constexpr unsigned kShift = 34;

/// 17 channels in, 5 out.
const Shape kShape{2, 9, 7, 17};
const Shape kProductShape{2, 9, 7, 5};

struct Port {
  const char* name;
  Layout layout;
};

const Port kInputs[] = {
    {"contiguous", Contiguous{}},
    {"pitched", Strided{{1800, 200, 20, 1}}},
    {"planar", Strided{{1071, 7, 1, 63}}},
    {"compact tiles", tiled({-1, 1, 2, 3}, {1, 4, 3, 16}, kCompact)},
    {"padded tiles", tiled({-1, 1, 2, 3}, {1, 2, 4, 17}, kPad16)},
    {"tiles over other axes", tiled({0, 3, 1, 2}, {1, 6, 4, 5}, kCompact)},
    {"channel blocks", MlaCBlocked{{1, 4, 3, 17}}},
};

const Port kOutputs[] = {
    {"contiguous", Contiguous{}},
    {"pitched", Strided{{800, 80, 8, 1}}},
    {"planar", Strided{{315, 7, 1, 63}}},
    {"compact tiles", tiled({-1, 1, 2, 3}, {1, 4, 3, 5}, kCompact)},
    {"padded tiles", tiled({-1, 1, 2, 3}, {1, 9, 2, 4}, kPad16)},
};

class MatmulTest : public ::testing::Test {
protected:
  const reference::Rows weights_ = reference::Random(71).rows(5, 17);
  const TemporaryFile file_{reference::wire(weights_)};
  const oracle::Tensor input_ = oracle::random_tensor(kShape, DType::Int8, 72);
  const oracle::Tensor sums_ = multiplied(input_, weights_);
  const oracle::Tensor elements_ = rescaled(sums_, kMultiplier, kShift);

  [[nodiscard]] std::vector<std::pair<const char*, const char*>> rescaling() const {
    return {{"weights", file_.path().c_str()},
            {"multiplier", "38997123"},
            {"shift", "34"},
            {"int8-channel-padding", "-3"}};
  }
};

/// Channel padding of what goes in must not matter.
constexpr std::uint8_t kNoise = 0x5A;

TEST_F(MatmulTest, RescaledFromEveryLayoutToEveryLayout) {
  for (const Port& from : kInputs)
    for (const Port& to : kOutputs) {
      SCOPED_TRACE(std::string(from.name) + " to " + to.name);
      const TensorSpec output{kProductShape, DType::Int8, to.layout};
      ElementHarness harness("simaaimatmul", rescaling());
      harness.accept_downstream(caps_of(output).c_str());
      ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, from.layout})));
      ASSERT_EQ(harness.push(physical(input_, from.layout, kNoise)), GST_FLOW_OK);
      const Bytes bytes = harness.pull();
      EXPECT_EQ(logical(bytes, output), elements_);
      // Tiles have no gaps that are free: every byte is stated.
      if (std::holds_alternative<MlaTiled>(to.layout)) {
        EXPECT_EQ(bytes, physical(elements_, to.layout, 0xFD, 0));
      }
    }
}

TEST_F(MatmulTest, SumsFromEveryLayout) {
  const Layout outputs[] = {Contiguous{}, Strided{{3600, 360, 40, 8}}, Strided{{1260, 28, 4, 252}}};
  for (const Port& from : kInputs)
    for (const Layout& to : outputs) {
      SCOPED_TRACE(from.name);
      const TensorSpec output{kProductShape, DType::Int32, to};
      ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
      harness.accept_downstream(caps_of(output).c_str());
      ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, from.layout})));
      ASSERT_EQ(harness.push(physical(input_, from.layout, kNoise)), GST_FLOW_OK);
      EXPECT_EQ(logical(harness.pull(), output), sums_);
    }
}

TEST_F(MatmulTest, OverlappingStridesOfTheInputAreAWindow) {
  // Three pixels of two channels each, side by side: row-major bytes read as overlapping windows.
  const reference::Rows weights = reference::Random(73).rows(4, 6);
  const TemporaryFile file(reference::wire(weights));
  const oracle::Tensor picture = oracle::random_tensor({5, 9, 2}, DType::Int8, 74);
  oracle::Tensor windows{{5, 7, 6}, DType::Int8, {}};
  for (std::size_t row = 0; row < 5; ++row)
    for (std::size_t pixel = 0; pixel < 7; ++pixel)
      for (std::size_t n = 0; n < 6; ++n)
        windows.bits.push_back(picture.bits[(row * 9 + pixel) * 2 + n]);
  ElementHarness harness("simaaimatmul", {{"weights", file.path().c_str()}});
  ASSERT_TRUE(harness.send_caps(caps_of({windows.shape, DType::Int8, Strided{{18, 2, 1}}})));
  ASSERT_EQ(harness.push(physical(picture, Contiguous{})), GST_FLOW_OK);
  const oracle::Tensor expected = multiplied(windows, weights);
  EXPECT_EQ(logical(harness.pull(), {expected.shape, DType::Int32, Contiguous{}}), expected);
}

TEST_F(MatmulTest, ManyVectorsAndRankOne) {
  for (const Shape& shape : {Shape{9000, 17}, Shape{17}}) {
    const oracle::Tensor input = oracle::random_tensor(shape, DType::Int8, 75);
    const oracle::Tensor expected = multiplied(input, weights_);
    ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
    ASSERT_TRUE(harness.send_caps(caps_of({shape, DType::Int8, Contiguous{}})));
    ASSERT_EQ(harness.push(physical(input, Contiguous{})), GST_FLOW_OK);
    EXPECT_EQ(logical(harness.pull(), {expected.shape, DType::Int32, Contiguous{}}), expected);
  }
}

TEST_F(MatmulTest, MemoryAtAnyAddressAndInSeveralPieces) {
  const Layout layout = tiled({-1, 1, 2, 3}, {1, 4, 3, 16}, kCompact);
  const Bytes bytes = physical(input_, layout, kNoise);
  ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, layout})));
  ASSERT_EQ(harness.push(buffer_of(bytes, 1)), GST_FLOW_OK);
  EXPECT_EQ(logical(harness.pull(), {kProductShape, DType::Int32, Contiguous{}}), sums_);
  auto pieces = buffer_of(Bytes(bytes.begin(), bytes.begin() + 333));
  pieces.reset(gst_buffer_append(pieces.release(),
                                 buffer_of(Bytes(bytes.begin() + 333, bytes.end())).release()));
  ASSERT_EQ(harness.push(std::move(pieces)), GST_FLOW_OK);
  EXPECT_EQ(logical(harness.pull(), {kProductShape, DType::Int32, Contiguous{}}), sums_);
}

const Layout kTiles = tiled({-1, 1, 2, 3}, {1, 4, 3, 16}, kCompact);

/// The bytes in two memories.
simaai::gst::GstPtr<GstBuffer> pieces_of(const Bytes& bytes) {
  auto pieces = buffer_of(Bytes(bytes.begin(), bytes.begin() + 333));
  pieces.reset(gst_buffer_append(pieces.release(),
                                 buffer_of(Bytes(bytes.begin() + 333, bytes.end())).release()));
  return pieces;
}

TEST_F(MatmulTest, StatsTellCopiesFromConversions) {
  ElementHarness dense("simaaimatmul", {{"weights", file_.path().c_str()}});
  ASSERT_TRUE(dense.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  for (int n = 0; n < 3; ++n)
    ASSERT_EQ(dense.push(physical(input_, Contiguous{})), GST_FLOW_OK);
  EXPECT_EQ(dense.stat("frames"), 3U);
  EXPECT_EQ(dense.stat("bytes-in"), 3U * 2 * 9 * 7 * 17);
  EXPECT_EQ(dense.stat("bytes-out"), 3U * 2 * 9 * 7 * 5 * 4);
  EXPECT_EQ(dense.stat("copies"), 0U);
  EXPECT_EQ(dense.stat("conversions"), 0U);
  EXPECT_GT(dense.stat("max-ns"), 0U);
  EXPECT_LE(dense.stat("p50-ns"), dense.stat("max-ns"));

  ElementHarness tiles("simaaimatmul", {{"weights", file_.path().c_str()}});
  const Bytes bytes = physical(input_, kTiles, kNoise);
  ASSERT_TRUE(tiles.send_caps(caps_of({kShape, DType::Int8, kTiles})));
  ASSERT_EQ(tiles.push(buffer_of(bytes, 0)), GST_FLOW_OK);
  EXPECT_EQ(tiles.stat("conversions"), 1U);
  EXPECT_EQ(tiles.stat("copies"), 0U);
  ASSERT_EQ(tiles.push(buffer_of(bytes, 1)), GST_FLOW_OK);
  EXPECT_EQ(tiles.stat("conversions"), 2U);
  EXPECT_EQ(tiles.stat("copies"), 1U);
  ASSERT_EQ(tiles.push(pieces_of(bytes)), GST_FLOW_OK);
  EXPECT_GE(tiles.stat("copies"), 2U);
  EXPECT_EQ(tiles.stat("frames"), 3U);
  std::size_t notices = 0;
  for (const auto& message : tiles.take_messages())
    notices += gst_message_has_name(message.get(), "simaai-copy") ? 1U : 0U;
  EXPECT_EQ(notices, 1U); // the first copy is announced, no other
}

TEST_F(MatmulTest, RequireZeroCopyRefusesCopiesAndNotConversions) {
  const Bytes bytes = physical(input_, kTiles, kNoise);
  struct Attempt {
    simaai::gst::GstPtr<GstBuffer> buffer;
    const char* reason;
  };
  Attempt attempts[] = {{buffer_of(bytes, 1), "misaligned memory"},
                        {pieces_of(bytes), "several memories"}};
  for (Attempt& attempt : attempts) {
    ElementHarness harness("simaaimatmul",
                           {{"weights", file_.path().c_str()}, {"require-zero-copy", "true"}});
    ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, kTiles})));
    ASSERT_EQ(harness.push(buffer_of(bytes, 0)), GST_FLOW_OK);
    EXPECT_EQ(logical(harness.pull(), {kProductShape, DType::Int32, Contiguous{}}), sums_);
    EXPECT_EQ(harness.push(std::move(attempt.buffer)), GST_FLOW_ERROR);
    const auto errors = harness.take_errors();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_TRUE(mentions(errors.front(), {"input buffer", attempt.reason, "require-zero-copy"}))
        << errors.front();
    EXPECT_EQ(harness.stat("frames"), 1U);
    EXPECT_EQ(harness.stat("copies"), 0U);
  }
}

TEST_F(MatmulTest, LargerBuffersOfDownstreamAreCutToTheTensor) {
  ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
  const TensorSpec output{kProductShape, DType::Int32, Contiguous{}};
  // The harness proposes what its pad is asked for: a pool whose buffers have room to spare.
  GstPad* sink = harness.get()->sinkpad;
  gst_pad_add_probe(
      sink,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH),
      [](GstPad*, GstPadProbeInfo* info, gpointer) {
        GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
        if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
          return GST_PAD_PROBE_OK;
        const simaai::gst::GstPtr<GstBufferPool> pool(gst_buffer_pool_new());
        gst_query_add_allocation_pool(query, pool.get(), 10000, 2, 0);
        return GST_PAD_PROBE_HANDLED;
      },
      nullptr, nullptr);
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  ASSERT_EQ(harness.push(physical(input_, Contiguous{})), GST_FLOW_OK);
  const Bytes bytes = harness.pull();
  EXPECT_EQ(bytes.size(), 2U * 9 * 7 * 5 * 4);
  EXPECT_EQ(logical(bytes, output), sums_);
}

TEST_F(MatmulTest, DefaultLayoutsAndStreamFields) {
  ElementHarness harness("simaaimatmul", rescaling());
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, Contiguous{}}) +
                                ",tensor-id=scores,framerate=(fraction)30/1,quant-scale=0.5,"
                                "quant-zero-point=3"));
  const std::string caps = harness.output_caps();
  EXPECT_TRUE(mentions(caps, {"layout=(string)contiguous", "dtype=(string)int8",
                              "tensor-id=(string)scores", "framerate=(fraction)30/1"}))
      << caps;
  EXPECT_FALSE(mentions(caps, {"quant"})) << caps; // the product has another scale
  ElementHarness tiles("simaaimatmul", rescaling());
  tiles.accept_downstream("application/vnd.simaai.tensor,layout=mla-tiled");
  ASSERT_TRUE(tiles.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  EXPECT_TRUE(mentions(tiles.output_caps(), {"channel-storage=(string)pad16"}))
      << tiles.output_caps();
}

/// The only error that these settings and caps give; the element must refuse.
std::string refusal(const std::vector<std::pair<const char*, const char*>>& settings,
                    const std::string& caps, const char* downstream = nullptr) {
  ElementHarness harness("simaaimatmul", settings);
  if (downstream != nullptr)
    harness.accept_downstream(downstream);
  harness.send_caps(caps);
  EXPECT_EQ(harness.push(Bytes(100000)), GST_FLOW_NOT_NEGOTIATED);
  const auto errors = harness.take_errors();
  return errors.empty() ? "" : errors.front();
}

TEST_F(MatmulTest, RefusesWhatCannotBeMultiplied) {
  const char* weights = file_.path().c_str();
  const std::string good = caps_of({kShape, DType::Int8, Contiguous{}});
  const auto expect = [&](const std::string& text, const std::vector<std::string>& parts) {
    EXPECT_TRUE(mentions(text, parts)) << text;
  };
  expect(refusal({{"weights", weights}}, caps_of({{2, 9, 7, 16}, DType::Int8, Contiguous{}})),
         {"last axis of the input is 16", "5 x 17"});
  expect(refusal({{"weights", weights}}, good, "application/vnd.simaai.tensor,dtype=int8"),
         {"downstream", "int32"});
  expect(refusal(rescaling(), good,
                 caps_of({kProductShape, DType::Int8, Strided{{45, 5, 2, 1}}}).c_str()),
         {"output: strides", "share bytes"});
  expect(refusal({{"weights", weights}}, good,
                 caps_of({kProductShape, DType::Int32, Strided{{1260, 140, 21, 4}}}).c_str()),
         {"output: strides", "multiples of 4"});
  expect(refusal({{"weights", weights}, {"multiplier", "5"}}, good,
                 caps_of({kProductShape, DType::Int8, tiled({-1, 1, 2, 3}, {1, 4, 4, 4}, kPad16)})
                     .c_str()),
         {"output: ", "pad16", "property int8-channel-padding"});
  const std::string tiles =
      refusal({{"weights", weights}, {"multiplier", "5"}}, good,
              "application/vnd.simaai.tensor,layout=mla-tiled,tile-shape=(int)<1,0,4,4>");
  expect(tiles, {"output: tile extent H", "found 0"});
  expect(refusal({{"weights", weights}}, good,
                 caps_of({{2, 9, 7, 6}, DType::Int32, Contiguous{}}).c_str()),
         {"downstream"});
}

TEST_F(MatmulTest, CapsOutsideTheTemplateAreNamed) {
  ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
  const std::string caps = caps_of({kShape, DType::Float32, Contiguous{}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(harness.send_caps(caps));
    EXPECT_EQ(harness.push(Bytes(100000)), GST_FLOW_NOT_NEGOTIATED);
  }
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"do not suit", "dtype", "float32", "int8"}))
      << errors.front();
}

// GstBaseTransform does not set caps again that it takes for the current ones.
TEST_F(MatmulTest, CapsAfterARefusalWorkAsBefore) {
  ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
  const std::string good = caps_of({kShape, DType::Int8, kTiles});
  const Bytes bytes = physical(input_, kTiles, kNoise);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(harness.send_caps(good));
    ASSERT_EQ(harness.push(bytes), GST_FLOW_OK);
    EXPECT_EQ(logical(harness.pull(), {kProductShape, DType::Int32, Contiguous{}}), sums_);
    EXPECT_FALSE(harness.send_caps(caps_of({{2, 9, 7, 16}, DType::Int8, Contiguous{}})));
  }
}

TEST_F(MatmulTest, DownstreamThatChangesItsMindIsNamed) {
  ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  ASSERT_EQ(harness.push(physical(input_, Contiguous{})), GST_FLOW_OK);
  harness.accept_downstream("application/vnd.simaai.tensor,dtype=int8");
  EXPECT_EQ(harness.push(physical(input_, Contiguous{})), GST_FLOW_NOT_NEGOTIATED);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"downstream", "int32"})) << errors.front();
}

TEST_F(MatmulTest, RefusesAShortBufferAndNamesBothSizes) {
  ElementHarness harness("simaaimatmul", {{"weights", file_.path().c_str()}});
  ASSERT_TRUE(harness.send_caps(caps_of({kShape, DType::Int8, Contiguous{}})));
  EXPECT_EQ(harness.push(Bytes(2141)), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"shorter", "2142", "2141"})) << errors.front();
}

/// First error of an element that does not start with these weights.
simaai::gst::GstPtr<GstMessage> start_failure(const char* weights, guint shift = 0) {
  simaai::gst::GstPtr<GstElement> element(
      GST_ELEMENT_CAST(gst_object_ref_sink(gst_element_factory_make("simaaimatmul", nullptr))));
  const simaai::gst::GstPtr<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  if (weights != nullptr)
    g_object_set(element.get(), "weights", weights, nullptr);
  g_object_set(element.get(), "shift", shift, nullptr);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  simaai::gst::GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
  return message;
}

std::string start_error(const char* weights, guint shift = 0) {
  const auto message = start_failure(weights, shift);
  return message ? error_text(message.get()) : std::string();
}

TEST_F(MatmulTest, AShiftWithoutAMultiplierIsRefused) {
  const std::string text = start_error(file_.path().c_str(), 5);
  EXPECT_TRUE(mentions(text, {"property shift is 5", "multiplier"})) << text;
}

/// Of the resource domain; -1 in any other.
int resource_code(const char* weights) {
  const auto message = start_failure(weights);
  GError* error = nullptr;
  if (message == nullptr)
    return -1;
  gst_message_parse_error(message.get(), &error, nullptr);
  const int code = error->domain == GST_RESOURCE_ERROR ? error->code : -1;
  g_error_free(error);
  return code;
}

TEST_F(MatmulTest, RefusesToStartWithoutSoundWeights) {
  EXPECT_TRUE(mentions(start_error(nullptr), {"property weights", "found nothing"}));
  EXPECT_TRUE(mentions(start_error("/nonexistent/w.tgmx"),
                       {"property weights", "/nonexistent/w.tgmx", "cannot be opened"}));
  auto damaged = reference::wire(weights_);
  damaged.back() = 1;
  damaged.pop_back();
  const TemporaryFile file(damaged);
  EXPECT_TRUE(mentions(start_error(file.path().c_str()), {file.path(), "truncated"}));
  EXPECT_EQ(resource_code("/nonexistent/w.tgmx"), GST_RESOURCE_ERROR_NOT_FOUND);
  EXPECT_EQ(resource_code("/dev/null/w.tgmx"), GST_RESOURCE_ERROR_OPEN_READ); // null is no folder
  EXPECT_EQ(resource_code("/dev"), GST_RESOURCE_ERROR_READ);
  EXPECT_EQ(resource_code(file.path().c_str()), GST_RESOURCE_ERROR_READ);
}

} // namespace
