// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds pads, elements and sessions of the objects that the hooks name.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include <gst/gst.h>

#include "output.h"
#include "recorder.h"
#include "session.h"

namespace simaai::latency {

/// What a GstPad is to the accounting. Immutable; `pad` is null for ghost pads and their inner
/// halves, which only hand on; both are null for pads without an element.
struct Binding {
  Session* session = nullptr; // one reference
  Pad* pad = nullptr;
};

class Tracing {
public:
  Tracing() = default;
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  void set_parameters(const Settings& settings, const Outputs& outputs);
  void set_receiver(const Settings& settings, std::function<void(const Report&)> receiver);

  /// The binding of a pad; no lock but for a pad that is seen for the first time in a run.
  [[nodiscard]] const Binding& binding_of(GstPad* pad);

  // Hooks.
  void push(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer);
  void push_list(std::uint64_t now_ns, GstPad* pad, GstBufferList* list);
  void pull(std::uint64_t now_ns, GstPad* pad);
  void pulled(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer);
  void event(std::uint64_t now_ns, GstPad* pad, GstEvent* event);
  static void returned(std::uint64_t now_ns, GstPad* pad);
  void changing_state(GstElement* element, GstStateChange change);
  void changed_state(GstElement* element, GstStateChange change);

  [[nodiscard]] Recorder* running(GstElement* pipeline);

private:
  /// What `pad` is linked to; empty where that belongs to another session.
  Binding peer_of(GstPad* pad, const Session* session);
  const Binding& bind(GstPad* pad);
  Binding make_binding(GstPad* pad);
  Session& session_of(GstObject* toplevel);
  static Session* open_session(GstElement* element);
  void finish(Session& session);
  FrameTag pass(std::uint64_t now_ns, const Binding& from, const Binding& to, GstBuffer* buffer,
                bool timed);
  void note_segment(GstPad* pad, GstEvent* event);

  std::mutex mutex_; // bindings, sessions and settings; never held on a hot path
  Settings settings_;
  Outputs outputs_;
  std::function<void(const Report&)> receiver_;
  std::vector<Session*> open_;
  unsigned reports_ = 0;
};

} // namespace simaai::latency
