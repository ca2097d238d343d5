// SPDX-License-Identifier: LGPL-2.1-or-later
// The element, and the behaviours that tests and the accuracy benchmark share.
#include "behaviour.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

struct LatencyBehaviourState {
  std::unique_ptr<simaai::latency::test::Behaviour> behaviour;
  std::mutex mutex;
  unsigned inputs = 0;
  unsigned ended = 0;
};

struct LatencyBehaviour {
  GstElement parent;
  std::atomic<LatencyBehaviourState*> state; // GLib alone orders the threads that read it
};
struct LatencyBehaviourClass {
  GstElementClass parent;
};
G_DEFINE_TYPE(LatencyBehaviour, latency_behaviour, GST_TYPE_ELEMENT)

namespace {

LatencyBehaviourState& state_of(GstObject* element) {
  return *reinterpret_cast<LatencyBehaviour*>(element)->state.load();
}

GstFlowReturn on_chain(GstPad* pad, GstObject* parent, GstBuffer* buffer) {
  LatencyBehaviourState& state = state_of(parent);
  const std::lock_guard lock(state.mutex);
  const auto input = GPOINTER_TO_UINT(gst_pad_get_element_private(pad));
  return state.behaviour->take(input, simaai::latency::test::BufferPtr(buffer));
}

gboolean on_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  LatencyBehaviourState& state = state_of(parent);
  const bool first = gst_pad_get_element_private(pad) == nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    const std::lock_guard lock(state.mutex);
    gst_event_unref(event);
    if (++state.ended < state.inputs)
      return TRUE;
    state.behaviour->finish();
    return gst_pad_push_event(state.behaviour->source, gst_event_new_eos());
  }
  // One stream goes out: it is described by the first input.
  if (first)
    return gst_pad_event_default(pad, parent, event);
  gst_event_unref(event);
  return TRUE;
}

void add_sink(GstElement* element, const char* name) {
  LatencyBehaviourState& state = state_of(GST_OBJECT_CAST(element));
  GstPad* pad = gst_pad_new(name, GST_PAD_SINK);
  gst_pad_set_element_private(pad, GUINT_TO_POINTER(state.inputs));
  gst_pad_set_chain_function(pad, on_chain);
  gst_pad_set_event_function(pad, on_event);
  gst_element_add_pad(element, pad);
  ++state.inputs;
}

} // namespace

static void latency_behaviour_init(LatencyBehaviour* self) {
  self->state.store(new LatencyBehaviourState);
  add_sink(GST_ELEMENT_CAST(self), "sink");
  gst_element_add_pad(GST_ELEMENT_CAST(self), gst_pad_new("src", GST_PAD_SRC));
}

static void latency_behaviour_finalize(GObject* object) {
  delete reinterpret_cast<LatencyBehaviour*>(object)->state.load();
  G_OBJECT_CLASS(latency_behaviour_parent_class)->finalize(object);
}

static void latency_behaviour_class_init(LatencyBehaviourClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = latency_behaviour_finalize;
  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Behaviour", "Generic", "For tests",
                                        "SimaKernels developers");
  for (const auto direction : {GST_PAD_SINK, GST_PAD_SRC}) {
    GstCaps* caps = gst_caps_new_any();
    gst_element_class_add_pad_template(
        element_class, gst_pad_template_new(direction == GST_PAD_SINK ? "sink" : "src", direction,
                                            GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  }
}

namespace simaai::latency::test {

namespace {

class Each final : public Behaviour {
public:
  explicit Each(std::function<GstFlowReturn(GstPad*, BufferPtr)> function)
      : function_(std::move(function)) {}
  GstFlowReturn take(unsigned /*input*/, BufferPtr buffer) override {
    return function_(source, std::move(buffer));
  }

private:
  std::function<GstFlowReturn(GstPad*, BufferPtr)> function_;
};

class Holds final : public Behaviour {
public:
  explicit Holds(std::size_t count) : count_(count) {}
  GstFlowReturn take(unsigned /*input*/, BufferPtr buffer) override {
    held_.push_back(std::move(buffer));
    if (held_.size() <= count_)
      return GST_FLOW_OK;
    BufferPtr oldest = std::move(held_.front());
    held_.pop_front();
    return push(std::move(oldest));
  }
  void finish() override {
    for (BufferPtr& buffer : held_)
      push(std::move(buffer));
    held_.clear();
  }

private:
  std::size_t count_;
  std::deque<BufferPtr> held_;
};

class SwapsPairs final : public Behaviour {
public:
  GstFlowReturn take(unsigned /*input*/, BufferPtr buffer) override {
    if (!first_) {
      first_ = std::move(buffer);
      return GST_FLOW_OK;
    }
    push(std::move(buffer));
    return push(std::move(first_));
  }

private:
  BufferPtr first_;
};

class MakesNew final : public Behaviour {
public:
  explicit MakesNew(bool with_timestamp) : with_timestamp_(with_timestamp) {}
  GstFlowReturn take(unsigned /*input*/, BufferPtr buffer) override {
    const GstClockTime stamp = with_timestamp_ ? GST_BUFFER_PTS(buffer.get()) : GST_CLOCK_TIME_NONE;
    const gsize bytes = gst_buffer_get_size(buffer.get());
    buffer.reset();
    BufferPtr made(gst_buffer_new_allocate(nullptr, bytes, nullptr));
    GST_BUFFER_PTS(made.get()) = stamp;
    return push(std::move(made));
  }

private:
  bool with_timestamp_;
};

class CombinesTwo final : public Behaviour {
public:
  GstFlowReturn take(unsigned input, BufferPtr buffer) override {
    (input == 0 ? main_ : other_).push_back(GST_BUFFER_PTS(buffer.get()));
    return combine(false);
  }
  void finish() override { combine(true); }

private:
  GstFlowReturn combine(bool ended) {
    while (!main_.empty() && (ended || (!other_.empty() && other_.back() >= main_.front()))) {
      BufferPtr made(gst_buffer_new_allocate(nullptr, 16, nullptr));
      GST_BUFFER_PTS(made.get()) = main_.front();
      main_.pop_front();
      push(std::move(made));
    }
    return GST_FLOW_OK;
  }

  std::deque<GstClockTime> main_;
  std::deque<GstClockTime> other_;
};

} // namespace

void register_behaviour_element() {
  static const gboolean kDone = gst_element_register(nullptr, "latencybehaviour", GST_RANK_NONE,
                                                     latency_behaviour_get_type());
  g_assert(kDone);
}

void set_behaviour(GstElement* element, std::unique_ptr<Behaviour> behaviour, unsigned inputs) {
  LatencyBehaviourState& state = state_of(GST_OBJECT_CAST(element));
  const std::lock_guard lock(state.mutex);
  // The pad lives as long as its element, which owns the behaviour.
  const gst::GstPtr<GstPad> source(gst_element_get_static_pad(element, "src"));
  behaviour->source = source.get();
  state.behaviour = std::move(behaviour);
  while (state.inputs < inputs)
    add_sink(element, ("sink_" + std::to_string(state.inputs)).c_str());
}

std::unique_ptr<Behaviour> each(std::function<GstFlowReturn(GstPad*, BufferPtr)> take) {
  return std::make_unique<Each>(std::move(take));
}
std::unique_ptr<Behaviour> holds(std::size_t count) { return std::make_unique<Holds>(count); }
std::unique_ptr<Behaviour> swaps_pairs() { return std::make_unique<SwapsPairs>(); }
std::unique_ptr<Behaviour> makes_new(bool with_timestamp) {
  return std::make_unique<MakesNew>(with_timestamp);
}
std::unique_ptr<Behaviour> combines_two() { return std::make_unique<CombinesTwo>(); }

} // namespace simaai::latency::test
