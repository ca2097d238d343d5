// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the environment of the process.
#include "environment.h"

#include <fstream>
#include <string_view>
#include <thread>

#include <sys/utsname.h>

#include <gst/gst.h>

#include "common/gst_ptr.h"

namespace simaai::latency {

namespace {

/// Name of the processor, as the kernel knows it.
std::string processor() {
  constexpr std::string_view kKey = "model name";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(kKey) && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "unknown";
}

} // namespace

std::vector<std::pair<std::string, std::string>> describe_environment() {
  utsname system{};
  std::string kernel = "unknown";
  std::string machine = "unknown";
  if (uname(&system) == 0) {
    kernel = std::string(system.sysname) + " " + system.release;
    machine = system.machine;
  }
  const gst::GTextPtr gstreamer(gst_version_string());
  return {{"processor", processor()},
          {"processors", std::to_string(std::thread::hardware_concurrency())},
          {"machine", machine},
          {"kernel", kernel},
          {"gstreamer", gstreamer.get()},
          {"simaai", SIMAAI_VERSION}};
}

} // namespace simaai::latency
