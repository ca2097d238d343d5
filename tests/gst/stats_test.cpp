// SPDX-License-Identifier: LGPL-2.1-or-later
// The property stats of elements that run no op: read from another thread all the time, and exact after the end.
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/gst_ptr.h"
#include "gst-matrix/weights.h"
#include "gst/element_harness.h"
#include "oracle/npy.h"
#include "oracle/random_tensor.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

constexpr std::uint64_t kFrames = 60;
constexpr std::uint64_t kTensorBytes = 80;

/// What every element has but for zeros, by field.
using Counters = std::map<std::string, std::uint64_t>;

/// A pipeline, and a file that it reads.
class Stats : public testing::Test {
protected:
  void TearDown() override {
    if (pipeline_)
      gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    pipeline_.reset();
  }

  void launch(const std::string& text) {
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch(text.c_str(), &error));
    ASSERT_EQ(error, nullptr) << error->message;
    gst_object_ref_sink(pipeline_.get());
  }
  [[nodiscard]] GstPtr<GstStructure> stats(const char* name) const {
    const GstPtr<GstElement> element(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
    GstStructure* raw = nullptr;
    g_object_get(element.get(), "stats", &raw, nullptr);
    return GstPtr<GstStructure>(raw);
  }
  static std::uint64_t number(const GstStructure* stats, const char* field) {
    guint64 value = 0;
    EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
    return value;
  }
  /// Reads the stats of all these until the end of the stream.
  void play(const std::vector<const char*>& names) {
    const GstPtr<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    std::map<std::string, std::uint64_t> before;
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    GstPtr<GstMessage> message;
    for (int i = 0; i < 20000 && !message; ++i) {
      message.reset(gst_bus_timed_pop_filtered(
          bus.get(), GST_MSECOND,
          static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
      for (const char* name : names) {
        const auto now = number(stats(name).get(), "frames");
        EXPECT_GE(now, before[name]) << name;
        EXPECT_LE(now, kFrames) << name;
        before[name] = now;
      }
    }
    ASSERT_TRUE(message);
    EXPECT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_EOS) << error_text(message.get());
  }
  /// Counters that are not named are 0.
  void expect(const char* name, const Counters& counters, const char* memory = "system") const {
    const auto found = stats(name);
    EXPECT_TRUE(gst_structure_has_name(found.get(), "simaai-stats")) << name;
    EXPECT_STREQ(gst_structure_get_string(found.get(), "memory"), memory) << name;
    for (const char* field : {"frames", "bytes-in", "bytes-out", "copies", "allocations"}) {
      const auto wanted = counters.find(field);
      EXPECT_EQ(number(found.get(), field), wanted != counters.end() ? wanted->second : 0U)
          << name << ' ' << field;
    }
    for (const auto& [field, wanted] : counters)
      EXPECT_EQ(number(found.get(), field.c_str()), wanted) << name << ' ' << field;
    std::uint64_t last = 0;
    for (const char* field : {"p50-ns", "p95-ns", "p99-ns", "max-ns"}) {
      const auto value = number(found.get(), field);
      EXPECT_GE(value, last) << name << ' ' << field;
      last = value;
    }
    EXPECT_GT(last, 0U) << name;
  }

  std::string path(const char* name) const {
    return testing::TempDir() + "stats_" + std::to_string(getpid()) + "_" + name;
  }

  GstPtr<GstElement> pipeline_;
};

TEST_F(Stats, OfFilesSetsAndSpellings) {
  const std::string in = path("in.npy");
  const std::string out = path("out.npy");
  simaai::oracle::write_npy(in, simaai::oracle::random_tensor({4, 5}, DType::Float32, 7));
  launch("simaainpysrc name=source loop=true num-buffers=" + std::to_string(kFrames) +
         " min-buffers=4 max-buffers=4 location=" + in +
         " ! simaaitensormux name=mux ! simaaitensordemux name=demux"
         " demux.tensor_0 ! simaaitensorbridge name=bridge ! tensor/strided ! simaaitensorbridge"
         " ! simaainpysink name=sink location=" +
         out);
  // The second run counts from zero.
  for (int run = 0; run < 2; ++run) {
    play({"source", "mux", "demux", "bridge", "sink"});
    const std::uint64_t tensors = kFrames * kTensorBytes;
    expect("source", {{"frames", kFrames},
                      {"bytes-in", kFrames * std::filesystem::file_size(in)},
                      {"bytes-out", tensors},
                      {"allocations", 4},
                      {"conversions", 0}});
    const Counters passed{{"frames", kFrames}, {"bytes-in", tensors}, {"bytes-out", tensors}};
    expect("demux", passed);
    expect("bridge", passed);
    Counters combined = passed;
    combined.insert({{"bytes", tensors}, {"dropped", 0}, {"gaps", 0}});
    expect("mux", combined);
    expect("sink", {{"frames", kFrames},
                    {"bytes-in", tensors},
                    {"bytes-out", kFrames * std::filesystem::file_size(out)},
                    {"conversions", 0}});
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    expect("demux", passed); // kept until the next start
  }
  std::remove(in.c_str());
  std::remove(out.c_str());
}

TEST_F(Stats, OfMatrices) {
  Bytes stream;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    const Bytes one =
        reference::wire(reference::Random(static_cast<std::uint32_t>(i + 1)).rows(4, 5));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  const TemporaryFile file(stream);
  launch("filesrc blocksize=1000 location=" + file.path() +
         " ! simaaitgmxdec name=decoder min-buffers=3 max-buffers=3 ! simaaitgmxenc name=encoder ! "
         "fakesink");
  for (int run = 0; run < 2; ++run) {
    play({"decoder", "encoder"});
    // A matrix has 109 bytes: six of them lie in two blocks of the source.
    expect("decoder", {{"frames", kFrames},
                       {"bytes-in", stream.size()},
                       {"bytes-out", kFrames * 20},
                       {"allocations", 3},
                       {"copies", 6},
                       {"conversions", 0}});
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  }
}

} // namespace
