// SPDX-License-Identifier: LGPL-2.1-or-later
// Matching by time. A set is for the latest start among the buffers at the heads of all pads; each pad gives the buffer that
// holds then, and buffers that have ended by then are dropped. So the slowest pad decides how many sets there are.
#include "mux_core.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/child_pads.h"
#include "common/errors.h"
#include "common/tensor_part.h"
#include "gstsimaaitensormuxpad.h"

namespace simaai::gst {
namespace {

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

guint number_of(GstAggregatorPad* pad) noexcept {
  return pad_number(GST_OBJECT_NAME(pad), "sink_").value_or(0);
}

GstClockTime scaled(GstClockTime duration, double by) noexcept {
  if (!GST_CLOCK_TIME_IS_VALID(duration) || by == 1.0)
    return duration;
  const double product = static_cast<double>(duration) * by;
  return product < static_cast<double>(G_MAXINT64) ? static_cast<GstClockTime>(product)
                                                   : GST_CLOCK_TIME_NONE;
}

/// Duration of a buffer, which the segment of its pad counts, as another segment counts it.
GstClockTime duration_in(const GstSegment& segment, GstBuffer* buffer,
                         const GstAggregatorPad* pad) noexcept {
  return scaled(GST_BUFFER_DURATION(buffer), std::abs(segment.rate) / std::abs(pad->segment.rate));
}

/// How long a buffer of this pad holds, in running time: as it says, as its caps say, or as long as the one before did.
GstClockTime hold_of(GstBuffer* buffer, const MuxInput& input, double speed) noexcept {
  if (GST_BUFFER_DURATION_IS_VALID(buffer))
    return scaled(GST_BUFFER_DURATION(buffer), 1.0 / speed);
  int numerator = 0;
  int denominator = 0;
  if (input.caps != nullptr &&
      gst_structure_get_fraction(gst_caps_get_structure(input.caps.get(), 0), field::kFramerate,
                                 &numerator, &denominator) &&
      numerator > 0)
    return scaled(gst_util_uint64_scale_int(GST_SECOND, denominator, numerator), 1.0 / speed);
  return input.interval; // of running times
}

} // namespace

/// From when to when a head holds. Rates other than 1 stretch that, and play backwards: a frame is then due at its timestamp
/// too and holds until the one before it is due. A gap that says how long it is begins at its end, and its timestamp is
/// the last that it covers.
void MuxCore::set_span(Head& head, const MuxInput& input) {
  const double rate = head.pad->segment.rate;
  const double speed = std::abs(rate);
  head.start = head.time;
  head.is_outside = !GST_CLOCK_TIME_IS_VALID(head.start);
  head.hold = hold_of(head.buffer.get(), input, speed);
  head.slack = scaled(1, 1.0 / speed) + 1;
  if (head.is_outside || !GST_CLOCK_TIME_IS_VALID(head.hold))
    return;
  if (rate < 0 && head.is_gap && GST_BUFFER_DURATION_IS_VALID(head.buffer.get())) {
    head.end = head.time + head.slack + 1;
    head.start = head.end - std::min(head.hold, head.end);
    return;
  }
  head.end = head.start + std::min(head.hold, GST_CLOCK_TIME_NONE - 1 - head.start);
}

/// Looks at the head of a pad without taking it.
MuxCore::Head MuxCore::head_of(GstPtr<GstAggregatorPad> pad, bool match_time) {
  Head head;
  head.pad = std::move(pad);
  head.buffer.reset(gst_aggregator_pad_peek_buffer(head.pad.get()));
  const MuxInput& input = input_of(head.pad.get());
  if (head.buffer != nullptr) {
    GstBuffer* const buffer = head.buffer.get();
    head.is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) &&
                  gst_buffer_get_size(buffer) < input.layout.total_bytes();
    const GstSegment& segment = head.pad->segment;
    if (GST_BUFFER_PTS_IS_VALID(buffer) && segment.format == GST_FORMAT_TIME) {
      head.time = gst_segment_to_running_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
      if (match_time)
        set_span(head, input);
    }
  }
  return head;
}

/// The heads of all pads, by the numbers of the pads.
MuxCore::Heads MuxCore::heads(bool match_time) const {
  std::array<GstPtr<GstAggregatorPad>, kMaxTensors> pads;
  std::size_t count = 0;
  {
    const ObjectLock lock(mux_);
    for (GList* item = GST_ELEMENT_CAST(mux_)->sinkpads; item != nullptr && count < pads.size();
         item = item->next)
      pads[count++].reset(GST_AGGREGATOR_PAD(gst_object_ref(item->data)));
  }
  std::sort(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(count),
            [](const auto& a, const auto& b) { return number_of(a.get()) < number_of(b.get()); });
  Heads found;
  for (std::size_t i = 0; i < count; ++i)
    found.all[found.count++] = head_of(std::move(pads[i]), match_time);
  return found;
}

GstClockTime MuxCore::next_time() const {
  GstClockTime first = GST_CLOCK_TIME_NONE;
  Heads now = heads(true);
  for (const Head& head : now)
    if (head.buffer != nullptr && GST_CLOCK_TIME_IS_VALID(head.start))
      first = std::min(first, head.start);
  return first;
}

/// Takes the head off its pad, which was only looked at.
void MuxCore::take(Head& head) {
  gst_aggregator_pad_drop_buffer(head.pad.get());
  if (!GST_CLOCK_TIME_IS_VALID(head.start))
    return;
  MuxInput& input = input_of(head.pad.get());
  if (head.is_gap) { // as long as many buffers, maybe
    input.last_start = GST_CLOCK_TIME_NONE;
    return;
  }
  const GstClockTime last = input.last_start.exchange(head.start);
  if (GST_CLOCK_TIME_IS_VALID(last) && head.start > last)
    input.interval = head.start - last;
}

/// Drops heads that ended before `at`. True where there were some.
bool MuxCore::drop_early(Heads& now, GstClockTime at) {
  bool dropped = false;
  for (Head& head : now) {
    const bool is_early = GST_CLOCK_TIME_IS_VALID(at) && GST_CLOCK_TIME_IS_VALID(head.start) &&
                          head.start < at &&
                          (!GST_CLOCK_TIME_IS_VALID(head.end) || head.end <= at + head.slack);
    if (!is_early && !head.is_outside)
      continue;
    take(head);
    dropped = true;
    if (!head.is_gap)
      add(dropped_, 1);
  }
  return dropped;
}

/// Whether every pad has a buffer, and caps for it; else what to do about that.
std::optional<GstFlowReturn> MuxCore::check_heads(Heads& now, bool timeout) {
  bool complete = now.count > 0;
  for (const Head& head : now) {
    if (head.buffer != nullptr)
      continue;
    if (gst_aggregator_pad_is_eos(head.pad.get()))
      return GST_FLOW_EOS; // there will be no whole set any more
    complete = false;
  }
  if (!complete)
    return timeout ? give_up(now) : GST_AGGREGATOR_FLOW_NEED_DATA;
  for (Head& head : now) {
    if (input_of(head.pad.get()).caps != nullptr)
      continue;
    if (GST_BUFFER_FLAG_IS_SET(head.buffer.get(), GST_BUFFER_FLAG_GAP)) {
      take(head);
      return GST_FLOW_OK;
    }
    fail(std::string("a buffer of pad ") + GST_OBJECT_NAME(head.pad.get()) +
             " came before its caps",
         nullptr);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  return std::nullopt;
}

GstFlowReturn MuxCore::aggregate(bool timeout) {
  const bool by_time = match_time();
  while (true) {
    Heads now = heads(by_time);
    if (const auto flow = check_heads(now, timeout))
      return *flow;
    GstClockTime at = GST_CLOCK_TIME_NONE;
    bool has_gap = false;
    for (const Head& head : now) {
      has_gap = has_gap || head.is_gap;
      if (GST_CLOCK_TIME_IS_VALID(head.start))
        at = GST_CLOCK_TIME_IS_VALID(at) ? std::max(at, head.start) : head.start;
    }
    if (!drop_early(now, at))
      return has_gap ? push_gap(now, at) : push_set(now, at);
  }
}

/// Live: the set of the oldest head is late. It will not come, and what waits for it goes.
GstFlowReturn MuxCore::give_up(Heads& now) {
  GstClockTime first = GST_CLOCK_TIME_NONE;
  GstClockTime hold = GST_CLOCK_TIME_NONE;
  for (const Head& head : now) {
    if (head.buffer == nullptr || !GST_CLOCK_TIME_IS_VALID(head.start) || head.start >= first)
      continue;
    first = head.start;
    hold = head.hold;
  }
  if (!GST_CLOCK_TIME_IS_VALID(first))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  for (Head& head : now) {
    if (head.buffer == nullptr || head.start != first)
      continue;
    take(head);
    if (!head.is_gap)
      add(dropped_, 1);
  }
  send_gap(first, scaled(hold, std::abs(GST_AGGREGATOR_PAD(mux_->srcpad)->segment.rate)));
  return GST_FLOW_OK;
}

/// Whose time the sets have where times are not matched: the first pad's, unless that has none.
const MuxCore::Head* MuxCore::first_timed(Heads& now) {
  const auto* found = std::find_if(
      now.begin(), now.end(), [](const Head& head) { return GST_CLOCK_TIME_IS_VALID(head.time); });
  return found != now.end() ? found : nullptr;
}

/// A tensor is missing on purpose: so is the set. A gap goes when nothing it covers can follow: only timestamps of buffers
/// show what it covers, and opposite buffers that have none it costs one set.
GstFlowReturn MuxCore::push_gap(Heads& now, GstClockTime at) {
  GstClockTime end = GST_CLOCK_TIME_NONE;
  const Head* frame = nullptr; // the last one to be due
  for (const Head& head : now) {
    end = std::min(end, head.end);
    if (!head.is_gap && GST_CLOCK_TIME_IS_VALID(head.start) &&
        (frame == nullptr || head.start > frame->start))
      frame = &head;
  }
  const Head* first_gap = nullptr;
  for (Head& head : now) {
    const bool goes = !head.is_gap || (frame == nullptr && head.end == end) ||
                      !GST_CLOCK_TIME_IS_VALID(head.end) || !GST_CLOCK_TIME_IS_VALID(at);
    if (!goes)
      continue;
    if (first_gap == nullptr && head.is_gap && head.end == end)
      first_gap = &head;
    take(head);
    if (!head.is_gap)
      add(dropped_, 1);
  }
  const GstSegment& segment = GST_AGGREGATOR_PAD(mux_->srcpad)->segment;
  if (const Head* first = first_timed(now); !GST_CLOCK_TIME_IS_VALID(at) && first != nullptr) {
    send_gap(first->time, duration_in(segment, first->buffer.get(), first->pad.get()));
    return GST_FLOW_OK;
  }
  const double speed = std::abs(segment.rate);
  if (const Head* lost = frame != nullptr ? frame : first_gap;
      segment.rate < 0 && lost != nullptr) {
    send_gap(lost->time, scaled(lost->hold, speed));
    return GST_FLOW_OK;
  }
  const bool known = GST_CLOCK_TIME_IS_VALID(at) && GST_CLOCK_TIME_IS_VALID(end);
  send_gap(at, known ? scaled(end - at, speed) : GST_CLOCK_TIME_NONE);
  return GST_FLOW_OK;
}

/// `at` is running time, `duration` is of the segment of the sets.
void MuxCore::send_gap(GstClockTime at, GstClockTime duration) {
  add(gaps_, 1);
  // The base class sends what must come before with the first set.
  if (!began_ || !GST_CLOCK_TIME_IS_VALID(at))
    return;
  const GstSegment& segment = GST_AGGREGATOR_PAD(mux_->srcpad)->segment;
  const GstClockTime position =
      gst_segment_position_from_running_time(&segment, GST_FORMAT_TIME, at);
  if (GST_CLOCK_TIME_IS_VALID(position))
    gst_pad_push_event(mux_->srcpad, gst_event_new_gap(position, duration));
}

/// One memory with exactly the bytes of a tensor: shared, or copied where they are spread over several.
GstPtr<GstMemory> MuxCore::tensor_memory(const Head& head, std::size_t tensor) {
  const MuxInput& input = input_of(head.pad.get());
  auto memory = share_tensor(head.buffer.get(), input.layout, tensor);
  if (memory != nullptr)
    return memory;
  const std::uint64_t bytes = input.layout.needs(tensor).bytes;
  constexpr const char* kWhy = "its bytes are spread over several memories, or cannot be shared";
  if (require_zero_copy()) {
    fail(std::string("the buffer of pad ") + GST_OBJECT_NAME(head.pad.get()) + " must be copied (" +
             kWhy + "), which require-zero-copy forbids",
         input.caps.get(), true, bytes);
    return nullptr;
  }
  stats_.note_copy(GST_ELEMENT_CAST(mux_), GST_OBJECT_NAME(head.pad.get()), kWhy, bytes);
  stats_.count_allocation();
  memory = copy_tensor(head.buffer.get(), input.layout, tensor);
  if (memory == nullptr)
    fail("the buffer cannot be copied", input.caps.get(), true, bytes);
  return memory;
}

bool MuxCore::append_tensors(GstBuffer* set, Heads& now, std::uint64_t& bytes) {
  std::array<GstPtr<GstMemory>, kMaxTensors> memories;
  std::size_t count = 0;
  for (const Head& head : now) {
    const MuxInput& input = input_of(head.pad.get());
    const std::uint64_t found = gst_buffer_get_size(head.buffer.get());
    if (found < input.layout.total_bytes()) {
      fail(std::string("the buffer of pad ") + GST_OBJECT_NAME(head.pad.get()) +
               " is shorter than its caps say",
           input.caps.get(), true, input.layout.total_bytes(), found);
      return false;
    }
    for (std::size_t tensor = 0; tensor < input.layout.count(); ++tensor) {
      memories[count] = tensor_memory(head, tensor);
      if (memories[count] == nullptr)
        return false;
      bytes += memories[count++]->size;
    }
  }
  for (const std::size_t from : order_)
    gst_buffer_append_memory(set, memories[from].release());
  return true;
}

/// Start and duration are those of the slowest pad that starts then. The number of the frame is the first pad's.
void MuxCore::stamp(GstBuffer* set, Heads& now, GstClockTime at, GstSegment& segment) {
  GstClockTime duration = GST_CLOCK_TIME_NONE;
  for (const Head& head : now) {
    const GstClockTime own = duration_in(segment, head.buffer.get(), head.pad.get());
    if (head.start == at && GST_CLOCK_TIME_IS_VALID(own) &&
        (!GST_CLOCK_TIME_IS_VALID(duration) || own > duration))
      duration = own;
  }
  if (const Head* first = first_timed(now); !GST_CLOCK_TIME_IS_VALID(at) && first != nullptr) {
    at = first->time;
    duration = duration_in(segment, first->buffer.get(), first->pad.get());
  }
  GST_BUFFER_DURATION(set) = duration;
  if (GST_CLOCK_TIME_IS_VALID(at)) {
    const GstClockTime pts = gst_segment_position_from_running_time(&segment, GST_FORMAT_TIME, at);
    GST_BUFFER_PTS(set) = pts;
    segment.position = pts;
  }
  GST_BUFFER_OFFSET(set) = GST_BUFFER_OFFSET(now.begin()->buffer.get());
  GST_BUFFER_OFFSET_END(set) = GST_BUFFER_OFFSET_END(now.begin()->buffer.get());
}

GstFlowReturn MuxCore::push_set(Heads& now, GstClockTime at) {
  const GstClockTime begun = gst_util_get_timestamp();
  std::size_t tensors = 0;
  for (const Head& head : now)
    tensors += input_of(head.pad.get()).layout.count();
  if (tensors != order_.size()) { // pads came or went: the base class asks for caps first
    gst_pad_mark_reconfigure(mux_->srcpad);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  GstPtr<GstBuffer> set(gst_buffer_new());
  std::uint64_t bytes = 0;
  if (!append_tensors(set.get(), now, bytes))
    return GST_FLOW_ERROR;
  GstBuffer* const first = now.begin()->buffer.get();
  gst_buffer_copy_into(set.get(), first, GST_BUFFER_COPY_FLAGS, 0, static_cast<gsize>(-1));
  copy_metas(first, set.get());
  for (Head& head : now) {
    if (GST_BUFFER_FLAG_IS_SET(head.buffer.get(), GST_BUFFER_FLAG_DISCONT))
      GST_BUFFER_FLAG_SET(set.get(), GST_BUFFER_FLAG_DISCONT);
    keep_parent(set.get(), head.buffer.get());
  }
  stamp(set.get(), now, at, GST_AGGREGATOR_PAD(mux_->srcpad)->segment);
  for (Head& head : now) {
    take(head);
    head.buffer.reset();
  }
  stats_.note_memory(set.get());
  stats_.count_frame(bytes, bytes, gst_util_get_timestamp() - begun);
  began_ = true;
  return gst_aggregator_finish_buffer(mux_, set.release());
}

} // namespace simaai::gst
