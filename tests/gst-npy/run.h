// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs simaainpysrc and simaainpysink in small pipelines and collects what comes out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gst/gst.h>

#include "gst-plugins/common/gst_ptr.h"

namespace simaai::test {

using gst::GstPtr;
using Bytes = std::vector<std::uint8_t>;
/// Property and its value in the syntax of gst-launch.
using Setting = std::pair<std::string, std::string>;

/// A folder of its own for one test; removed at the end.
class TempFolder {
public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Names of the files in it, sorted.
  std::vector<std::string> files() const;

private:
  std::filesystem::path folder_;
};

struct Pushed {
  GstPtr<GstCaps> caps;
  Bytes bytes;
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  GstClockTime duration = GST_CLOCK_TIME_NONE;
};

struct Outcome {
  std::vector<Pushed> buffers;
  std::vector<GstPtr<GstStructure>> messages; ///< element messages
  GstPtr<GstStructure> stats;                 ///< of the element, after its last buffer
  int index = 0;                              ///< property of the sink, after its last buffer
  std::string error;                          ///< text of the first error, empty without one
  std::string details;                        ///< its reason, without names and caps
  GQuark domain = 0;
  gint code = 0;
};

/// simaainpysrc until it ends or fails. `accepted`: caps that the sink takes.
Outcome run_source(const std::vector<Setting>& settings, const std::string& accepted = "ANY");

/// Buffers with their caps into simaainpysink.
struct Input {
  std::string caps;
  Bytes bytes;
  std::size_t first_memory_bytes = 0; ///< not 0: the rest is in a second memory
};
Outcome run_sink(const std::vector<Setting>& settings, const std::vector<Input>& inputs);

void write_file(const std::string& path, const Bytes& bytes);
/// A counter of the structure.
std::uint64_t stat(const Outcome& outcome, const char* field);
Bytes read_file(const std::string& path);
std::string text_of(const GstCaps* caps);
/// Whether the caps are exactly the tensor caps with these fields.
bool caps_are(const GstCaps* caps, const std::string& fields);

} // namespace simaai::test
