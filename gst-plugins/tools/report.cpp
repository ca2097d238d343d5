// SPDX-License-Identifier: LGPL-2.1-or-later
// Table of processing times.
#include "report.h"

#include <cstdio>

#include "common/gst_ptr.h"

namespace simaai::demo {

namespace {

double microseconds(const GstStructure& stats, const char* field) {
  guint64 nanoseconds = 0;
  gst_structure_get_uint64(&stats, field, &nanoseconds);
  return static_cast<double>(nanoseconds) / 1e3;
}

std::string line(GstElement* element) {
  GstStructure* raw_stats = nullptr;
  g_object_get(element, "stats", &raw_stats, nullptr);
  const gst::GstPtr<GstStructure> stats(raw_stats);
  if (!stats)
    return {};
  char text[128];
  std::snprintf(text, sizeof text, "  %-22s %10.1f %10.1f %10.1f\n",
                GST_OBJECT_NAME(gst_element_get_factory(element)), microseconds(*stats, "p50-ns"),
                microseconds(*stats, "p95-ns"), microseconds(*stats, "max-ns"));
  return text;
}

} // namespace

std::string cost_table(GstBin* pipeline, const std::vector<std::string>& names) {
  char head[128];
  std::snprintf(head, sizeof head, "  %-22s %10s %10s %10s\n", "processing time, us", "p50", "p95",
                "max");
  std::string table = head;
  for (const std::string& name : names) {
    const gst::GstPtr<GstElement> element(gst_bin_get_by_name(pipeline, name.c_str()));
    if (element)
      table += line(element.get());
  }
  return table;
}

} // namespace simaai::demo
