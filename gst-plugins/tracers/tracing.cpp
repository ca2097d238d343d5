// SPDX-License-Identifier: LGPL-2.1-or-later
// From GStreamer's hooks to the accounting. What runs for each buffer is at the top.
#include "tracing.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <utility>

#include "common/gst_ptr.h"
#include "environment.h"
#include "frame_meta.h"

namespace simaai::latency {

namespace {

/// A pad's bindings: the current one, and the one of the run before, which a late reader may hold.
struct PadRecord {
  std::atomic<const Binding*> current{nullptr};
  std::unique_ptr<Binding> owned;
  std::unique_ptr<Binding> previous;
};

/// An element of a session. Read and written under the mutex.
struct ElementRecord {
  Session* session = nullptr;
  Element* element = nullptr;
};

GQuark pad_quark() noexcept {
  static const GQuark quark = g_quark_from_static_string("simaai-latency-pad");
  return quark;
}
GQuark element_quark() noexcept {
  static const GQuark quark = g_quark_from_static_string("simaai-latency-element");
  return quark;
}
GQuark session_quark() noexcept {
  static const GQuark quark = g_quark_from_static_string("simaai-latency-session");
  return quark;
}

void release(std::unique_ptr<Binding>& binding) noexcept {
  if (binding && binding->session != nullptr)
    binding->session->unref();
  binding.reset();
}

void free_pad_record(gpointer data) noexcept {
  auto* record = static_cast<PadRecord*>(data);
  release(record->owned);
  release(record->previous);
  delete record;
}

void free_element_record(gpointer data) noexcept {
  auto* record = static_cast<ElementRecord*>(data);
  record->session->unref();
  delete record;
}

/// Calls of this thread, and the frame of the last buffer that carries no tag.
struct ThreadState {
  CallStack stack;
  const GstBuffer* buffer = nullptr;
  const Session* session = nullptr;
  FrameTag tag;
};

ThreadState& thread_state() noexcept {
  static std::atomic<std::uint32_t> threads{0};
  static thread_local ThreadState state;
  if (state.stack.thread == 0)
    state.stack.thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return state;
}

std::uint64_t timestamp_of(GstBuffer* buffer) noexcept {
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const GstClockTime stamp = GST_CLOCK_TIME_IS_VALID(pts) ? pts : GST_BUFFER_DTS(buffer);
  return GST_CLOCK_TIME_IS_VALID(stamp) ? stamp : kNoTimestamp;
}

struct Leaving {
  Recorder* recorder;
  Pad* source;
};

void note_other(void* data, std::uint64_t id) noexcept {
  const auto* leaving = static_cast<Leaving*>(data);
  leaving->recorder->also_left(leaving->source, id);
}

/// Of an element that has no source pad and cannot get one.
bool ends_streams(GstElement* element) noexcept {
  if (element->numsrcpads != 0)
    return false;
  for (const GList* item = gst_element_get_pad_template_list(element); item != nullptr;
       item = item->next) {
    if (GST_PAD_TEMPLATE_DIRECTION(item->data) == GST_PAD_SRC)
      return false;
  }
  return true;
}

const char* factory_name(GstElement* element) noexcept {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory != nullptr ? GST_OBJECT_NAME(factory) : G_OBJECT_TYPE_NAME(element);
}

/// Null for a pad that was not seen before, or not in this run.
const Binding* known_binding(GstPad* pad) noexcept {
  auto* record = static_cast<PadRecord*>(g_object_get_qdata(G_OBJECT(pad), pad_quark()));
  const Binding* binding =
      record != nullptr ? record->current.load(std::memory_order_acquire) : nullptr;
  const bool current =
      binding != nullptr && (binding->session == nullptr || !binding->session->closed());
  return current ? binding : nullptr;
}

} // namespace

FrameTag Tracing::pass(std::uint64_t now_ns, const Binding& from, const Binding& to,
                       GstBuffer* buffer, bool timed) {
  Session& session = *from.session;
  Recorder& recorder = session.recorder();
  ThreadState& thread = thread_state();
  Leaving leaving{&recorder, from.pad};
  Identity identity{read_tag(buffer, session, &note_other, &leaving), timestamp_of(buffer),
                    reinterpret_cast<std::uintptr_t>(buffer)};
  Pad* sink = to.session == from.session ? to.pad : nullptr;
  const bool carried = static_cast<bool>(identity.tag);
  // Behind a ghost pad, nothing but this thread knows which frame an untagged buffer belongs to.
  if (!carried && from.pad == nullptr && thread.buffer == buffer && thread.session == &session)
    identity.tag = thread.tag;
  FrameTag tag = identity.tag;
  if (from.pad != nullptr)
    tag = recorder.leave(thread.stack, now_ns, *from.pad, identity);
  bool tagged = carried;
  if (!carried && tag) {
    tagged = gst_buffer_is_writable(buffer) != FALSE;
    if (tagged)
      write_tag(buffer, session, tag);
    else
      std::tie(thread.buffer, thread.session, thread.tag) = std::tuple(buffer, &session, tag);
  }
  if (sink != nullptr) {
    timed = timed && sink->timed.load(std::memory_order_relaxed);
    const Identity entering{tagged ? tag : FrameTag{}, timed ? identity.timestamp : kNoTimestamp,
                            identity.pointer};
    recorder.enter(thread.stack, now_ns, *sink, tag, entering);
  }
  return tag;
}

/// A reference would be taken and released through two more trace points of GStreamer: where the
/// peer is known already, the lock that keeps it linked serves. Its session lives as long as that
/// of `from`, being the same.
Binding Tracing::peer_of(GstPad* pad, const Session* session) {
  Binding binding;
  bool known = true;
  GST_OBJECT_LOCK(pad);
  if (GstPad* peer = GST_PAD_PEER(pad)) {
    const Binding* found = known_binding(peer);
    known = found != nullptr;
    binding = known ? *found : Binding{};
  }
  GST_OBJECT_UNLOCK(pad);
  if (!known) {
    const gst::GstPtr<GstPad> peer(gst_pad_get_peer(pad));
    binding = peer ? binding_of(peer.get()) : Binding{};
  }
  return binding.session == session ? binding : Binding{};
}

void Tracing::push(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer) {
  const Binding& from = binding_of(pad);
  const Binding to = peer_of(pad, from.session);
  const FrameTag tag = from.session != nullptr ? pass(now_ns, from, to, buffer, true) : FrameTag{};
  Recorder::begin(thread_state().stack, now_ns, to.pad, tag, 1, pad);
}

void Tracing::push_list(std::uint64_t now_ns, GstPad* pad, GstBufferList* list) {
  const Binding& from = binding_of(pad);
  const Binding to = peer_of(pad, from.session);
  const guint length = gst_buffer_list_length(list);
  FrameTag tag;
  for (guint i = 0; i < length && from.session != nullptr; ++i)
    tag = pass(now_ns, from, to, gst_buffer_list_get(list, i), true);
  Recorder::begin(thread_state().stack, now_ns, to.pad, tag, length, pad);
}

void Tracing::pull(std::uint64_t now_ns, GstPad* pad) {
  const Binding from = peer_of(pad, binding_of(pad).session);
  Recorder::begin(thread_state().stack, now_ns, from.pad, FrameTag{}, 1, pad);
}

void Tracing::pulled(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer) {
  CallStack& stack = thread_state().stack;
  const Binding& to = binding_of(pad);
  const Binding from = buffer != nullptr ? peer_of(pad, to.session) : Binding{};
  if (from.session != nullptr) {
    const FrameTag tag = pass(now_ns, from, to, buffer, false);
    Call* call = stack.top();
    if (call != nullptr && call->key == pad) {
      call->id = tag.id;
      call->measured = tag.measured;
    }
  }
  Recorder::end(stack, now_ns, pad);
}

/// The first chunk of a file says that it is of time 0, and so does the first frame in it.
void Tracing::note_segment(GstPad* pad, GstEvent* event) {
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  Pad* sink = peer_of(pad, binding_of(pad).session).pad;
  if (sink != nullptr)
    sink->timed.store(segment->format == GST_FORMAT_TIME, std::memory_order_relaxed);
}

void Tracing::event(std::uint64_t now_ns, GstPad* pad, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT)
    note_segment(pad, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    const Binding& binding = binding_of(pad);
    if (binding.session != nullptr)
      binding.session->recorder().flushed();
  }
  Recorder::begin(thread_state().stack, now_ns, nullptr, FrameTag{}, 0, pad);
}

void Tracing::returned(std::uint64_t now_ns, GstPad* pad) {
  Recorder::end(thread_state().stack, now_ns, pad);
}

const Binding& Tracing::binding_of(GstPad* pad) {
  const Binding* known = known_binding(pad);
  return known != nullptr ? *known : bind(pad);
}

const Binding& Tracing::bind(GstPad* pad) {
  const std::lock_guard lock(mutex_);
  auto* record = static_cast<PadRecord*>(g_object_get_qdata(G_OBJECT(pad), pad_quark()));
  if (record != nullptr && (record->owned->session == nullptr || !record->owned->session->closed()))
    return *record->owned; // another thread was faster
  auto made = std::make_unique<Binding>(make_binding(pad));
  const bool fresh = record == nullptr;
  if (fresh)
    record = new PadRecord;
  release(record->previous);
  record->previous = std::move(record->owned);
  record->owned = std::move(made);
  record->current.store(record->owned.get(), std::memory_order_release);
  if (fresh)
    g_object_set_qdata_full(G_OBJECT(pad), pad_quark(), record, free_pad_record);
  return *record->owned;
}

Binding Tracing::make_binding(GstPad* pad) {
  Binding binding;
  // A ghost pad belongs to a bin, its inner half to the ghost pad.
  gst::GstPtr<GstObject> owner(gst_object_get_parent(GST_OBJECT_CAST(pad)));
  while (owner && !GST_IS_ELEMENT(owner.get()))
    owner.reset(gst_object_get_parent(owner.get()));
  if (!owner)
    return binding;
  gst::GstPtr<GstObject> toplevel(GST_OBJECT_CAST(gst_object_ref(owner.get())));
  while (GstObject* parent = gst_object_get_parent(toplevel.get()))
    toplevel.reset(parent);
  Session& session = session_of(toplevel.get());
  session.ref();
  binding.session = &session;
  if (GST_IS_BIN(owner.get()) || GST_IS_PROXY_PAD(pad))
    return binding;
  auto* element = GST_ELEMENT_CAST(owner.get());
  auto* record =
      static_cast<ElementRecord*>(g_object_get_qdata(G_OBJECT(element), element_quark()));
  if (record == nullptr || record->session != &session) {
    session.ref();
    record = new ElementRecord{&session, session.recorder().add_element(GST_OBJECT_NAME(element),
                                                                        factory_name(element),
                                                                        ends_streams(element))};
    g_object_set_qdata_full(G_OBJECT(element), element_quark(), record, free_element_record);
  }
  binding.pad =
      session.recorder().add_pad(*record->element, GST_PAD_NAME(pad),
                                 GST_PAD_IS_SRC(pad) ? Direction::Source : Direction::Sink);
  return binding;
}

Session& Tracing::session_of(GstObject* toplevel) {
  auto* session = static_cast<Session*>(g_object_get_qdata(G_OBJECT(toplevel), session_quark()));
  if (session != nullptr && !session->closed())
    return *session;
  session = new Session(settings_, GST_OBJECT_NAME(toplevel));
  session->ref();
  open_.push_back(session);
  g_object_set_qdata_full(G_OBJECT(toplevel), session_quark(), session,
                          [](gpointer data) { static_cast<Session*>(data)->unref(); });
  return *session;
}

Session* Tracing::open_session(GstElement* element) {
  auto* session = static_cast<Session*>(g_object_get_qdata(G_OBJECT(element), session_quark()));
  return session != nullptr && !session->closed() ? session : nullptr;
}

void Tracing::changing_state(GstElement* element, GstStateChange change) {
  Session* session = open_session(element);
  if (session == nullptr)
    return;
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    session->recorder().stopping(true);
  else if (change == GST_STATE_CHANGE_READY_TO_PAUSED)
    session->recorder().stopping(false);
  else if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    session->recorder().paused();
}

void Tracing::changed_state(GstElement* element, GstStateChange change) {
  Session* session = change == GST_STATE_CHANGE_READY_TO_NULL ? open_session(element) : nullptr;
  if (session != nullptr)
    finish(*session);
}

void Tracing::finish(Session& session) {
  std::function<void(const Report&)> receiver;
  Outputs outputs;
  unsigned number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(open_.begin(), open_.end(), &session);
    if (found == open_.end())
      return;
    open_.erase(found);
    receiver = receiver_;
    outputs = outputs_;
    number = ++reports_;
  }
  session.close();
  Report report = make_report(session.recorder(), session.name(), true);
  report.environment = describe_environment();
  if (receiver) {
    receiver(report);
  } else {
    const std::string error = write_outputs(outputs, report, number);
    if (!error.empty())
      g_printerr("simaailatency: %s\n", error.c_str());
  }
  session.unref();
}

Recorder* Tracing::running(GstElement* pipeline) {
  const std::lock_guard lock(mutex_);
  Session* session = open_session(pipeline);
  return session != nullptr ? &session->recorder() : nullptr;
}

void Tracing::set_parameters(const Settings& settings, const Outputs& outputs) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  outputs_ = outputs;
}

void Tracing::set_receiver(const Settings& settings, std::function<void(const Report&)> receiver) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  receiver_ = std::move(receiver);
}

Tracing::~Tracing() {
  while (!open_.empty())
    finish(*open_.back());
}

} // namespace simaai::latency
