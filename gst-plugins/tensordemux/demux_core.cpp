// SPDX-License-Identifier: LGPL-2.1-or-later
// Splitting sets: routes from tensors to pads.
#include "demux_core.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/child_pads.h"
#include "common/errors.h"
#include "common/fd_memory.h"
#include "common/gstsimaaitensorpool.h"
#include "common/negotiation.h"
#include "common/tensor_part.h"
#include "gstsimaaitensordemuxpad.h"

namespace simaai::gst {
namespace {

/// "0 (boxes), 1 (scores)".
std::string names_of(const TensorSet& set) {
  std::string text;
  for (std::size_t i = 0; i < set.tensors.size(); ++i)
    text += (i != 0 ? ", " : "") + std::to_string(i) +
            (set.tensors[i].tensor_id ? " (" + *set.tensors[i].tensor_id + ")" : "");
  return text;
}

std::string name_of(GstPad* pad) {
  const GTextPtr name(gst_object_get_name(GST_OBJECT_CAST(pad)));
  return name.get();
}

GstPtr<GstPad> new_pad(GstPadTemplate* pad_template, const char* name) {
  GstPtr<GstPad> pad(
      GST_PAD_CAST(g_object_new(GST_TYPE_SIMAAI_TENSOR_DEMUX_PAD, "name", name, "direction",
                                GST_PAD_SRC, "template", pad_template, nullptr)));
  gst_object_ref_sink(pad.get());
  gst_pad_use_fixed_caps(pad.get());
  return pad;
}

/// Sticky events that pass as they are; STREAM_START and CAPS are each pad's own.
gboolean pass_sticky(GstPad* /*sink*/, GstEvent** event, gpointer pad) noexcept {
  if (GST_EVENT_TYPE(*event) != GST_EVENT_STREAM_START && GST_EVENT_TYPE(*event) != GST_EVENT_CAPS)
    gst_pad_push_event(static_cast<GstPad*>(pad), gst_event_ref(*event));
  return TRUE;
}

} // namespace

DemuxCore::DemuxCore(GstElement* element, GstPad* sink) noexcept
    : element_(element), sink_(sink), combiner_(gst_flow_combiner_new()) {}

DemuxCore::~DemuxCore() { gst_flow_combiner_free(combiner_); }

DemuxCore::Routes DemuxCore::routes() const {
  const std::lock_guard lock(mutex_);
  return routes_;
}

void DemuxCore::fail(std::string reason, const GstCaps* caps, std::optional<std::uint64_t> needed,
                     std::optional<std::uint64_t> found, bool is_data) {
  post_error(element_, is_data ? ErrorKind::Data : ErrorKind::Negotiation,
             {std::move(reason), caps, nullptr, needed, found, nullptr});
}

/// Upstream offers what was refused again and again.
void DemuxCore::refuse(std::string reason, const GstCaps* caps) {
  if (refused_ != nullptr && gst_caps_is_equal(refused_.get(), caps))
    return;
  refused_.reset(gst_caps_copy(caps));
  fail(std::move(reason), caps);
}

std::string DemuxCore::negotiate(GstCaps* caps, Negotiated& into) const {
  // Queries, unlike events, come with caps that the pad would not take.
  if (!is_tensor_set(*caps))
    return std::string("sink caps are no '") + kTensorSetCapsName + "'";
  auto parsed = parse_tensors(*caps);
  if (const auto* error = std::get_if<CapsError>(&parsed))
    return "sink caps: " + error->reason;
  into.set = std::get<TensorSet>(std::move(parsed));
  const auto layout = PortLayout::create(into.set);
  if (const auto* error = std::get_if<CapsError>(&layout))
    return "sink caps: " + error->reason;
  into.layout = std::get<PortLayout>(layout);
  into.caps.reset(gst_caps_ref(caps));
  return {};
}

/// The tensor that a requested pad takes, or why there is none.
std::variant<std::size_t, std::string> DemuxCore::choose(const TensorSet& set, GstPad* pad) const {
  const PadChoice choice = choice_of(pad);
  if (choice.tensor_id.empty()) {
    const auto position = static_cast<std::size_t>(choice.position);
    if (choice.position >= 0 && position < set.tensors.size())
      return position;
    return "pad " + name_of(pad) + " takes the tensor at position " +
           std::to_string(choice.position) + "; the set has " + names_of(set);
  }
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < set.tensors.size(); ++i) {
    if (set.tensors[i].tensor_id != choice.tensor_id)
      continue;
    if (found)
      return "pad " + name_of(pad) + " takes the tensor '" + choice.tensor_id +
             "', which the set has at positions " + std::to_string(*found) + " and " +
             std::to_string(i);
    found = i;
  }
  if (found)
    return *found;
  return "pad " + name_of(pad) + " takes the tensor '" + choice.tensor_id + "'; the set has " +
         names_of(set);
}

GstPtr<GstCaps> DemuxCore::tensor_caps(const Negotiated& now, std::size_t tensor) const {
  const GstStructure* set = gst_caps_get_structure(now.caps.get(), 0);
  const GValue* array = gst_structure_get_value(set, field::kTensors);
  GstStructure* one = gst_structure_copy(
      gst_value_get_structure(gst_value_array_get_value(array, static_cast<guint>(tensor))));
  gst_structure_remove_field(one, field::kOffset);
  // What the set says of the stream goes with each tensor that says nothing of its own.
  for (gint i = 0; i < gst_structure_n_fields(set); ++i) {
    const char* name = gst_structure_nth_field_name(set, static_cast<guint>(i));
    if (!g_str_equal(name, field::kTensors) && !gst_structure_has_field(one, name))
      gst_structure_set_value(one, name, gst_structure_get_value(set, name));
  }
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  gst_caps_append_structure_full(caps.get(), one,
                                 gst_caps_features_copy(gst_caps_get_features(now.caps.get(), 0)));
  return caps;
}

void DemuxCore::push_stream_start(GstPad* pad) {
  const GTextPtr id(gst_pad_create_stream_id(pad, element_, name_of(pad).c_str()));
  GstEvent* event = gst_event_new_stream_start(id.get());
  if (has_group_id_)
    gst_event_set_group_id(event, group_id_);
  gst_pad_push_event(pad, event);
}

/// Tells a pad of its caps; a new one of everything before and behind them too.
void DemuxCore::announce(const Route& route, const Negotiated& now, bool is_new) {
  if (is_new)
    push_stream_start(route.pad.get());
  const auto caps = tensor_caps(now, route.tensor);
  const GstPtr<GstCaps> current(gst_pad_get_current_caps(route.pad.get()));
  if (current == nullptr || !gst_caps_is_equal(current.get(), caps.get()))
    gst_pad_push_event(route.pad.get(), gst_event_new_caps(caps.get()));
  if (is_new)
    gst_pad_sticky_events_foreach(sink_, pass_sticky, route.pad.get());
}

bool DemuxCore::place_requested(const Negotiated& now, std::vector<bool>& taken) {
  for (const auto& route : routes()) {
    if (!route->requested)
      continue;
    const auto chosen = choose(now.set, route->pad.get());
    if (const auto* reason = std::get_if<std::string>(&chosen)) {
      refuse(*reason, now.caps.get());
      return false;
    }
    const std::size_t tensor = std::get<std::size_t>(chosen);
    taken[tensor] = true;
    const bool is_new = !route->placed;
    {
      const std::lock_guard lock(mutex_);
      route->tensor = tensor;
      route->placed = true;
    }
    announce(*route, now, is_new);
  }
  return true;
}

std::shared_ptr<DemuxCore::Route> DemuxCore::add_own_pad(std::size_t tensor) {
  auto route = std::make_shared<Route>();
  GstPadTemplate* pad_template =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(element_), "src_%u");
  route->pad = new_pad(pad_template, ("src_" + std::to_string(tensor)).c_str());
  g_object_set(route->pad.get(), "position", static_cast<int>(tensor), nullptr);
  route->tensor = tensor;
  route->placed = true;
  gst_pad_set_active(route->pad.get(), TRUE);
  const std::lock_guard lock(mutex_);
  routes_.push_back(route);
  gst_flow_combiner_add_pad(combiner_, route->pad.get());
  return route;
}

void DemuxCore::remove_pad(GstPad* pad) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(routes_, [pad](const auto& route) { return route->pad.get() == pad; });
    gst_flow_combiner_remove_pad(combiner_, pad);
  }
  gst_pad_set_active(pad, FALSE);
  gst_element_remove_pad(element_, pad);
}

/// A pad for each tensor that no requested pad takes. Pads of tensors that stay keep their links.
void DemuxCore::update_own_pads(const Negotiated& now, const std::vector<bool>& taken) {
  std::vector<bool> present(taken);
  for (const auto& route : routes()) {
    if (route->requested)
      continue;
    if (route->tensor >= taken.size() || taken[route->tensor]) {
      gst_pad_push_event(route->pad.get(), gst_event_new_eos());
      remove_pad(route->pad.get());
      continue;
    }
    present[route->tensor] = true;
    announce(*route, now, false);
  }
  for (std::size_t tensor = 0; tensor < present.size(); ++tensor) {
    if (present[tensor])
      continue;
    const auto route = add_own_pad(tensor);
    announce(*route, now, true);
    gst_element_add_pad(element_, route->pad.get()); // has a reference of its own
  }
  if (!std::exchange(told_no_more_pads_, true))
    gst_element_no_more_pads(element_);
}

gboolean DemuxCore::handle_caps(GstEvent* event) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  auto now = std::make_shared<Negotiated>();
  std::string refused = negotiate(caps, *now);
  if (!refused.empty()) {
    refuse(std::move(refused), caps);
    return FALSE;
  }
  {
    const std::lock_guard lock(mutex_);
    negotiated_ = now;
  }
  std::vector<bool> taken(now->set.tensors.size(), false);
  if (!place_requested(*now, taken)) {
    const std::lock_guard lock(mutex_);
    negotiated_.reset();
    return FALSE;
  }
  refused_.reset();
  update_own_pads(*now, taken);
  return TRUE;
}

gboolean DemuxCore::handle_event(GstEvent* event) {
  gboolean handled = TRUE;
  switch (static_cast<int>(GST_EVENT_TYPE(event))) {
  case GST_EVENT_STREAM_START:
    has_group_id_ = gst_event_parse_group_id(event, &group_id_) != FALSE;
    for (const auto& route : routes())
      if (route->placed)
        push_stream_start(route->pad.get());
    break;
  case GST_EVENT_CAPS:
    handled = handle_caps(event);
    break;
  case GST_EVENT_FLUSH_STOP: {
    {
      const std::lock_guard lock(mutex_);
      gst_flow_combiner_reset(combiner_);
    }
    return gst_pad_event_default(sink_, GST_OBJECT_CAST(element_), event);
  }
  case GST_EVENT_EOS:
    if (routes().empty())
      fail("the stream ended before its caps, which say what pads there are", nullptr, {}, {},
           true);
    return gst_pad_event_default(sink_, GST_OBJECT_CAST(element_), event);
  default:
    return gst_pad_event_default(sink_, GST_OBJECT_CAST(element_), event);
  }
  gst_event_unref(event);
  return handled;
}

/// A tensor whose bytes are spread keeps its several memories: whoever needs them in one copies, and counts that.
GstPtr<GstBuffer> DemuxCore::part_of(GstBuffer* set, const PortLayout& layout, std::size_t tensor) {
  GstPtr<GstBuffer> part(gst_buffer_new());
  gst_buffer_copy_into(
      part.get(), set,
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
      static_cast<gsize>(-1));
  copy_metas(set, part.get());
  auto memory = share_tensor(set, layout, tensor);
  if (memory != nullptr)
    gst_buffer_append_memory(part.get(), memory.release());
  else
    gst_buffer_copy_into(part.get(), set, GST_BUFFER_COPY_MEMORY, layout.position(set, tensor),
                         layout.needs(tensor).bytes);
  keep_parent(part.get(), set);
  return part;
}

/// All parts before the first goes: what pads do with theirs is not the time that splitting takes.
void DemuxCore::make_parts(GstBuffer* set, const PortLayout& layout, const Routes& routes,
                           GstClockTime begun) {
  std::uint64_t bytes = 0;
  parts_.clear();
  for (const auto& route : routes) {
    parts_.push_back(part_of(set, layout, route->tensor));
    bytes += layout.needs(route->tensor).bytes;
  }
  stats_.note_memory(set);
  stats_.count_frame(layout.total_bytes(), bytes, gst_util_get_timestamp() - begun);
}

GstStructure* DemuxCore::stats() const {
  GstStructure* stats = stats_.structure();
  stats_.describe_memory(stats);
  return stats;
}

GstFlowReturn DemuxCore::chain(GstPtr<GstBuffer> set) {
  const GstClockTime begun = gst_util_get_timestamp();
  std::shared_ptr<const Negotiated> now;
  Routes routes;
  {
    const std::lock_guard lock(mutex_);
    now = negotiated_;
    std::copy_if(routes_.begin(), routes_.end(), std::back_inserter(routes),
                 [](const auto& route) { return route->placed; });
  }
  if (now == nullptr)
    return GST_FLOW_NOT_NEGOTIATED;
  const std::uint64_t found = gst_buffer_get_size(set.get());
  if (found < now->layout.total_bytes()) {
    fail("input buffer is shorter than its caps say", now->caps.get(), now->layout.total_bytes(),
         found, true);
    return GST_FLOW_ERROR;
  }
  make_parts(set.get(), now->layout, routes, begun);
  GstFlowReturn combined = GST_FLOW_NOT_LINKED;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    GstPad* const pad = routes[i]->pad.get();
    const GstFlowReturn flow = gst_pad_push(pad, parts_[i].release());
    const std::lock_guard lock(mutex_);
    combined = gst_flow_combiner_update_pad_flow(combiner_, pad, flow);
  }
  return combined;
}

bool DemuxCore::propose_allocation(GstQuery* query) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  Negotiated asked;
  if (caps == nullptr || !negotiate(caps, asked).empty())
    return false;
  const bool dma_bufs = has_dma_bufs(caps);
  GstPtr<GstAllocator> allocator(dma_bufs ? shared_fd_allocator().release() : nullptr);
  for (const auto& route : routes()) {
    if (allocator != nullptr || !route->placed || route->tensor >= asked.set.tensors.size())
      continue;
    const auto wanted = tensor_caps(asked, route->tensor);
    const GstPtr<GstQuery> inner(gst_query_new_allocation(wanted.get(), FALSE));
    GstAllocator* found = nullptr;
    if (gst_pad_peer_query(route->pad.get(), inner.get()) &&
        gst_query_get_n_allocation_params(inner.get()) > 0)
      gst_query_parse_nth_allocation_param(inner.get(), 0, &found, nullptr);
    allocator.reset(found);
  }
  const GstAllocationParams params = aligned_params();
  gst_query_add_allocation_param(query, allocator.get(), &params);
  const auto bytes = static_cast<guint>(asked.layout.total_bytes());
  GstPtr<GstBufferPool> pool;
  if (need_pool && bytes != 0) {
    pool = new_tensor_pool();
    if (!configure_pool(pool.get(), caps, bytes, 0, 0, allocator.get()))
      pool.reset();
  }
  if (bytes != 0)
    gst_query_add_allocation_pool(query, pool.get(), bytes, 0, 0);
  return true;
}

GstPad* DemuxCore::add_requested(GstPadTemplate* pad_template, const gchar* name) {
  auto route = std::make_shared<Route>();
  route->requested = true;
  std::shared_ptr<const Negotiated> now;
  {
    const std::lock_guard lock(mutex_);
    const auto wanted_number = pad_number(name, "tensor_");
    guint number = wanted_number.value_or(0);
    const auto taken = [this, &number] {
      const std::string wanted = "tensor_" + std::to_string(number);
      return std::any_of(routes_.begin(), routes_.end(),
                         [&](const auto& other) { return name_of(other->pad.get()) == wanted; });
    };
    if (wanted_number && taken())
      return nullptr;
    while (!wanted_number && taken())
      ++number;
    route->pad = new_pad(pad_template, ("tensor_" + std::to_string(number)).c_str());
    if (number < kMaxTensors)
      g_object_set(route->pad.get(), "position", static_cast<int>(number), nullptr);
    routes_.push_back(route);
    gst_flow_combiner_add_pad(combiner_, route->pad.get());
    now = negotiated_;
  }
  GstPad* const pad = route->pad.get();
  gst_pad_set_active(pad, TRUE);
  gst_element_add_pad(element_, pad);
  if (now != nullptr) {
    const auto chosen = choose(now->set, pad);
    if (const auto* reason = std::get_if<std::string>(&chosen)) {
      fail(*reason, now->caps.get());
      return pad;
    }
    {
      const std::lock_guard lock(mutex_);
      route->tensor = std::get<std::size_t>(chosen);
    }
    announce(*route, *now, true);
    const std::lock_guard lock(mutex_);
    route->placed = true;
  }
  return pad;
}

void DemuxCore::release(GstPad* pad) { remove_pad(pad); }

void DemuxCore::stop() {
  for (const auto& route : routes()) {
    if (!route->requested)
      remove_pad(route->pad.get());
    route->placed = false;
  }
  const std::lock_guard lock(mutex_);
  negotiated_.reset();
  refused_.reset();
  gst_flow_combiner_reset(combiner_);
  told_no_more_pads_ = false;
  has_group_id_ = false;
}

} // namespace simaai::gst
