// SPDX-License-Identifier: LGPL-2.1-or-later
// A pipeline whose second half runs in another process (ipcpipelinesink, ipcpipelinesrc): tiles and sets
// arrive with the caps and bytes that one process makes of them.
//
// usage: ipc_pipeline. Status 77: ipcpipeline is not installed.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gst/gst.h>

namespace {

struct Case {
  const char* name;
  const char* sender;   ///< without its sink
  const char* receiver; ///< without its source; its sink writes out.npy in the working folder
};

constexpr Case kCases[] = {
    {"tiles",
     "simaainpysrc location=in.npy num-buffers=4 loop=true ! simaaicasttess tile-axes=<-1,1,2,3> "
     "tile-shape=<1,4,8,16> channel-storage=pad16",
     "simaainpysink location=out.npy"},
    {"tiles that are converted behind",
     "simaainpysrc location=in.npy num-buffers=4 loop=true ! simaaicasttess tile-axes=<-1,1,2,3> "
     "tile-shape=<1,4,8,16>",
     "simaaidetesscast ! simaainpysink location=out.npy"},
    {"set",
     "simaainpysrc location=in.npy ! m.sink_0 simaainpysrc location=in.npy ! simaaicast ! m.sink_1 "
     "simaaitensormux name=m ! queue",
     "simaaitensordemux name=d d.src_0 ! queue ! fakesink sync=false d.src_1 ! queue ! "
     "simaainpysink "
     "location=out.npy"}};

/// A version 1.0 file of 1 x 9 x 10 x 20 values of binary32.
void write_input() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 9, 10, 20), }";
  header += std::string(64 - (11 + header.size()) % 64, ' ') + '\n';
  std::ofstream file("in.npy", std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() % 256)
       << static_cast<char>(header.size() / 256) << header;
  for (int i = 0; i < 9 * 10 * 20; ++i) {
    const float value = static_cast<float>(i * 37 % 1009) / 64.0F - 7.0F;
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Waits for the end of the stream; false on an error or after a minute.
bool runs_to_the_end(GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const bool ended = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  if (message != nullptr && !ended) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::printf("# %s\n", error->message);
    g_clear_error(&error);
  }
  if (message != nullptr)
    gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return ended;
}

GstElement* parsed(const std::string& text) {
  GError* error = nullptr;
  GstElement* made = gst_parse_launch(text.c_str(), &error);
  if (error != nullptr)
    std::printf("# %s: %s\n", text.c_str(), error->message);
  g_clear_error(&error);
  return made;
}

/// The half in the other process: follows the states of the first one until that closes the socket.
[[noreturn]] void be_receiver(const Case& c, int socket) {
  gst_init(nullptr, nullptr);
  const std::string fd = std::to_string(socket);
  // The source has to be a child of the slave pipeline itself.
  const GstElement* slave = parsed("ipcslavepipeline.( ipcpipelinesrc fdin=" + fd + " fdout=" + fd +
                                   " ! " + c.receiver + " )");
  if (slave == nullptr)
    std::_Exit(1);
  g_main_loop_run(g_main_loop_new(nullptr, FALSE)); // until the parent ends it
  std::_Exit(0);
}

bool passes(const Case& c) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    return false;
  std::filesystem::remove("out.npy");
  std::fflush(stdout);
  const pid_t receiver = fork();
  if (receiver == 0) {
    close(sockets[0]);
    be_receiver(c, sockets[1]);
  }
  close(sockets[1]);
  // GStreamer begins in a process of its own: a fork of running threads has none of them.
  const pid_t sender = fork();
  if (sender == 0) {
    gst_init(nullptr, nullptr);
    const std::string fd = std::to_string(sockets[0]);
    GstElement* pipeline =
        parsed(std::string(c.sender) + " ! ipcpipelinesink fdin=" + fd + " fdout=" + fd);
    const bool ended = pipeline != nullptr && runs_to_the_end(pipeline);
    std::fflush(stdout);
    std::_Exit(ended ? 0 : 1);
  }
  close(sockets[0]);
  int status = 1;
  waitpid(sender, &status, 0);
  kill(receiver, SIGTERM);
  waitpid(receiver, nullptr, 0);
  const std::string received = content("out.npy");

  std::filesystem::remove("out.npy");
  const pid_t whole = fork();
  if (whole == 0) {
    gst_init(nullptr, nullptr);
    GstElement* pipeline = parsed(std::string(c.sender) + " ! " + c.receiver);
    const bool ended = pipeline != nullptr && runs_to_the_end(pipeline);
    std::fflush(stdout);
    std::_Exit(ended ? 0 : 1);
  }
  int whole_status = 1;
  waitpid(whole, &whole_status, 0);
  const std::string expected = content("out.npy");
  if (status != 0 || whole_status != 0)
    std::printf("# status %d, in one process %d\n", status, whole_status);
  if (expected.size() < 1000 || received != expected)
    std::printf("# %zu bytes arrived, %zu are expected, or they differ\n", received.size(),
                expected.size());
  return status == 0 && whole_status == 0 && expected.size() >= 1000 && received == expected;
}

bool is_installed() {
  const pid_t asking = fork();
  if (asking == 0) {
    gst_init(nullptr, nullptr);
    GstElementFactory* factory = gst_element_factory_find("ipcpipelinesink");
    std::_Exit(factory == nullptr ? 77 : 0);
  }
  int status = 0;
  waitpid(asking, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

int main() {
  if (!is_installed()) {
    std::printf("1..0 # SKIP ipcpipelinesink is not installed\n");
    return 77;
  }
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("simaai-ipc-" + std::to_string(getpid())))
          .string();
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
  write_input();
  int number = 0;
  bool good = true;
  for (const Case& c : kCases) {
    const bool passed = passes(c);
    good = good && passed;
    std::printf("%sok %d - %s\n", passed ? "" : "not ", ++number, c.name);
  }
  std::printf("1..%d\n", number);
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  return good ? 0 : 1;
}
