// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera of the kernel (vivid) through the elements: which memory each pad has, byte for byte the results of the host CPU, no copy.
// Runs in the virtual machine, as root, under sync_guard.cpp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gst/allocators/gstdmabuf.h>
#include <gst/gst.h>

#include "common/gst_ptr.h"
#include "device_process.h"
#include "observer.h"
#include "runtime/server_process.h"

namespace simaai::test {
namespace {

using gst::BufferMap;
using gst::GstPtr;
using runtime::test::ServerProcess;

constexpr const char* kPicture = "video/x-raw,format=RGB,width=320,height=180";
constexpr const char* kHeap = "system"; ///< name of the DMA heap, as the exporter of its buffers

/// What went through a pad.
struct Seen {
  std::mutex mutex;
  std::uint64_t buffers = 0;
  std::set<std::string> exporters;           ///< of their memories; empty text: no DMA-BUF
  std::set<ino_t> objects;                   ///< that the memories are
  std::vector<ino_t> order;                  ///< object of each buffer
  std::vector<std::vector<std::byte>> bytes; ///< of each buffer, where wanted
  bool keep_bytes = false;
  std::uint64_t pause_at = 0;     ///< calls `at_pause` with that buffer
  std::function<void()> at_pause; ///< on the streaming thread
};

GstPadProbeReturn look(GstPad* /*pad*/, GstPadProbeInfo* info, gpointer data) noexcept {
  auto& seen = *static_cast<Seen*>(data);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const std::lock_guard lock(seen.mutex);
  if (++seen.buffers == seen.pause_at)
    seen.at_pause();
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    struct stat file {};
    const bool has_fd = gst_is_dmabuf_memory(memory) != FALSE;
    const int fd = has_fd ? gst_dmabuf_memory_get_fd(memory) : -1;
    seen.exporters.insert(has_fd ? exporter_of(fd) : "");
    if (has_fd && ::fstat(fd, &file) == 0)
      seen.objects.insert(file.st_ino);
    seen.order.push_back(file.st_ino);
  }
  if (seen.keep_bytes) {
    const BufferMap map(buffer, GST_MAP_READ);
    seen.bytes.emplace_back(map.data(), map.data() + gst_buffer_get_size(buffer));
  }
  return GST_PAD_PROBE_OK;
}

/// A pipeline and what is seen on source pads of its named elements.
class Pipeline {
public:
  explicit Pipeline(const std::string& text) {
    GError* error = nullptr;
    element_.reset(gst_parse_launch(text.c_str(), &error));
    EXPECT_EQ(error, nullptr) << error->message;
    g_clear_error(&error);
  }
  ~Pipeline() { gst_element_set_state(element_.get(), GST_STATE_NULL); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  Seen& watch(const char* name, const char* pad_name, bool keep_bytes = false) {
    auto& seen = *seen_.emplace_back(std::make_unique<Seen>());
    seen.keep_bytes = keep_bytes;
    const GstPtr<GstElement> element = find(name);
    const GstPtr<GstPad> pad(gst_element_get_static_pad(element.get(), pad_name));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, look, &seen, nullptr);
    return seen;
  }

  /// Plays to the end of the stream. Errors fail the test.
  void play() {
    gst_element_set_state(element_.get(), GST_STATE_PLAYING);
    const GstPtr<GstBus> bus(gst_element_get_bus(element_.get()));
    const GstPtr<GstMessage> message(gst_bus_timed_pop_filtered(
        bus.get(), 200 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    ASSERT_NE(message, nullptr) << "the pipeline does not end";
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS)
      return;
    GError* error = nullptr;
    gchar* details = nullptr;
    gst_message_parse_error(message.get(), &error, &details);
    ADD_FAILURE() << error->message << "\n" << details;
    g_clear_error(&error);
    g_free(details);
  }

  [[nodiscard]] GstPtr<GstStructure> stats(const char* name) {
    GstStructure* stats = nullptr;
    g_object_get(find(name).get(), "stats", &stats, nullptr);
    return GstPtr<GstStructure>(stats);
  }
  [[nodiscard]] std::uint64_t number(const char* name, const char* field) {
    guint64 value = 0;
    EXPECT_TRUE(gst_structure_get_uint64(stats(name).get(), field, &value)) << field;
    return value;
  }
  [[nodiscard]] std::string text(const char* name, const char* field) {
    const auto all = stats(name);
    const gchar* value = gst_structure_get_string(all.get(), field);
    return value != nullptr ? value : "";
  }

private:
  [[nodiscard]] GstPtr<GstElement> find(const char* name) {
    return GstPtr<GstElement>(gst_bin_get_by_name(GST_BIN(element_.get()), name));
  }

  std::vector<std::unique_ptr<Seen>> seen_; ///< outlives the pipeline
  GstPtr<GstElement> element_;
};

std::string camera(const char* mode, int frames) {
  return std::string("v4l2src name=camera device=/dev/video0 io-mode=") + mode +
         " num-buffers=" + std::to_string(frames) + " ! " + kPicture;
}

using Exporters = std::set<std::string>;

void expect_balanced_brackets() {
  const auto mine = brackets(::getpid());
  EXPECT_EQ(mine.count("unbalanced"), 0U);
}

TEST(Vivid, GivesAViewOfTheCamerasOwnMemory) {
  constexpr int kFrames = 300;
  Pipeline pipeline(camera("dmabuf", kFrames) +
                    " ! simaaivideototensor name=view require-zero-copy=true"
                    " ! application/vnd.simaai.tensor,dtype=uint8 ! fakesink name=end");
  const Seen& frames = pipeline.watch("camera", "src");
  const Seen& tensors = pipeline.watch("end", "sink");
  forget_brackets();
  pipeline.play();
  EXPECT_EQ(frames.buffers, static_cast<std::uint64_t>(kFrames));
  EXPECT_EQ(frames.exporters.size(), 1U);
  EXPECT_EQ(frames.exporters.count(""), 0U);
  EXPECT_EQ(frames.exporters.count(kHeap), 0U);
  EXPECT_EQ(tensors.order, frames.order);
  EXPECT_GT(frames.objects.size(), 1U);
  EXPECT_LT(frames.objects.size(), 33U);
  EXPECT_EQ(pipeline.number("view", "frames"), static_cast<std::uint64_t>(kFrames));
  EXPECT_EQ(pipeline.number("view", "copies"), 0U);
  EXPECT_EQ(pipeline.number("view", "conversions"), 0U);
  // Nobody looked at a picture.
  EXPECT_EQ(brackets(::getpid()), (std::map<std::string, int>{}));
}

/// The camera fills memory of ours.
TEST(Vivid, ImportsTheBuffersThatTheElementsPropose) {
  constexpr int kFrames = 60;
  Pipeline pipeline(camera("dmabuf-import", kFrames) +
                    " ! simaaivideototensor name=view require-zero-copy=true"
                    " ! application/vnd.simaai.tensor,dtype=uint8 ! fakesink name=end");
  const Seen& frames = pipeline.watch("camera", "src");
  const Seen& tensors = pipeline.watch("end", "sink");
  forget_brackets();
  pipeline.play();
  EXPECT_EQ(frames.buffers, static_cast<std::uint64_t>(kFrames));
  EXPECT_EQ(frames.exporters, Exporters{kHeap});
  EXPECT_EQ(tensors.order, frames.order);
  EXPECT_LT(frames.objects.size(), 33U);
  EXPECT_EQ(pipeline.number("view", "copies"), 0U);
  EXPECT_EQ(brackets(::getpid()), (std::map<std::string, int>{}));
}

/// One camera, the same frames through the device and through the host CPU.
void compare_backends(const std::string& device, int frames) {
  const std::string on_device =
      " backend=ev74 device=" + device + " job-timeout=60000 require-zero-copy=true";
  const std::string bridge = " ! queue ! simaaivideototensor mean=<127.5> scale=<0.0078125>";
  Pipeline pipeline(camera("dmabuf", frames) + " ! tee name=both both." + bridge +
                    " name=bridge ! simaaicasttess name=tess" + on_device +
                    " ! simaaidetesscast name=detess" + on_device + " ! fakesink name=ev74 both." +
                    bridge +
                    " ! simaaicasttess backend=a65 ! simaaidetesscast backend=a65"
                    " ! fakesink name=a65");
  const Seen& pictures = pipeline.watch("bridge", "sink");
  const Seen& linear = pipeline.watch("bridge", "src");
  const Seen& tiles = pipeline.watch("tess", "src");
  const Seen& results = pipeline.watch("ev74", "sink", true);
  const Seen& expected = pipeline.watch("a65", "sink", true);
  forget_brackets();
  pipeline.play();

  ASSERT_EQ(results.buffers, static_cast<std::uint64_t>(frames));
  ASSERT_EQ(expected.buffers, results.buffers);
  EXPECT_EQ(results.bytes.front().size(), 320U * 180 * 3 * 4);
  for (std::size_t i = 0; i < results.bytes.size(); ++i)
    ASSERT_EQ(results.bytes[i], expected.bytes[i]) << "frame " << i;
  // Frames differ, so that a buffer that was not written again would show.
  EXPECT_NE(results.bytes.front(), results.bytes.back());

  EXPECT_EQ(pictures.exporters.count(""), 0U);
  for (const Seen* outputs : {&linear, &tiles, &results}) {
    EXPECT_EQ(outputs->exporters, Exporters{kHeap});
    EXPECT_LT(outputs->objects.size(), 8U);
  }
  EXPECT_EQ(expected.exporters, Exporters{""});
  EXPECT_EQ(pipeline.number("bridge", "copies"), 0U);
  for (const char* name : {"tess", "detess"}) {
    EXPECT_EQ(pipeline.number(name, "frames"), static_cast<std::uint64_t>(frames)) << name;
    EXPECT_EQ(pipeline.number(name, "copies"), 0U) << name;
    EXPECT_LT(pipeline.number(name, "allocations"), 8U) << name;
    EXPECT_EQ(pipeline.text(name, "memory"), "dma-buf") << name;
    EXPECT_EQ(pipeline.text(name, "memory-source"), "dma-heap") << name;
    EXPECT_EQ(pipeline.text(name, "backend"), "ev74") << name;
  }
  expect_balanced_brackets();
}

TEST(Vivid, IsConvertedByTheModelWithoutACopy) { compare_backends("model:workers=2", 20); }

/// Camera to linear results again: the bridge converts each picture once; after a few frames nothing is allocated, nothing is copied
/// ever, and every output is a DMA-BUF of a pool. `names`: the elements, of which `converting` count conversions.
void expect_nothing_but_conversions(const std::string& rest, const std::vector<const char*>& names,
                                    const std::set<std::string>& converting) {
  constexpr std::uint64_t kFrames = 300;
  Pipeline pipeline(camera("dmabuf", kFrames) + rest + " ! fakesink name=end");
  std::vector<const Seen*> outputs;
  for (const char* name : names)
    outputs.push_back(&pipeline.watch(name, "src"));
  Seen& results = pipeline.watch("end", "sink");
  std::map<std::string, std::uint64_t> warm;
  results.pause_at = 20;
  results.at_pause = [&] {
    for (const char* name : names)
      warm[name] = pipeline.number(name, "allocations");
  };
  forget_brackets();
  pipeline.play();
  EXPECT_EQ(results.buffers, kFrames);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const char* name = names[i];
    EXPECT_EQ(outputs[i]->buffers, kFrames) << name;
    EXPECT_EQ(outputs[i]->exporters, Exporters{kHeap}) << name;
    EXPECT_LT(outputs[i]->objects.size(), 8U) << name;
    EXPECT_EQ(pipeline.number(name, "frames"), kFrames) << name;
    EXPECT_EQ(pipeline.number(name, "copies"), 0U) << name;
    EXPECT_EQ(pipeline.number(name, "allocations"), warm[name]) << name;
    EXPECT_EQ(warm[name], outputs[i]->objects.size()) << name;
    EXPECT_EQ(pipeline.text(name, "memory"), "dma-buf") << name;
    EXPECT_EQ(pipeline.text(name, "memory-source"), "dma-heap") << name;
    if (converting.count(name) != 0) {
      EXPECT_EQ(pipeline.number(name, "conversions"), kFrames) << name;
    }
  }
  expect_balanced_brackets();
}

TEST(Vivid, NeedsOneConversionAndNoAllocationOver300FramesOnTheModel) {
  const std::string device = " backend=ev74 device=model: job-timeout=60000 require-zero-copy=true";
  const std::string dma_bufs = " ! application/vnd.simaai.tensor(memory:DMABuf)";
  expect_nothing_but_conversions(" ! simaaivideototensor name=bridge" + dma_bufs +
                                     ",dtype=float32 ! simaaicasttess name=tess" + device +
                                     " ! simaaidetesscast name=detess" + device,
                                 {"bridge", "tess", "detess"}, {"bridge"});
}

/// The host CPU, and back to pictures in DMA-BUFs, which is the second conversion.
TEST(Vivid, NeedsTwoConversionsAndNoAllocationOver300FramesToPicturesAgain) {
  const std::string dma_bufs = " ! application/vnd.simaai.tensor(memory:DMABuf)";
  expect_nothing_but_conversions(
      " ! simaaivideototensor name=bridge" + dma_bufs +
          ",dtype=float32 ! simaaicasttess name=tess backend=a65 require-zero-copy=true" +
          dma_bufs + " ! simaaidetesscast name=detess backend=a65 require-zero-copy=true" +
          dma_bufs + " ! simaaitensortovideo name=back ! video/x-raw(memory:DMABuf),format=RGB",
      {"bridge", "tess", "detess", "back"}, {"bridge", "back"});
}

TEST(Vivid, IsConvertedByTheServerWithoutACopy) {
  const ServerProcess server;
  compare_backends(server.uri(), 20);
  EXPECT_EQ(brackets(server.pid()), (std::map<std::string, int>{{"read", 40}, {"both", 40}}));
}

TEST(Vivid, IsConvertedBehindACharacterDeviceWithoutACopy) {
  const DeviceProcess process;
  compare_backends(kNodeUri, 20);
  EXPECT_EQ(brackets(process.pid()), (std::map<std::string, int>{{"read", 40}, {"both", 40}}));
}

[[maybe_unused]] const bool kWatched = [] {
  expect_no_dma_buf_left();
  return true;
}();

} // namespace
} // namespace simaai::test
