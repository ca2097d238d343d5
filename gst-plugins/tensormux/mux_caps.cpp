// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the set, settings and statistics of simaaitensormux.
#include <algorithm>
#include <string>
#include <utility>

#include "common/errors.h"
#include "common/gstsimaaitensorpool.h"
#include "common/negotiation.h"
#include "common/set_negotiation.h"
#include "gstsimaaitensormuxpad.h"
#include "mux_core.h"

namespace simaai::gst {
namespace {

/// The structures of a pad's tensors, without what belongs to the set. Transfer full.
std::vector<GstStructure*> structures_of(const MuxInput& input, const std::string& tensor_id) {
  const GstStructure* top = gst_caps_get_structure(input.caps.get(), 0);
  std::vector<GstStructure*> found;
  if (!input.set.is_set) {
    found.push_back(gst_structure_copy(top));
    if (!tensor_id.empty())
      gst_structure_set(found.back(), field::kTensorId, G_TYPE_STRING, tensor_id.c_str(), nullptr);
  } else {
    const GValue* array = gst_structure_get_value(top, field::kTensors);
    for (guint i = 0; i < gst_value_array_get_size(array); ++i)
      found.push_back(
          gst_structure_copy(gst_value_get_structure(gst_value_array_get_value(array, i))));
  }
  for (GstStructure* structure : found)
    gst_structure_remove_fields(structure, field::kFramerate, field::kOffset, nullptr);
  return found;
}

/// The lower of the framerates of two pads: the slowest pad decides.
void lower_framerate(GstStructure* set, const GstCaps* caps) {
  const GValue* other = gst_structure_get_value(gst_caps_get_structure(caps, 0), field::kFramerate);
  const GValue* now = gst_structure_get_value(set, field::kFramerate);
  if (other != nullptr && (now == nullptr || gst_value_compare(other, now) == GST_VALUE_LESS_THAN))
    gst_structure_set_value(set, field::kFramerate, other);
}

const char* id_of(const GstStructure* structure) {
  const char* id = gst_structure_get_string(structure, field::kTensorId);
  return id != nullptr ? id : "";
}

/// Which of the tensors each structure of an array names; empty where not each names exactly one.
std::vector<std::size_t> order_by_id(const GValue* array,
                                     const std::vector<GstStructure*>& tensors) {
  std::vector<std::size_t> order;
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array) ||
      gst_value_array_get_size(array) != tensors.size())
    return order;
  for (guint i = 0; i < tensors.size(); ++i) {
    const GValue* item = gst_value_array_get_value(array, i);
    const std::string wanted =
        GST_VALUE_HOLDS_STRUCTURE(item) ? id_of(gst_value_get_structure(item)) : "";
    const auto is_it = [&](const GstStructure* tensor) { return wanted == id_of(tensor); };
    const auto found = std::find_if(tensors.begin(), tensors.end(), is_it);
    if (wanted.empty() || std::count_if(tensors.begin(), tensors.end(), is_it) != 1)
      return {};
    order.push_back(static_cast<std::size_t>(found - tensors.begin()));
  }
  std::vector<std::size_t> sorted(order);
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()
             ? order
             : std::vector<std::size_t>{};
}

} // namespace

void MuxCore::set_match_time(bool match) { match_time_ = match; }

bool MuxCore::match_time() const { return match_time_; }

void MuxCore::set_require_zero_copy(bool required) { require_zero_copy_ = required; }

bool MuxCore::require_zero_copy() const { return require_zero_copy_; }

GstStructure* MuxCore::stats() const {
  const auto value = [](const std::atomic<std::uint64_t>& counter) {
    return guint64{counter.load(std::memory_order_relaxed)};
  };
  GstStructure* stats = stats_.structure();
  stats_.describe_memory(stats);
  guint64 bytes = 0;
  gst_structure_get_uint64(stats, "bytes-out", &bytes);
  gst_structure_set(stats, "bytes", G_TYPE_UINT64, bytes, "dropped", G_TYPE_UINT64, value(dropped_),
                    "gaps", G_TYPE_UINT64, value(gaps_), nullptr);
  return stats;
}

void MuxCore::start() {
  stats_.reset();
  for (auto* counter : {&dropped_, &gaps_})
    counter->store(0, std::memory_order_relaxed);
  began_ = false;
}

void MuxCore::stop() {
  Heads now = heads(false);
  for (Head& head : now) {
    input_of(head.pad.get()).caps.reset();
    input_of(head.pad.get()).forget_times();
  }
  order_.clear();
  proposed_.reset();
}

void MuxCore::flush() {
  Heads now = heads(false);
  for (Head& head : now)
    input_of(head.pad.get()).forget_times();
}

void MuxCore::fail(std::string reason, const GstCaps* sink_caps, bool is_data,
                   std::optional<std::uint64_t> needed, std::optional<std::uint64_t> found) {
  post_error(GST_ELEMENT_CAST(mux_), is_data ? ErrorKind::Data : ErrorKind::Negotiation,
             {std::move(reason), sink_caps, nullptr, needed, found, nullptr});
}

bool MuxCore::set_pad_caps(GstAggregatorPad* pad, GstCaps* caps) {
  MuxInput& input = input_of(pad);
  auto parsed = parse_tensors(*caps);
  std::string reason;
  if (const auto* error = std::get_if<CapsError>(&parsed)) {
    reason = error->reason;
  } else {
    input.set = std::get<TensorSet>(std::move(parsed));
    const auto layout = PortLayout::create(input.set);
    if (const auto* unfit = std::get_if<CapsError>(&layout))
      reason = unfit->reason;
    else
      input.layout = std::get<PortLayout>(layout);
  }
  if (!reason.empty()) {
    input.caps.reset();
    fail(std::string("caps of pad ") + GST_OBJECT_NAME(pad) + ": " + reason, caps);
    return false;
  }
  input.caps.reset(gst_caps_ref(caps));
  stats_.announce_again();
  gst_pad_mark_reconfigure(mux_->srcpad);
  return true;
}

/// Stream time and running time of the first pad are those of the sets.
void MuxCore::set_pad_segment(GstAggregatorPad* pad, const GstSegment& segment) {
  if (segment.rate != pad->segment.rate)
    input_of(pad).forget_times(); // in between there is another running time
  Heads now = heads(false);
  if (segment.format == GST_FORMAT_TIME && now.count > 0 && now.begin()->pad.get() == pad)
    gst_aggregator_update_segment(mux_, &segment);
}

/// Where downstream names every tensor of the set, the set has its order; else that of the pads.
void MuxCore::arrange(const GstCaps* allowed, const std::vector<GstStructure*>& tensors) {
  order_.clear();
  for (guint i = 0; i < gst_caps_get_size(allowed) && order_.empty(); ++i)
    order_ = order_by_id(
        gst_structure_get_value(gst_caps_get_structure(allowed, i), field::kTensors), tensors);
  for (std::size_t i = 0; order_.size() < tensors.size(); ++i)
    order_.push_back(i);
}

void MuxCore::propose_allocation(GstQuery* query) {
  // Before the first set its caps are not known; our own elements answer without.
  const GstPtr<GstCaps> caps(gst_pad_get_current_caps(mux_->srcpad));
  const GstPtr<GstQuery> ours(gst_query_new_allocation(caps.get(), FALSE));
  GstAllocator* found = nullptr;
  if (gst_pad_peer_query(mux_->srcpad, ours.get()) &&
      gst_query_get_n_allocation_params(ours.get()) > 0)
    gst_query_parse_nth_allocation_param(ours.get(), 0, &found, nullptr);
  proposed_.reset(found);
  const GstAllocationParams params = aligned_params();
  gst_query_add_allocation_param(query, proposed_.get(), &params);
}

void MuxCore::decide_allocation(GstQuery* query) {
  // Sets are made of the memories of others: there is nothing to allocate.
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  GstAllocator* found = nullptr;
  if (gst_query_get_n_allocation_params(query) > 0)
    gst_query_parse_nth_allocation_param(query, 0, &found, nullptr);
  const GstPtr<GstAllocator> wanted(found);
  if (wanted == nullptr || wanted == proposed_)
    return;
  Heads now = heads(false);
  for (const Head& head : now)
    gst_pad_push_event(GST_PAD_CAST(head.pad.get()), gst_event_new_reconfigure());
}

GstFlowReturn MuxCore::update_caps(const GstCaps* allowed, GstPtr<GstCaps>& caps) {
  Heads now = heads(false);
  GstStructure* set = gst_structure_new_empty(kTensorSetCapsName);
  const GstPtr<GstStructure> owned(set);
  std::vector<GstStructure*> tensors;
  std::vector<GstPtr<GstStructure>> owners;
  bool dma_bufs = true;
  for (const Head& head : now) {
    const MuxInput& input = input_of(head.pad.get());
    if (input.caps == nullptr)
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    for (GstStructure* tensor : structures_of(input, tensor_id_of(head.pad.get()))) {
      tensors.push_back(tensor);
      owners.emplace_back(tensor);
    }
    lower_framerate(set, input.caps.get());
    dma_bufs = dma_bufs && has_dma_bufs(input.caps.get());
  }
  if (tensors.empty())
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  if (tensors.size() > kMaxTensors) {
    fail("the pads have " + std::to_string(tensors.size()) +
             " tensors together; expected at most 16: a buffer merges its memories beyond that "
             "number",
         nullptr);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  arrange(allowed, tensors);
  std::vector<GstStructure*> arranged;
  for (const std::size_t from : order_)
    arranged.push_back(tensors[from]);
  set_tensor_array(set, arranged);
  caps.reset(gst_caps_new_empty());
  gst_caps_append_structure_full(caps.get(), gst_structure_copy(set),
                                 dma_bufs ? gst_caps_features_new(kDmaBufFeature, nullptr)
                                          : nullptr);
  if (gst_caps_is_any(allowed) || gst_caps_can_intersect(caps.get(), allowed))
    return GST_FLOW_OK;
  std::string why = explain_fixed_set(caps.get(), allowed);
  if (why.empty())
    why = explain_mismatch(caps.get(), allowed, "downstream wants", "this element offers");
  post_error(GST_ELEMENT_CAST(mux_), ErrorKind::Negotiation,
             {"downstream cannot take the set: " + why, nullptr, caps.get(), std::nullopt,
              std::nullopt, nullptr});
  return GST_FLOW_NOT_NEGOTIATED;
}

} // namespace simaai::gst
