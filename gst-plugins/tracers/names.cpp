// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the made-up name of an element beside what reports call it: a name that is given later replaces both.
#include "names.h"

#include <cctype>
#include <charconv>
#include <map>
#include <mutex>

#include "common/gst_ptr.h"

namespace simaai::latency {

namespace {

std::mutex mutex; // elements are made by streaming threads too
struct Run {
  std::string text;
  std::map<std::string, unsigned long> firsts; ///< numbers by what stands before them
};
Run& run() {
  static Run current;
  return current;
}

/// The text has "name=NAME". Then it is not made up, though it looks so.
bool gives_name(const std::string& text, const std::string& name) {
  for (const std::string& given : {"name=" + name, "name=\"" + name + "\""}) {
    for (std::size_t at = text.find(given); at != std::string::npos;
         at = text.find(given, at + 1)) {
      const std::size_t end = at + given.size();
      if (end == text.size() || std::isspace(static_cast<unsigned char>(text[end])) != 0)
        return true;
    }
  }
  return false;
}

// C strings: the plug-in and a program that links this code may be of different versions.
GQuark made_up_quark() noexcept {
  static const GQuark quark = g_quark_from_static_string("simaai-latency-made-up-name");
  return quark;
}
GQuark reported_quark() noexcept {
  static const GQuark quark = g_quark_from_static_string("simaai-latency-reported-name");
  return quark;
}

void keep(GstElement* element, GQuark quark, const std::string& name) {
  g_object_set_qdata_full(G_OBJECT(element), quark, g_strdup(name.c_str()), g_free);
}

} // namespace

void begin_names(const std::string& text) {
  const std::lock_guard lock(mutex);
  run() = {text, {}};
}

void note_new_element(GstElement* element) {
  const gst::GTextPtr text(gst_object_get_name(GST_OBJECT_CAST(element)));
  const std::string name = text.get();
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  unsigned long number = 0;
  const auto [end, error] =
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (error != std::errc{} || digits == 0)
    return;
  const std::lock_guard lock(mutex);
  if (gives_name(run().text, name))
    return;
  const std::string before = name.substr(0, digits);
  const unsigned long first = run().firsts.try_emplace(before, number).first->second;
  keep(element, made_up_quark(), name);
  keep(element, reported_quark(), before + std::to_string(number - first));
}

const char* reported_name(GstObject* object) noexcept {
  const auto text = [object](GQuark quark) {
    return static_cast<const char*>(g_object_get_qdata(G_OBJECT(object), quark));
  };
  return g_strcmp0(text(made_up_quark()), GST_OBJECT_NAME(object)) == 0 ? text(reported_quark())
                                                                        : GST_OBJECT_NAME(object);
}

std::string path_of(GstElement* element) {
  std::string path = reported_name(GST_OBJECT_CAST(element));
  gst::GstPtr<GstObject> bin(gst_object_get_parent(GST_OBJECT_CAST(element)));
  while (bin) {
    gst::GstPtr<GstObject> outer(gst_object_get_parent(bin.get()));
    if (outer)
      path.insert(0, std::string(reported_name(bin.get())).append("/"));
    bin = std::move(outer);
  }
  return path;
}

} // namespace simaai::latency
