// SPDX-License-Identifier: LGPL-2.1-or-later
// The tracer on elements of GStreamer that cut frames up, join them, or make them of bytes.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/tracers/traced_run.h"

namespace simaai::latency::test {
namespace {

constexpr std::uint64_t kFrames = 20;
const std::string kVideo = "videotestsrc name=camera num-buffers=20 ! "
                           "video/x-raw,format=UYVY,width=64,height=48,framerate=30/1 ! ";
const std::string kSound = "audiotestsrc name=microphone num-buffers=20 samplesperbuffer=480 ! "
                           "audio/x-raw,rate=48000,channels=1 ! ";
const std::string kSink = " ! fakesink name=screen";

bool has(const char* factory) {
  return gst_registry_check_feature_version(gst_registry_get(), factory, 1, 0, 0) != FALSE;
}

std::uint64_t count(const std::optional<Stat>& stat) { return stat ? stat->count : 0; }

Report report_of(const std::string& text) {
  TracedRun run(text);
  EXPECT_TRUE(run.play()) << text;
  return run.stop();
}

TEST(RealElements, APayloaderCutsFramesUp) {
  const Report report = report_of(kVideo +
                                  "rtpvrawpay name=pay mtu=600 ! queue name=store ! "
                                  "rtpvrawdepay name=depay" +
                                  kSink);
  const ElementReport& pay = element_of(report, "pay");
  EXPECT_EQ(pay.entered, kFrames);
  EXPECT_GT(pay.left, 5 * kFrames);
  EXPECT_EQ(count(pay.residence), pay.left);
  EXPECT_FALSE(pay.drops);
  const ElementReport& store = element_of(report, "store");
  EXPECT_EQ(count(store.residence), pay.left) << "packets of one frame are told apart";
  EXPECT_EQ(store.drops, 0U);
  const ElementReport& depay = element_of(report, "depay");
  EXPECT_EQ(count(depay.residence), kFrames);
  EXPECT_FALSE(depay.drops);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
  EXPECT_EQ(report.paths[0].frames, kFrames);
}

TEST(RealElements, FramesOfPacketsAreCounted) {
  const Report report = report_of(kVideo + "rtpvrawpay mtu=600" + kSink);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].frames, kFrames);
  EXPECT_GT(report.paths[0].latency.count, 5 * kFrames);
}

TEST(RealElements, AnEncoderOfSoundJoinsBuffers) {
  if (!has("opusenc"))
    GTEST_SKIP() << "no opusenc";
  const Report report = report_of(kSound + "opusenc name=encoder" + kSink);
  const ElementReport& encoder = element_of(report, "encoder");
  EXPECT_EQ(encoder.entered, 20U);
  EXPECT_LE(encoder.left, 12U) << "20 ms of 10 ms each";
  ASSERT_TRUE(encoder.residence);
  EXPECT_EQ(encoder.waiting->p50, 0U) << "the call that brings the second half pushes";
  EXPECT_FALSE(encoder.drops);
}

TEST(RealElements, AnAggregatorOfOneInputIsMeasured) {
  if (!has("compositor"))
    GTEST_SKIP() << "no compositor";
  // The times of the mixer are not those of a live source.
  const Report report = report_of("videotestsrc name=camera is-live=true num-buffers=30 ! "
                                  "video/x-raw,width=64,height=64,framerate=50/1 ! "
                                  "compositor name=mixer" +
                                  kSink);
  const ElementReport& mixer = element_of(report, "mixer");
  EXPECT_GT(count(mixer.residence), mixer.left / 2);
  EXPECT_FALSE(mixer.drops);
  const auto total = total_paths(report);
  ASSERT_FALSE(total.empty());
  EXPECT_EQ(total[0]->origin, "camera:src");
}

TEST(RealElements, AFrameRateLowersWithDropsAndRaisesWithoutThem) {
  for (const bool lower : {true, false}) {
    const Report report = report_of(kVideo + "videorate name=rate ! video/x-raw,framerate=" +
                                    (lower ? "10/1" : "60/1") + kSink);
    const ElementReport& rate = element_of(report, "rate");
    ASSERT_TRUE(rate.drops);
    EXPECT_TRUE(lower ? *rate.drops >= 12 : *rate.drops == 0) << *rate.drops;
    EXPECT_EQ(count(rate.residence), rate.left);
  }
}

/// Writes a file for a test.
class File {
public:
  explicit File(const std::string& text)
      : path_((std::filesystem::temp_directory_path() /
               ("simaai-latency-" + std::to_string(getpid()) + ".data"))
                  .string()) {
    const gst::GstPtr<GstElement> pipeline(
        gst_parse_launch((text + " ! filesink location=" + path_).c_str(), nullptr));
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    const gst::GstPtr<GstBus> bus(gst_element_get_bus(pipeline.get()));
    const gst::GstPtr<GstMessage> end(gst_bus_timed_pop_filtered(
        bus.get(), GST_CLOCK_TIME_NONE,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

/// What `maker` writes is read by `reader` in both modes: its frames begin there, or at the file where it passes on what it read.
void expect_frames_of_bytes(const std::string& maker, const std::string& reader,
                            bool passes_when_pulling) {
  const File file(maker);
  for (const char* between : {"", " ! queue"}) {
    const Report report = report_of("filesrc name=file blocksize=700 location=" + file.path() +
                                    between + " ! " + reader + " name=reader" + kSink);
    const ElementReport& element = element_of(report, "reader");
    const bool passes = passes_when_pulling && *between == '\0';
    EXPECT_FALSE(element.drops) << reader;
    EXPECT_EQ(element.residence.has_value(), passes) << reader << between;
    EXPECT_TRUE(passes || element.identity == "n/a") << reader << between;
    std::uint64_t begun = 0;
    std::uint64_t all = 0;
    for (const PathReport& path : report.paths) {
      all += path.frames;
      begun += path.origin.starts_with("reader:") ? path.frames : 0;
    }
    EXPECT_EQ(all, element_of(report, "screen").entered);
    // The last chunk of a file may be a frame.
    EXPECT_GE(passes ? all - begun : begun, all - 1) << reader << between;
  }
}

TEST(RealElements, ParsersOfBytesMakeFrames) {
  expect_frames_of_bytes(kVideo + "videoconvert ! jpegenc ! avimux", "avidemux", true);
  expect_frames_of_bytes(kVideo + "videoconvert ! jpegenc ! multipartmux", "multipartdemux", false);
  expect_frames_of_bytes(kSound + "wavenc", "wavparse", true);
  if (has("flacenc"))
    expect_frames_of_bytes(kSound + "flacenc", "flacparse", false);
  if (has("vp8enc"))
    expect_frames_of_bytes(kVideo + "videoconvert ! vp8enc deadline=1 ! matroskamux",
                           "matroskademux", false);
  if (has("vorbisenc"))
    expect_frames_of_bytes(kSound + "vorbisenc ! oggmux", "oggdemux", false);
}

TEST(RealElements, ADemuxerBehindItsMuxerMakesFrames) {
  if (!has("vp8enc"))
    GTEST_SKIP() << "no vp8enc";
  // Every third timestamp survives the rounding to milliseconds.
  const Report report = report_of(
      kVideo + "videoconvert ! vp8enc deadline=1 ! matroskamux ! matroskademux name=demuxer" +
      kSink);
  EXPECT_EQ(element_of(report, "demuxer").appeared, kFrames);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "demuxer:video_0");
  EXPECT_EQ(report.paths[0].frames, kFrames);
}

TEST(RealElements, ElementsOfOneNameAreToldApart) {
  const Report report = report_of(kVideo +
                                  "bin.( name=left identity name=filter ) ! "
                                  "bin.( name=right identity name=filter ! identity name=last )" +
                                  kSink);
  EXPECT_EQ(count(element_of(report, "left/filter").residence), kFrames);
  EXPECT_EQ(count(element_of(report, "right/filter").residence), kFrames);
  EXPECT_EQ(element_of(report, "last").path, "right/last");
}

} // namespace
} // namespace simaai::latency::test
