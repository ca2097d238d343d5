// SPDX-License-Identifier: LGPL-2.1-or-later
// From GStreamer's hooks to the accounting. What runs for each buffer is at the top.
#include "tracing.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <tuple>
#include <utility>

#include "common/gst_ptr.h"
#include "environment.h"
#include "frame_meta.h"
#include "hand_over.h"
#include "names.h"

namespace simaai::latency {

/// Calls of this thread, the frame of the last buffer that carries no tag, and links of the pads that it used.
struct ThreadState {
  static constexpr std::size_t kLinks = 64; // a power of two
  CallStack stack;
  const GstBuffer* buffer = nullptr;
  const Session* session = nullptr;
  FrameTag tag;
  std::array<Link, kLinks> links;

  [[nodiscard]] Link& place_of(const GstPad* pad) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(pad);
    return links[(address >> 4 ^ address >> 10) % kLinks];
  }
};

namespace {

/// What a pad is now; a thread that was late may still use the session of the run before. Under the mutex, but for
/// the end of the pad.
struct PadRecord {
  Binding now;
  Session* previous = nullptr;
};

/// An element of a session. Under the mutex.
struct ElementRecord {
  Session* session = nullptr;
  Element* element = nullptr;
};

/// Another copy of this code in the process, in a plug-in or in a program, keeps its objects apart.
GQuark own_quark(const char* name) {
  static const char mark = 0;
  const gst::GTextPtr text(g_strdup_printf("%s-%p", name, static_cast<const void*>(&mark)));
  return g_quark_from_string(text.get());
}
GQuark pad_quark() noexcept {
  static const GQuark quark = own_quark("simaai-latency-pad");
  return quark;
}
GQuark element_quark() noexcept {
  static const GQuark quark = own_quark("simaai-latency-element");
  return quark;
}
GQuark session_quark() noexcept {
  static const GQuark quark = own_quark("simaai-latency-session");
  return quark;
}

void release(Session* session) noexcept {
  if (session != nullptr)
    session->unref();
}

/// Counts what makes remembered links untrue: pads that are linked, unlinked or freed, runs that end.
std::atomic<std::uint64_t> link_epoch{1};

void free_pad_record(gpointer data) noexcept {
  auto* record = static_cast<PadRecord*>(data);
  take_over(record);
  link_epoch.fetch_add(1, std::memory_order_release); // another pad may get the address
  release(record->now.session);
  release(record->previous);
  delete record;
}

void free_element_record(gpointer data) noexcept {
  auto* record = static_cast<ElementRecord*>(data);
  take_over(record);
  record->session->unref();
  delete record;
}

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

std::uint64_t duration_of(GstBuffer* buffer) noexcept {
  const GstClockTime duration = GST_BUFFER_DURATION(buffer);
  return GST_CLOCK_TIME_IS_VALID(duration) ? duration : kNoTimestamp;
}

std::uint64_t content_of(GstBuffer* buffer) noexcept {
  return gst_buffer_n_memory(buffer) != 0
             ? reinterpret_cast<std::uintptr_t>(gst_buffer_peek_memory(buffer, 0))
             : 0;
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

/// Its class has the words, such as "Codec/Demuxer".
bool is_of_class(GstElement* element, const char* words) noexcept {
  const gchar* type = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
  return type != nullptr && std::strstr(type, words) != nullptr;
}

/// By the name of the class, as its library is not needed otherwise.
bool is_of_type(GstElement* element, const char* name) noexcept {
  const GType type = g_type_from_name(name);
  return type != 0 && g_type_is_a(G_OBJECT_TYPE(element), type) != FALSE;
}

const char* factory_name(GstElement* element) noexcept {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory != nullptr ? GST_OBJECT_NAME(factory) : G_OBJECT_TYPE_NAME(element);
}

} // namespace

FrameTag Tracing::pass(ThreadState& thread, std::uint64_t now_ns, const Link& link,
                       GstBuffer* buffer, bool timed) {
  Session& session = *link.session;
  Recorder& recorder = session.recorder();
  Leaving leaving{&recorder, link.from};
  Identity identity{read_tag(buffer, session, &note_other, &leaving), timestamp_of(buffer),
                    reinterpret_cast<std::uintptr_t>(buffer), content_of(buffer),
                    duration_of(buffer)};
  const bool carried = static_cast<bool>(identity.tag);
  // Behind a ghost pad, nothing but this thread knows which frame an untagged buffer belongs to.
  if (!carried && link.from == nullptr && thread.buffer == buffer && thread.session == &session)
    identity.tag = thread.tag;
  FrameTag tag = identity.tag;
  if (link.from != nullptr)
    tag = recorder.leave(thread.stack, now_ns, *link.from, identity);
  bool tagged = carried;
  // An aggregator makes a frame of several, and may pass on the metas of one of them: both stay.
  if (tag && (!carried || tag.id != identity.tag.id)) {
    const bool writable = gst_buffer_is_writable(buffer) != FALSE;
    tagged = writable || carried;
    if (writable)
      write_tag(buffer, session, tag);
    else if (carried)
      tag = identity.tag; // what it is recognised by further down
    else
      std::tie(thread.buffer, thread.session, thread.tag) = std::tuple(buffer, &session, tag);
  }
  if (link.to != nullptr) {
    timed = timed && link.to->timed.load(std::memory_order_relaxed);
    const Identity entering{tagged ? tag : FrameTag{}, timed ? identity.timestamp : kNoTimestamp,
                            identity.pointer, identity.content, identity.duration};
    recorder.enter(thread.stack, now_ns, *link.to, tag, entering);
  }
  return tag;
}

const Link& Tracing::link_of(ThreadState& thread, GstPad* pad) {
  Link& link = thread.place_of(pad);
  if (link.pad != pad || link.epoch != link_epoch.load(std::memory_order_acquire))
    look_up(link, pad);
  return link;
}

/// What changes meanwhile comes with a later epoch. The session lives as long as the pad's binding, the pads with it.
void Tracing::look_up(Link& link, GstPad* pad) {
  link.epoch = link_epoch.load(std::memory_order_acquire);
  link.pad = pad;
  const Binding own = binding_of(pad);
  const Binding peer = peer_of(pad, own.session);
  const bool is_source = GST_PAD_IS_SRC(pad);
  link.session = is_source || peer.session != nullptr ? own.session : nullptr;
  link.from = is_source ? own.pad : peer.pad;
  link.to = is_source ? peer.pad : own.pad;
}

void Tracing::relinked() noexcept { link_epoch.fetch_add(1, std::memory_order_release); }

Binding Tracing::peer_of(GstPad* pad, const Session* session) {
  const gst::GstPtr<GstPad> peer(gst_pad_get_peer(pad));
  const Binding binding = peer ? binding_of(peer.get()) : Binding{};
  return binding.session == session ? binding : Binding{};
}

void Tracing::push(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer) {
  ThreadState& thread = thread_state();
  const Link& link = link_of(thread, pad);
  const FrameTag tag =
      link.session != nullptr ? pass(thread, now_ns, link, buffer, true) : FrameTag{};
  Recorder::begin(thread.stack, now_ns, link.to, tag, 1, pad);
}

void Tracing::push_list(std::uint64_t now_ns, GstPad* pad, GstBufferList* list) {
  ThreadState& thread = thread_state();
  const Link& link = link_of(thread, pad);
  const guint length = gst_buffer_list_length(list);
  FrameTag tag;
  for (guint i = 0; i < length && link.session != nullptr; ++i)
    tag = pass(thread, now_ns, link, gst_buffer_list_get(list, i), true);
  Recorder::begin(thread.stack, now_ns, link.to, tag, length, pad);
}

void Tracing::pull(std::uint64_t now_ns, GstPad* pad) {
  ThreadState& thread = thread_state();
  Recorder::begin(thread.stack, now_ns, link_of(thread, pad).from, FrameTag{}, 1, pad);
}

void Tracing::pulled(std::uint64_t now_ns, GstPad* pad, GstBuffer* buffer) {
  ThreadState& thread = thread_state();
  const Link& link = link_of(thread, pad);
  if (buffer != nullptr && link.session != nullptr) {
    // No segment comes this way: who pulls gets bytes.
    if (link.to != nullptr && link.to->timed.load(std::memory_order_relaxed))
      link.to->timed.store(false, std::memory_order_relaxed);
    const FrameTag tag = pass(thread, now_ns, link, buffer, false);
    Call* call = thread.stack.top();
    if (call != nullptr && call->key == pad) {
      call->id = tag.id;
      call->measured = tag.measured;
    }
  }
  Recorder::end(thread.stack, now_ns, pad);
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
  note_clock(now_ns);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT)
    note_segment(pad, event);
  // A queue throws its frames away at the one or the other.
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START ||
      GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    const Binding binding = binding_of(pad);
    if (binding.session != nullptr)
      binding.session->recorder().flushed();
  }
  Recorder::begin(thread_state().stack, now_ns, nullptr, FrameTag{}, 0, pad);
}

void Tracing::returned(std::uint64_t now_ns, GstPad* pad, Recorder::Outcome outcome) {
  Recorder::end(thread_state().stack, now_ns, pad, outcome);
}

/// The clock is read after the hook read it: each reading bounds the difference from above, and of many
/// one was not interrupted.
void Tracing::note_clock(std::uint64_t now_ns) noexcept {
  const std::uint64_t offset = gst_util_get_timestamp() - now_ns;
  std::uint64_t least = get(clock_offset_ns_);
  while (offset < least &&
         !clock_offset_ns_.compare_exchange_weak(least, offset, std::memory_order_relaxed)) {
  }
}

void Tracing::observe(GstBuffer* output, const gst::JobNotice& notice) noexcept {
  const runtime::JobTimes& times = notice.times;
  const std::uint64_t offset = get(clock_offset_ns_);
  const auto pointer = reinterpret_cast<std::uintptr_t>(output);
  PendingJobs& jobs = thread_state().stack.jobs;
  if (times.started_ns == 0 || times.submitted_ns < offset || times.retired_ns < times.submitted_ns)
    return jobs.add_unknown(pointer);
  Job job;
  job.submitted_ns = times.submitted_ns - offset;
  job.retired_ns = times.retired_ns - offset;
  // A device whose clock is not ours is kept within what this process has seen.
  const auto seen = [&](std::uint64_t ns, std::uint64_t least) {
    return std::clamp(ns - std::min(ns, offset), least, job.retired_ns);
  };
  job.started_ns = seen(times.started_ns, job.submitted_ns);
  job.done_ns = seen(times.done_ns, job.started_ns);
  job.held_ns = notice.held_ns;
  jobs.add(pointer, notice.device, job);
}

Binding Tracing::binding_of(GstPad* pad) {
  const std::lock_guard lock(mutex_);
  auto* record = static_cast<PadRecord*>(g_object_get_qdata(G_OBJECT(pad), pad_quark()));
  if (record != nullptr && (record->now.session == nullptr || !record->now.session->closed()))
    return record->now;
  const bool fresh = record == nullptr;
  if (fresh)
    record = new PadRecord;
  release(record->previous);
  record->previous = record->now.session;
  record->now = make_binding(pad);
  const Binding binding = record->now;
  hand_over(record);
  if (fresh)
    g_object_set_qdata_full(G_OBJECT(pad), pad_quark(), record, free_pad_record);
  return binding;
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
    Element* added = session.recorder().add_element(reported_name(GST_OBJECT_CAST(element)),
                                                    factory_name(element), ends_streams(element),
                                                    path_of(element));
    added->demuxes = is_of_class(element, "Codec/Demuxer");
    added->parses = is_of_class(element, "Parser");
    added->aggregates = is_of_type(element, "GstAggregator");
    added->picks = is_of_type(element, "GstVideoAggregator");
    added->repacks =
        added->demuxes || is_of_class(element, "Codec/Muxer") || is_of_class(element, "ayloader");
    record = new ElementRecord{&session, added};
    hand_over(record);
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
  session = new Session(settings_, reported_name(toplevel));
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

void Tracing::changing_state(std::uint64_t now_ns, GstElement* element, GstStateChange change) {
  note_clock(now_ns);
  const std::lock_guard lock(mutex_);
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
  if (change != GST_STATE_CHANGE_READY_TO_NULL)
    return;
  Session* session = nullptr;
  {
    const std::lock_guard lock(mutex_);
    session = open_session(element);
  }
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
  relinked();
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

Tracing::Tracing() {
  observer_.data = this;
  observer_.observe = [](void* data, GstElement* /*element*/, GstBuffer* output,
                         const gst::JobNotice* notice) noexcept {
    static_cast<Tracing*>(data)->observe(output, *notice);
  };
  gst::set_job_observer(&observer_);
}

Tracing::~Tracing() {
  if (gst::job_observer() == &observer_)
    gst::set_job_observer(nullptr);
  while (!open_.empty())
    finish(*open_.back());
}

} // namespace simaai::latency
