// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-ev74d: serves the device model on a socket.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <variant>

#include <sys/signalfd.h>

#include <simaai/runtime/unique_fd.h>

#include "firmware/model/server/server.h"
#include "firmware/model/transport/model_options.h"

namespace {

using simaai::model::BadOption;
using simaai::model::ModelConfig;
using simaai::model::ServerConfig;

constexpr const char* kUsage =
    "usage: simaai-ev74d [--model OPTIONS] [--queue JOBS] SOCKET\n"
    "Serves a model of the EV74 on the socket file SOCKET; programs reach it as unix:SOCKET.\n"
    "  --model OPTIONS  workers=1..4,dma=immediate|deferred,seed=N,latency-us=N,\n"
    "                   checking=bounds|full,flags=N (separated by commas)\n"
    "  --queue JOBS     jobs of one client that may be in flight, 1 to 64 (8)\n"
    "Ends on SIGTERM and SIGINT, after the job that runs.\n";

constexpr std::size_t kMostJobs = 64;

int complain(const char* what, const char* argument) {
  (void)std::fprintf(stderr, "simaai-ev74d: %s: %s\n%s", what, argument, kUsage);
  return 2;
}

bool read_queue(std::string_view text, std::size_t& out) noexcept {
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, out);
  return failed == std::errc() && stop == end && out >= 1 && out <= kMostJobs;
}

/// 0, or the exit status.
int read_arguments(int count, char** arguments, ServerConfig& config) {
  const auto model = simaai::model::parse_options("");
  config.model = *std::get_if<ModelConfig>(&model);
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--model" && i + 1 < count) {
      const auto read = simaai::model::parse_options(arguments[++i]);
      if (std::holds_alternative<BadOption>(read))
        return complain("these options cannot be read", arguments[i]);
      config.model = *std::get_if<ModelConfig>(&read);
    } else if (argument == "--queue" && i + 1 < count) {
      if (!read_queue(arguments[++i], config.queue_limit))
        return complain("not a number of jobs", arguments[i]);
    } else if (argument.substr(0, 1) == "-" || !config.socket_path.empty()) {
      return complain("unexpected argument", arguments[i]);
    } else {
      config.socket_path = argument;
    }
  }
  return config.socket_path.empty() ? complain("missing argument", "SOCKET") : 0;
}

} // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--help") {
    (void)std::fputs(kUsage, stdout);
    return 0;
  }
  ServerConfig config;
  if (const int status = read_arguments(count, arguments, config); status != 0)
    return status;
  sigset_t stop;
  (void)sigemptyset(&stop);
  (void)sigaddset(&stop, SIGTERM);
  (void)sigaddset(&stop, SIGINT);
  // Before the device thread is made, which inherits the mask.
  (void)pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  const simaai::runtime::UniqueFd stop_fd(::signalfd(-1, &stop, SFD_CLOEXEC));
  const std::string path = config.socket_path;
  simaai::model::Server server(std::move(config));
  int failed = server.listen();
  if (failed == 0) {
    (void)std::printf("simaai-ev74d: listening on %s\n", path.c_str());
    (void)std::fflush(stdout);
    failed = server.run(stop_fd.get());
  }
  if (failed != 0) {
    (void)std::fprintf(stderr, "simaai-ev74d: %s: %s\n", path.c_str(), std::strerror(failed));
    return 1;
  }
  return 0;
}
