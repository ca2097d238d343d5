// SPDX-License-Identifier: LGPL-2.1-or-later
// Bus messages of our elements.
#include "errors.h"

#include <utility>

#include "gst_ptr.h"

namespace simaai::gst {
namespace {

GstDebugCategory* category() noexcept {
  static GstDebugCategory* const made = [] {
    GstDebugCategory* log = nullptr;
    GST_DEBUG_CATEGORY_INIT(log, "simaaitensor", 0, "tensor elements");
    return log;
  }();
  return made;
}

std::pair<GQuark, gint> domain_and_code(ErrorKind kind) noexcept {
  switch (kind) {
  case ErrorKind::Negotiation:
    return {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT};
  case ErrorKind::Data:
    return {GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED};
  case ErrorKind::Settings:
    return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS};
  case ErrorKind::Resource:
    return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED};
  case ErrorKind::NotFound:
    return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND};
  case ErrorKind::OpenRead:
    return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ};
  case ErrorKind::OpenWrite:
    return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE};
  case ErrorKind::Read:
    return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ};
  case ErrorKind::Write:
    return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE};
  }
  return {GST_CORE_ERROR, GST_CORE_ERROR_FAILED};
}

std::string caps_text(const GstCaps* caps) {
  const GTextPtr text(gst_caps_to_string(caps));
  return text.get();
}

GstStructure* error_details(const Report& report) {
  GstStructure* details =
      gst_structure_new("simaai-error", "reason", G_TYPE_STRING, report.reason.c_str(), nullptr);
  if (report.sink_caps != nullptr)
    gst_structure_set(details, "sink-caps", GST_TYPE_CAPS, report.sink_caps, nullptr);
  if (report.src_caps != nullptr)
    gst_structure_set(details, "src-caps", GST_TYPE_CAPS, report.src_caps, nullptr);
  if (report.needed_bytes)
    gst_structure_set(details, "needed-bytes", G_TYPE_UINT64, guint64{*report.needed_bytes},
                      nullptr);
  if (report.found_bytes)
    gst_structure_set(details, "found-bytes", G_TYPE_UINT64, guint64{*report.found_bytes}, nullptr);
  if (report.backend != nullptr)
    gst_structure_set(details, "backend", G_TYPE_STRING, report.backend, nullptr);
  return details;
}

void post(GstElement* element, GstMessageType type, ErrorKind kind, const Report& report,
          GstStructure* details) {
  const auto [domain, code] = domain_and_code(kind);
  const std::string text = report_text(element, report);
  GST_CAT_WARNING_OBJECT(category(), element, "%s", text.c_str());
  // The message takes ownership of both strings.
  gst_element_message_full_with_details(element, type, domain, code, g_strdup(text.c_str()),
                                        nullptr, __FILE__, GST_FUNCTION, __LINE__, details);
}

} // namespace

std::string report_text(GstElement* element, const Report& report) {
  const GTextPtr name(gst_object_get_name(GST_OBJECT_CAST(element)));
  std::string text = std::string(name.get()) + ": " + report.reason;
  if (report.needed_bytes)
    text += "\n  needed: " + std::to_string(*report.needed_bytes) + " bytes";
  if (report.found_bytes)
    text += "\n  found: " + std::to_string(*report.found_bytes) + " bytes";
  if (report.backend != nullptr)
    text += std::string("\n  backend: ") + report.backend;
  if (report.sink_caps != nullptr)
    text += "\n  sink caps: " + caps_text(report.sink_caps);
  if (report.src_caps != nullptr)
    text += "\n  src caps: " + caps_text(report.src_caps);
  return text;
}

void post_error(GstElement* element, ErrorKind kind, const Report& report) {
  post(element, GST_MESSAGE_ERROR, kind, report, error_details(report));
}

void post_warning(GstElement* element, ErrorKind kind, const Report& report,
                  GstStructure* details) {
  post(element, GST_MESSAGE_WARNING, kind, report, details);
}

void post_notice(GstElement* element, GstStructure* structure) {
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT_CAST(element), structure));
}

} // namespace simaai::gst
