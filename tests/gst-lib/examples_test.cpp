// SPDX-License-Identifier: LGPL-2.1-or-later
// The example applications as programs: what they write is, bit for bit, what the oracle makes of the same pictures.
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gst/video/video.h>

#include "common/gst_ptr.h"
#include "oracle/numerics.h"

namespace simaai::test {
namespace {

using gst::GstPtr;
using Floats = std::vector<std::uint32_t>;

/// A file that is gone at the end of the test.
class TemporaryFile {
public:
  TemporaryFile() {
    const char* folder = std::getenv("TMPDIR");
    name_ = std::string(folder != nullptr ? folder : "/tmp") + "/simaai-example-XXXXXX";
    ::close(::mkstemp(name_.data()));
  }
  ~TemporaryFile() { ::unlink(name_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<char> content() const {
    std::ifstream file(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

private:
  std::string name_;
};

struct Size {
  int width;
  int height;
  [[nodiscard]] std::string text() const {
    return std::to_string(width) + "x" + std::to_string(height);
  }
};

constexpr int kFrames = 6;
/// Rows of the second one are padded in GStreamer: 303 bytes in 304. Its last tiles are cut both ways.
constexpr std::array<Size, 2> kSizes{{{96, 48}, {101, 37}}};

/// Pictures as videotestsrc makes them, without padding between rows.
std::vector<std::uint8_t> pictures(Size size) {
  GError* error = nullptr;
  const GstPtr<GstElement> pipeline(gst_parse_launch(
      ("videotestsrc num-buffers=" + std::to_string(kFrames) +
       " ! video/x-raw,format=RGB,width=" + std::to_string(size.width) +
       ",height=" + std::to_string(size.height) + " ! fakesink name=end signal-handoffs=true")
          .c_str(),
      &error));
  EXPECT_EQ(error, nullptr);
  struct Taken {
    Size size;
    std::vector<std::uint8_t> pixels;
  } taken{size, {}};
  const GstPtr<GstElement> end(gst_bin_get_by_name(GST_BIN(pipeline.get()), "end"));
  const auto take = +[](GstElement*, GstBuffer* buffer, GstPad* pad, Taken* into) {
    const GstPtr<GstCaps> caps(gst_pad_get_current_caps(pad));
    GstVideoInfo info;
    GstVideoFrame frame;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    ASSERT_TRUE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
    for (int row = 0; row < into->size.height; ++row) {
      const auto* begin = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                          std::ptrdiff_t{row} * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
      into->pixels.insert(into->pixels.end(), begin, begin + std::ptrdiff_t{into->size.width} * 3);
    }
    gst_video_frame_unmap(&frame);
  };
  g_signal_connect(end.get(), "handoff", G_CALLBACK(take), &taken);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const GstPtr<GstMessage> message(
      gst_bus_timed_pop_filtered(bus.get(), 60 * GST_SECOND, GST_MESSAGE_EOS));
  EXPECT_NE(message, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  EXPECT_EQ(taken.pixels.size(), static_cast<std::size_t>(size.width * size.height * 3 * kFrames));
  return taken.pixels;
}

/// Normalised, rounded to BFloat16, with the other sign.
Floats expected_of(const std::vector<std::uint8_t>& pixels) {
  Floats expected;
  for (const std::uint8_t pixel : pixels) {
    const float value = (static_cast<float>(pixel) - 127.5F) * 0.0078125F;
    const auto bits = oracle::float32_to_bfloat16(std::bit_cast<std::uint32_t>(value));
    expected.push_back(oracle::bfloat16_to_float32(static_cast<std::uint16_t>(bits ^ 0x8000U)));
  }
  return expected;
}

/// What a program printed, on both streams, and its exit status.
struct Outcome {
  int status = -1;
  std::string text;
};

Outcome run(const std::string& command) {
  Outcome outcome;
  std::FILE* output = ::popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr)
    return outcome;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), output) != nullptr)
    outcome.text += part.data();
  const int ended = ::pclose(output);
  outcome.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return outcome;
}

void expect_values(const TemporaryFile& file, const Floats& expected, const std::string& what) {
  const auto found = file.content();
  ASSERT_EQ(found.size(), expected.size() * sizeof(std::uint32_t)) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, found.data() + i * sizeof bits, sizeof bits);
    ASSERT_EQ(bits, expected[i]) << what << ", element " << i;
  }
}

/// A call that is wrong or goes wrong: standard error begins with the program, has these words, and the status is this one. It has
/// one line, unless an element gives the reason.
void expect_failure(const std::string& command, int status, const std::string& program,
                    const std::vector<std::string>& words, bool of_element = false) {
  const Outcome outcome = run("timeout 30 " + command);
  EXPECT_EQ(outcome.status, status) << command << "\n" << outcome.text;
  EXPECT_EQ(outcome.text.rfind(program + ": ", 0), 0U) << command << "\n" << outcome.text;
  EXPECT_TRUE(of_element || outcome.text.find('\n') == outcome.text.size() - 1) << command << "\n"
                                                                                << outcome.text;
  for (const std::string& word : words)
    EXPECT_NE(outcome.text.find(word), std::string::npos) << command << "\n" << outcome.text;
}

/// Words of the command line that no program can do anything with: status 2.
void check_options(const std::string& program, const std::string& name) {
  for (const char* size : {"bad", "640x", "0x480", "640x-1", "65537x480", "' 1x1'"})
    expect_failure(program + " --size=" + size, 2, name, {"--size", "WIDTHxHEIGHT"});
  for (const char* frames : {"-5", "0", "1.5", "1000001", "''"})
    expect_failure(program + " --frames=" + frames, 2, name, {"--frames", "1 to 1000000"});
  expect_failure(program + " --unknown", 2, name, {"--unknown"});
  expect_failure(program + " --fram=3", 2, name, {"--fram"});
  expect_failure(program + " --size", 2, name, {"--size"});
  expect_failure(program + " word", 2, name, {"word"});
  for (const char* help : {"--help", "-h"}) {
    const Outcome outcome = run(program + " " + help + " 2>/dev/null");
    EXPECT_EQ(outcome.status, 0) << outcome.text;
    for (const char* option : {"--camera", "--frames", "--size", "--ev74", "--raw"})
      EXPECT_NE(outcome.text.find(option), std::string::npos) << outcome.text;
  }
}

/// A camera application: its values, and that it prints what it saw.
void check_camera(const std::string& program, const std::string& name) {
  for (const Size size : kSizes) {
    const Floats expected = expected_of(pictures(size));
    for (const char* backend : {"", " --ev74 model:workers=2"}) {
      const TemporaryFile values;
      const std::string command = program + " --size " + size.text() + " --frames " +
                                  std::to_string(kFrames) + " --raw " + values.name() + backend;
      const Outcome outcome = run(command);
      ASSERT_EQ(outcome.status, 0) << command << "\n" << outcome.text;
      EXPECT_NE(outcome.text.find("6 frames, latency p50 "), std::string::npos) << outcome.text;
      EXPECT_NE(outcome.text.find("memory: "), std::string::npos) << outcome.text;
      expect_values(values, expected, command);
    }
  }
  // What goes wrong ends the program with the reason, whichever half of the pipeline it is in.
  expect_failure(program + " --camera '/dev/simaai no ! camera'", 1, name,
                 {"/dev/simaai no ! camera"}, true);
  expect_failure(program + " --ev74 'unix:/simaai \" no server'", 1, name, {"/simaai \" no server"},
                 true);
  expect_failure(program + " --raw /simaai-no-folder/values", 1, name,
                 {"/simaai-no-folder/values", "No such file"});
  const Outcome full = run("timeout 30 " + program + " --frames 3 --raw /dev/full");
  EXPECT_EQ(full.status, 1) << "results were lost";
  EXPECT_NE(full.text.find(name + ": /dev/full: No space left"), std::string::npos) << full.text;
  EXPECT_EQ(run("(" + program + " --frames 3 >/dev/full)").status, 1) << "the report was lost";
  for (const char* closed : {">&-", "<&- >&-"}) {
    const Outcome outcome = run("(" + program + " --frames 3 " + closed + ")");
    EXPECT_EQ(outcome.status, 1) << closed << "\n" << outcome.text;
    EXPECT_EQ(outcome.text, name + ": standard output: Bad file descriptor\n") << closed;
  }
}

TEST(Examples, TheCameraInCxx) { check_camera(SIMAAI_EXAMPLE_CAMERA, "camera"); }

TEST(Examples, TheOptionsOfTheCameraInCxx) { check_options(SIMAAI_EXAMPLE_CAMERA, "camera"); }

std::string camera_in_python() {
  const char* python = std::getenv("SIMAAI_PYTHON");
  return std::string(python != nullptr ? python : "python3") + " " + SIMAAI_EXAMPLE_CAMERA_PY;
}

TEST(Examples, TheCameraInPython) {
  if (std::getenv("SIMAAI_WHY_NO_INTROSPECTION") != nullptr)
    GTEST_SKIP() << std::getenv("SIMAAI_WHY_NO_INTROSPECTION");
  check_camera(camera_in_python(), "camera.py");
}

TEST(Examples, TheOptionsOfTheCameraInPython) {
  if (std::getenv("SIMAAI_WHY_NO_INTROSPECTION") != nullptr)
    GTEST_SKIP() << std::getenv("SIMAAI_WHY_NO_INTROSPECTION");
  check_options(camera_in_python(), "camera.py");
  // Without the library there is a line too, and no trace of the interpreter.
  expect_failure("env GI_TYPELIB_PATH= " + camera_in_python(), 1, "camera.py", {"GstSimaai"});
}

TEST(Examples, TheKernelsAlone) {
  for (const Size size : kSizes) {
    const auto pixels = pictures(size);
    const TemporaryFile input;
    std::ofstream(input.name(), std::ios::binary)
        .write(reinterpret_cast<const char*>(pixels.data()),
               static_cast<std::streamsize>(pixels.size()));
    const TemporaryFile values;
    const Outcome outcome = run(std::string("(") + SIMAAI_EXAMPLE_KERNELS_ONLY + " " + size.text() +
                                " <" + input.name() + " >" + values.name() + ")");
    ASSERT_EQ(outcome.status, 0) << outcome.text;
    EXPECT_NE(outcome.text.find("6 frames, tiles in memory of "), std::string::npos)
        << outcome.text;
    expect_values(values, expected_of(pixels), size.text());
  }
}

TEST(Examples, WhatTheKernelsAloneRefuse) {
  const std::string program = SIMAAI_EXAMPLE_KERNELS_ONLY;
  for (const char* words : {"", "bad", "640", "640x", "x480", "4x4x4", "0x4", "4x-1", "4.5x4",
                            "65537x4", "''", "99999999999999999999x1", "4x4 4x4", "' 4x4'"})
    expect_failure("env " + program + " " + words + " </dev/null", 2, "kernels_only",
                   {"WIDTHxHEIGHT"});
  expect_failure(program + " --unknown </dev/null", 2, "kernels_only", {"--unknown"});
  const Outcome help = run(program + " --help 2>/dev/null </dev/null");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.text.find("WIDTHxHEIGHT"), std::string::npos) << help.text;

  expect_failure(program + " 4x4 </dev/null", 1, "kernels_only", {"no picture"});
  expect_failure(program + " 4x4 </", 1, "kernels_only", {"cannot be read"});
  // One picture of 48 bytes and a part of the next: its values, and what is missing.
  const TemporaryFile values;
  const Outcome cut = run("(head -c 60 /dev/zero | " + program + " 4x4 >" + values.name() + ")");
  EXPECT_EQ(cut.status, 1) << cut.text;
  EXPECT_NE(cut.text.find("kernels_only: the last picture is cut short: 12 of 48 bytes"),
            std::string::npos)
      << cut.text;
  expect_values(values, expected_of(std::vector<std::uint8_t>(48)), "before the cut");
  // A small picture fits the buffer of standard output: it is lost at the end only.
  const Outcome full = run("(head -c 48 /dev/zero | " + program + " 4x4 >/dev/full)");
  EXPECT_EQ(full.status, 1) << full.text;
  EXPECT_NE(full.text.find("kernels_only: the results cannot be written"), std::string::npos)
      << full.text;
}

/// Memory must not get the number of a standard descriptor: results would go into it, or pictures come out of it.
TEST(Examples, TheKernelsAloneWithoutStandardDescriptors) {
  const std::string program = std::string(SIMAAI_EXAMPLE_KERNELS_ONLY) + " 4x4 ";
  const std::vector<std::uint8_t> pixels(96);
  const TemporaryFile input;
  std::ofstream(input.name(), std::ios::binary)
      .write(reinterpret_cast<const char*>(pixels.data()),
             static_cast<std::streamsize>(pixels.size()));
  const std::string pictures = "<" + input.name();
  const Outcome no_output = run("(" + program + pictures + " >&-)");
  EXPECT_EQ(no_output.status, 1) << no_output.text;
  EXPECT_EQ(no_output.text.rfind("kernels_only: the results cannot be written\n"),
            no_output.text.find("kernels_only"))
      << no_output.text;
  const Outcome no_input = run("(" + program + "<&-)");
  EXPECT_EQ(no_input.status, 1) << no_input.text;
  EXPECT_EQ(no_input.text, "kernels_only: the pictures cannot be read\n");
  const Outcome neither = run("(" + program + "<&- >&-)");
  EXPECT_EQ(neither.status, 1) << neither.text;
  EXPECT_EQ(neither.text, "kernels_only: the pictures cannot be read\n");
  const TemporaryFile values;
  const Outcome no_messages = run("(" + program + pictures + " >" + values.name() + " 2>&-)");
  EXPECT_EQ(no_messages.status, 0);
  EXPECT_EQ(no_messages.text, "");
  expect_values(values, expected_of(pixels), "without standard error");
  EXPECT_EQ(run("(" + program + pictures + " >&- 2>&-)").status, 1);
  EXPECT_EQ(run("(" + program + "<&- >&- 2>&-)").status, 1);
}

} // namespace
} // namespace simaai::test
