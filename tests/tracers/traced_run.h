// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs pipelines under the tracer and keeps its reports.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/gst_ptr.h"
#include "tests/tracers/behaviour.h"
#include "tracers/report.h"

namespace simaai::latency::test {

/// A pipeline of gst_parse_launch() text.
class PlainRun {
public:
  explicit PlainRun(const std::string& text);
  ~PlainRun();
  PlainRun(const PlainRun&) = delete;
  PlainRun& operator=(const PlainRun&) = delete;

  /// Element by name; the pipeline keeps it.
  [[nodiscard]] GstElement* element(const char* name) const;
  void behave(const char* name, std::unique_ptr<Behaviour> behaviour, unsigned inputs = 1) const {
    set_behaviour(element(name), std::move(behaviour), inputs);
  }
  /// Plays to the end of the stream; false after an error.
  [[nodiscard]] bool play() const;
  void state(GstState state) const;

protected:
  gst::GstPtr<GstElement> pipeline_;
};

/// The same, watched from its first state change on.
class TracedRun : public PlainRun {
public:
  explicit TracedRun(const std::string& text, const Settings& settings = {});
  ~TracedRun();
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

  /// What is recorded now; null before the first buffer and after the end.
  [[nodiscard]] const Recorder* recorder() const;
  /// Goes to NULL; the report of the run.
  const Report& stop();

  [[nodiscard]] const std::vector<Report>& reports() const { return reports_; }

private:
  std::vector<Report> reports_;
};

/// The element of that name; a test fails where there is none.
const ElementReport& element_of(const Report& report, const std::string& name);

} // namespace simaai::latency::test
