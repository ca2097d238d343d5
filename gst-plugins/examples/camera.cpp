// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera application in C++: camera -> tiles -> application -> tiles -> values, without a copy of the application's own.
//
//   camera [--camera /dev/video0] [--frames N] [--size 640x480] [--ev74 URI] [--raw FILE]
//
// Without --camera pictures come from videotestsrc. --ev74 converts on that device, such as unix:/run/ev74 or model:, and not on the
// host CPU. --raw writes the results, row after row of float32. What the application does to the tiles stands where a job
// of an accelerator would: it turns each picture into its negative.
//
// Exits with 0, with 1 where something went wrong, with 2 where the options are no use; the reason is a line on standard error.
#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/simaai/tensor.h>

namespace {

struct Options {
  std::string camera;
  int width = 640;
  int height = 480;
  std::string ev74;
  std::string raw;
  int frames = 100;
};

/// Unreferences GStreamer objects and mini objects at the end of a scope.
template <class T> struct Unref {
  void operator()(T* object) const noexcept { gst_object_unref(object); }
};
template <> struct Unref<GstSample> {
  void operator()(GstSample* sample) const noexcept { gst_sample_unref(sample); }
};
template <> struct Unref<GstCaps> {
  void operator()(GstCaps* caps) const noexcept { gst_caps_unref(caps); }
};
template <> struct Unref<GstMessage> {
  void operator()(GstMessage* message) const noexcept { gst_message_unref(message); }
};
template <> struct Unref<GstSimaaiTensorSet> {
  void operator()(GstSimaaiTensorSet* set) const noexcept { gst_simaai_tensor_set_free(set); }
};
template <class T> using Ptr = std::unique_ptr<T, Unref<T>>;

constexpr int kFailed = 1;
constexpr int kMisused = 2;

[[noreturn]] void stop(const std::string& why, int status = kFailed) {
  std::fprintf(stderr, "camera: %s\n", why.c_str());
  std::quick_exit(status); // other threads may still run
}

/// Takes the message out of `error`, which is set.
[[noreturn]] void stop(GError* error) {
  const std::string why = error->message;
  g_error_free(error);
  stop(why);
}

/// When each frame left the camera, and how long it took to its result.
class Latency {
public:
  void begin(GstClockTime pts) {
    const std::lock_guard lock(mutex_);
    begun_[pts] = g_get_monotonic_time();
  }
  void end(GstClockTime pts) {
    const std::lock_guard lock(mutex_);
    const auto found = begun_.find(pts);
    if (found == begun_.end())
      return;
    micros_.push_back(g_get_monotonic_time() - found->second);
    begun_.erase(found);
  }
  void print() {
    const std::lock_guard lock(mutex_);
    if (micros_.empty())
      stop("no frame arrived");
    std::sort(micros_.begin(), micros_.end());
    const auto at = [this](std::size_t percent) {
      return static_cast<double>(micros_[(micros_.size() - 1) * percent / 100]) / 1000;
    };
    std::printf("%zu frames, latency p50 %.2f ms, p95 %.2f ms, max %.2f ms\n", micros_.size(),
                at(50), at(95), at(100));
    if (std::fflush(stdout) != 0)
      stop(std::string("standard output: ") + std::strerror(errno));
  }

private:
  std::mutex mutex_; ///< the camera and the results have threads of their own
  std::map<GstClockTime, gint64> begun_;
  std::vector<gint64> micros_;
};

GstPadProbeReturn on_picture(GstPad* /*pad*/, GstPadProbeInfo* info, gpointer latency) {
  static_cast<Latency*>(latency)->begin(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)));
  return GST_PAD_PROBE_OK;
}

/// What happens to results: their latency is noted, and they go to a file.
struct Results {
  Latency* latency;
  std::FILE* raw;
  std::string name;
  std::string failure; ///< of a thread of the pipeline, which has ended when it is read
};

GstFlowReturn on_result(GstAppSink* sink, gpointer data) {
  auto& results = *static_cast<Results*>(data);
  const Ptr<GstSample> sample(gst_app_sink_pull_sample(sink));
  if (sample == nullptr)
    return GST_FLOW_EOS;
  GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  results.latency->end(GST_BUFFER_PTS(buffer));
  if (results.raw == nullptr)
    return GST_FLOW_OK;
  GError* error = nullptr;
  const Ptr<GstSimaaiTensorSet> set(
      gst_simaai_tensor_set_new_from_caps(gst_sample_get_caps(sample.get()), &error));
  GstSimaaiTensorMap values;
  if (set == nullptr ||
      !gst_simaai_tensor_set_map(set.get(), buffer, 0, GST_MAP_READ, &values, &error))
    stop(error);
  const bool written = std::fwrite(values.data, 1, values.size, results.raw) == values.size &&
                       std::fflush(results.raw) == 0;
  if (!written)
    results.failure = results.name + ": " + std::strerror(errno);
  gst_simaai_tensor_map_unmap(&values);
  return written ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/// Answers tiles with tiles, in buffers of a pool of its own.
class Application {
public:
  explicit Application(GstCaps* caps) {
    GError* error = nullptr;
    set_.reset(gst_simaai_tensor_set_new_from_caps(caps, &error));
    if (set_ == nullptr)
      stop(error);
    allocator_.reset(gst_simaai_allocator_get_shared());
    pool_.reset(gst_simaai_pool_new(caps, allocator_.get(), 2, 8, &error));
    if (pool_ == nullptr)
      stop(error);
    gst_buffer_pool_set_active(pool_.get(), TRUE);
    read_channels();
  }
  ~Application() { gst_buffer_pool_set_active(pool_.get(), FALSE); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// A driver would be given the descriptors of both buffers here.
  GstBuffer* answer(GstBuffer* tiles) {
    GstBuffer* out = nullptr;
    if (gst_buffer_pool_acquire_buffer(pool_.get(), &out, nullptr) != GST_FLOW_OK)
      stop("no memory");
    gst_buffer_copy_into(out, tiles, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
    GError* error = nullptr;
    GstSimaaiTensorMap from;
    GstSimaaiTensorMap to;
    if (!gst_simaai_tensor_set_map(set_.get(), tiles, 0, GST_MAP_READ, &from, &error) ||
        !gst_simaai_tensor_set_map(set_.get(), out, 0, GST_MAP_WRITE, &to, &error))
      stop(error);
    negate(from, to);
    gst_simaai_tensor_map_unmap(&to);
    gst_simaai_tensor_map_unmap(&from);
    return out;
  }

  void print() {
    std::printf("memory: %s, %" G_GUINT64_FORMAT " buffers\n",
                gst_simaai_allocator_get_source(allocator_.get()),
                gst_simaai_pool_get_allocations(pool_.get()));
  }

private:
  void read_channels() {
    GstSimaaiTensorInfo* info = gst_simaai_tensor_set_get_tensor(set_.get(), 0);
    gsize rank = 0;
    const gint* shape = gst_simaai_tensor_info_get_shape(info, &rank);
    if (rank == 0 || shape[rank - 1] > 16 ||
        gst_simaai_tensor_info_get_channel_storage(info) != GST_SIMAAI_CHANNEL_STORAGE_PAD16)
      stop("expected tiles of up to 16 channels, stored as 16");
    channels_ = static_cast<std::size_t>(shape[rank - 1]);
    gst_simaai_tensor_info_free(info);
  }

  /// With 16 channels stored a pixel is 32 bytes: the low bytes of all channels, then the high ones with the signs.
  void negate(const GstSimaaiTensorMap& from, const GstSimaaiTensorMap& to) const {
    std::memcpy(to.data, from.data, from.size);
    for (gsize pixel = 0; pixel + 32 <= to.size; pixel += 32)
      for (std::size_t channel = 0; channel < channels_; ++channel)
        to.data[pixel + 16 + channel] ^= 0x80;
  }

  Ptr<GstSimaaiTensorSet> set_;
  Ptr<GstAllocator> allocator_;
  Ptr<GstBufferPool> pool_;
  std::size_t channels_ = 0;
};

std::string pipeline_text(const Options& options) {
  // A sink that the application feeds has nothing to wait for before PLAYING: async=false.
  return std::string(options.camera.empty() ? "videotestsrc" : "v4l2src io-mode=dmabuf") +
         " name=camera num-buffers=" + std::to_string(options.frames) +
         " ! video/x-raw,format=RGB,width=" + std::to_string(options.width) +
         ",height=" + std::to_string(options.height) +
         " ! simaaivideototensor mean=<127.5> scale=<0.0078125>"
         " ! application/vnd.simaai.tensor,dtype=float32"
         " ! simaaicasttess name=into-tiles channel-storage=pad16"
         " ! appsink name=tiles sync=false max-buffers=4"
         "  appsrc name=answers format=time block=true max-buffers=4 max-bytes=0"
         " ! simaaidetesscast name=out-of-tiles ! appsink name=results sync=false async=false";
}

/// What a person may have written in any way is a property, and no part of the text of a pipeline.
void set_properties(GstElement* pipeline, const Options& options) {
  const auto set = [pipeline](const char* element, const char* property, const char* value) {
    const Ptr<GstElement> found(gst_bin_get_by_name(GST_BIN(pipeline), element));
    gst_util_set_object_arg(G_OBJECT(found.get()), property, value);
  };
  if (!options.camera.empty())
    set("camera", "device", options.camera.c_str());
  for (const char* element : {"into-tiles", "out-of-tiles"})
    if (!options.ev74.empty()) {
      set(element, "backend", "ev74");
      set(element, "device", options.ev74.c_str());
    }
}

/// A number of digits alone; 0 where it is none, or above `most`.
int number_of(const std::string& text, int most) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  const long number = std::strtol(text.c_str(), nullptr, 10);
  return number <= most ? static_cast<int>(number) : 0;
}

/// Reads the options; --help prints them and ends the program.
Options parse(int argc, char** argv) {
  gchar* camera = nullptr;
  gchar* frames = nullptr;
  gchar* size = nullptr;
  gchar* ev74 = nullptr;
  gchar* raw = nullptr;
  const GOptionEntry entries[] = {
      {"camera", 0, 0, G_OPTION_ARG_FILENAME, &camera, "video device; else a test picture",
       "DEVICE"},
      {"frames", 0, 0, G_OPTION_ARG_STRING, &frames, "number of frames, 100 by default", "N"},
      {"size", 0, 0, G_OPTION_ARG_STRING, &size, "640x480 by default", "WIDTHxHEIGHT"},
      {"ev74", 0, 0, G_OPTION_ARG_STRING, &ev74, "convert on this device, such as model:", "URI"},
      {"raw", 0, 0, G_OPTION_ARG_FILENAME, &raw, "where to write the results, rows of float32",
       "FILE"},
      {nullptr, 0, 0, G_OPTION_ARG_NONE, nullptr, nullptr, nullptr}};
  GOptionContext* context = g_option_context_new(nullptr);
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group()); // and gst_init()
  GError* error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error))
    stop(error->message, kMisused);
  g_option_context_free(context);
  if (argc > 1)
    stop(std::string(argv[1]) + ": expected options only", kMisused);

  Options options;
  const auto text = [](gchar* given) {
    std::string kept = given != nullptr ? given : "";
    g_free(given);
    return kept;
  };
  if (frames != nullptr)
    options.frames = number_of(frames, 1000000);
  if (options.frames == 0)
    stop(std::string("--frames: expected a number from 1 to 1000000, found ") + frames, kMisused);
  if (size != nullptr) {
    const std::string both = size;
    const auto cross = both.find('x');
    options.width = number_of(both.substr(0, cross), 65536);
    options.height = cross != std::string::npos ? number_of(both.substr(cross + 1), 65536) : 0;
    if (options.width == 0 || options.height == 0)
      stop("--size: expected WIDTHxHEIGHT, each from 1 to 65536, found " + both, kMisused);
  }
  g_free(frames);
  g_free(size);
  options.camera = text(camera);
  options.ev74 = text(ev74);
  options.raw = text(raw);
  return options;
}

/// Hands tiles to the application until there are no more.
void pass_tiles(GstElement* pipeline) {
  const Ptr<GstElement> tiles(gst_bin_get_by_name(GST_BIN(pipeline), "tiles"));
  const Ptr<GstElement> answers(gst_bin_get_by_name(GST_BIN(pipeline), "answers"));
  std::unique_ptr<Application> application;
  while (GstSample* pulled = gst_app_sink_pull_sample(GST_APP_SINK(tiles.get()))) {
    const Ptr<GstSample> sample(pulled);
    if (application == nullptr) {
      application = std::make_unique<Application>(gst_sample_get_caps(pulled));
      gst_app_src_set_caps(GST_APP_SRC(answers.get()), gst_sample_get_caps(pulled));
    }
    GstBuffer* out = application->answer(gst_sample_get_buffer(pulled));
    if (gst_app_src_push_buffer(GST_APP_SRC(answers.get()), out) != GST_FLOW_OK)
      break;
  }
  gst_app_src_end_of_stream(GST_APP_SRC(answers.get()));
  if (application != nullptr)
    application->print();
}

/// Empty at the end of the stream, else what went wrong.
std::string wait_for_end(GstElement* pipeline) {
  const Ptr<GstBus> bus(gst_element_get_bus(pipeline));
  const Ptr<GstMessage> message(
      gst_bus_timed_pop_filtered(bus.get(), GST_CLOCK_TIME_NONE,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS)
    return {};
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  std::string failure = error->message;
  g_error_free(error);
  return failure;
}

/// Takes the numbers of closed standard descriptors, which memory would get otherwise. Their use still fails: each is opened the wrong
/// way round.
void keep_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 &&
        ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      stop("a standard descriptor is closed, and /dev/null cannot stand in for it");
}

} // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  std::setlocale(LC_CTYPE, ""); // for names of files and the help
  const Options options = parse(argc, argv);
  GError* error = nullptr;
  const Ptr<GstElement> pipeline(gst_parse_launch(pipeline_text(options).c_str(), &error));
  if (error != nullptr)
    stop(error);
  set_properties(pipeline.get(), options);

  Latency latency;
  const Ptr<GstElement> camera(gst_bin_get_by_name(GST_BIN(pipeline.get()), "camera"));
  const Ptr<GstPad> pictures(gst_element_get_static_pad(camera.get(), "src"));
  gst_pad_add_probe(pictures.get(), GST_PAD_PROBE_TYPE_BUFFER, on_picture, &latency, nullptr);
  Results results{&latency, nullptr, options.raw, {}};
  if (!options.raw.empty()) {
    results.raw = std::fopen(options.raw.c_str(), "wb");
    if (results.raw == nullptr)
      stop(options.raw + ": " + std::strerror(errno));
  }
  const Ptr<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "results"));
  GstAppSinkCallbacks callbacks{};
  callbacks.new_sample = on_result;
  gst_app_sink_set_callbacks(GST_APP_SINK(sink.get()), &callbacks, &results, nullptr);

  // The application waits for tiles, buffers and room on a thread of its own, and never on one of the pipeline, which could not
  // be stopped then. Stopping ends each of these waits.
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  std::thread application(pass_tiles, pipeline.get());
  std::string failure = wait_for_end(pipeline.get());
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  application.join();
  if (results.raw != nullptr && std::fclose(results.raw) != 0 && results.failure.empty())
    results.failure = options.raw + ": " + std::strerror(errno);
  if (!results.failure.empty())
    failure = results.failure;
  if (!failure.empty())
    stop(failure);
  latency.print();
  return 0;
}
