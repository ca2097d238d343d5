// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds pads, elements and sessions of the objects that the hooks name.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include <gst/gst.h>

#include "common/job_observer.h"
#include "output.h"
#include "recorder.h"
#include "session.h"

namespace simaai::latency {

/// What a GstPad is to the accounting; `pad` is null for ghost pads and their inner
/// halves, which only hand on; both are null for pads without an element.
struct Binding {
  Session* session = nullptr; // one reference
  Pad* pad = nullptr;
};

/// Where the buffers of a pad come from and go to, ghost pads skipped: pads of one session.
struct Link {
  GstPad* pad = nullptr; ///< source pad of a push, sink pad of a pull
  std::uint64_t epoch = 0;
  Session* session = nullptr; ///< null: not measured
  Pad* from = nullptr;
  Pad* to = nullptr;
};

struct ThreadState;

class Tracing {
public:
  Tracing();
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  void set_parameters(const Settings& settings, const Outputs& outputs);
  void set_receiver(const Settings& settings, std::function<void(const Report&)> receiver);

  // Hooks.
  void push(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer);
  void push_list(std::uint64_t now_ns, GstPad* pad, GstBufferList* list);
  void pull(std::uint64_t now_ns, GstPad* pad);
  void pulled(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer);
  void event(std::uint64_t now_ns, GstPad* pad, GstEvent* event);
  static void returned(std::uint64_t now_ns, GstPad* pad, Recorder::Outcome outcome);
  /// Links that threads remember are no longer true.
  static void relinked() noexcept;
  void changing_state(std::uint64_t now_ns, GstElement* element, GstStateChange change);
  void changed_state(GstElement* element, GstStateChange change);

  [[nodiscard]] Recorder* running(GstElement* pipeline);

private:
  /// From the memory of this thread; otherwise it is looked up.
  const Link& link_of(ThreadState& thread, GstPad* pad);
  void look_up(Link& link, GstPad* pad);
  [[nodiscard]] Binding binding_of(GstPad* pad);
  /// What `pad` is linked to; empty where that belongs to another session.
  Binding peer_of(GstPad* pad, const Session* session);
  Binding make_binding(GstPad* pad);
  Session& session_of(GstObject* toplevel);
  static Session* open_session(GstElement* element);
  void finish(Session& session);
  static FrameTag pass(ThreadState& thread, std::uint64_t now_ns, const Link& link,
                       GstBuffer* buffer, bool timed);
  void note_segment(GstPad* pad, GstEvent* event);
  void note_clock(std::uint64_t now_ns) noexcept;
  void observe(GstBuffer* output, const gst::JobNotice& notice) noexcept;

  gst::JobObserver observer_;
  /// CLOCK_MONOTONIC less the time that hooks are told, which begins with GStreamer.
  Word clock_offset_ns_{~std::uint64_t{0}};
  std::mutex mutex_; // bindings, sessions and settings; taken where a link is looked up
  Settings settings_;
  Outputs outputs_;
  std::function<void(const Report&)> receiver_;
  std::vector<Session*> open_;
  unsigned reports_ = 0;
};

} // namespace simaai::latency
