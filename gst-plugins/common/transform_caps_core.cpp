// SPDX-License-Identifier: LGPL-2.1-or-later
// Negotiation of an op element: plans from caps, and one clear error where caps cannot work.
#include <algorithm>

#include "same_caps.h"
#include "set_negotiation.h"
#include "transform_core.h"

namespace simaai::gst {
namespace {

std::string four_text(const std::array<std::int64_t, 4>& four) {
  std::string text = "<";
  for (const std::int64_t number : four)
    text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return text + ">";
}

template <class Array> std::array<std::int64_t, 4> widen(const Array& four) {
  return {four[0], four[1], four[2], four[3]};
}

/// Collects which properties lost against caps: message text and details structure.
struct Overrides {
  std::string text;
  GstStructure* details = nullptr;

  /// `details` has what the first tensor got.
  void add(const std::string& tensor, const char* property, const std::string& asked,
           const std::string& got) {
    if (asked == got)
      return;
    if (details == nullptr)
      details = gst_structure_new_empty("simaai-property-overridden");
    if (!gst_structure_has_field(details, property))
      gst_structure_set(details, property, G_TYPE_STRING, got.c_str(), nullptr);
    text += (text.empty() ? "" : "; ") + tensor + "property " + property + " is " + asked +
            ", but downstream caps fix " + got;
  }
};

constexpr const char* kUnsuitable = "these sink caps do not suit the element: ";

/// The kernel's sentence, with the name of the property where one decides.
std::string text_of(const kernels::Error& error) {
  const bool fill = error.code == kernels::ErrorCode::ChannelPaddingRequired ||
                    error.code == kernels::ErrorCode::ChannelPaddingForbidden;
  return error.message() + (fill ? " (property int8-channel-padding)" : "");
}

/// Of all tensors; gaps between them do not count.
std::uint64_t bytes_of(const PortLayout& layout) noexcept {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < layout.count(); ++i)
    bytes += layout.needs(i).bytes;
  return bytes;
}

bool has_int8(const TensorSet& set) {
  return std::any_of(set.tensors.begin(), set.tensors.end(), [](const TensorInfo& info) {
    return info.spec.dtype == kernels::DType::Int8;
  });
}

/// The fill is for the int8 tensors of a set that has some: others would refuse it.
OpParams params_for(const ElementSettings& settings, const kernels::TensorSpec& input,
                    bool beside_int8) {
  OpParams params = settings.params();
  if (beside_int8 && input.dtype != kernels::DType::Int8)
    params.int8_channel_padding.reset();
  return params;
}

} // namespace

GstPtr<GstCaps> TransformCore::fixate(const GstCaps* sink_caps, GstPtr<GstCaps> offered) const {
  const ElementSettings now = settings();
  const auto parsed = parse_tensors(*sink_caps);
  const auto* set = std::get_if<TensorSet>(&parsed);
  const bool int8 = set != nullptr && set->is_set && has_int8(*set);
  const auto admits = [&](const kernels::TensorSpec& input, const kernels::TensorSpec& output) {
    return std::holds_alternative<PortNeeds>(
        adapter_->admit(input, output, params_for(now, input, int8)));
  };
  if (!is_tensor_set(*sink_caps))
    return fixate_src_caps(traits_, now.tile(), sink_caps, std::move(offered), admits,
                           makes_dma_bufs());
  // GstBaseTransform does not ask the peer about caps that are fixed, which those without `tensors` are.
  const GstPtr<GstCaps> theirs(
      gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), nullptr));
  const SetRequest request{now.tile(), now.single_memory, makes_dma_bufs()};
  return fixate_set(traits_, request, sink_caps, theirs.get(), admits);
}

/// Prepares the plan of one tensor. Returns why it cannot be, empty on success.
std::string TransformCore::refuse_tensor(std::size_t slot, const Ports& ports, PortNeeds& needs) {
  const kernels::TensorSpec& input = ports.input.tensors[slot].spec;
  const kernels::TensorSpec& output = ports.output.tensors[slot].spec;
  const OpParams params =
      params_for(settings(), input, ports.input.is_set && has_int8(ports.input));
  const auto admitted = adapter_->prepare(slot, input, output, params);
  if (const auto* error = std::get_if<kernels::Error>(&admitted))
    return text_of(*error);
  needs = std::get<PortNeeds>(admitted);
  return device_ ? prepare_on_device(slot, input, output, params) : std::string();
}

/// Reads both caps and prepares the plans. Returns why they cannot be, empty on success.
std::string TransformCore::refuse_caps(GstCaps* sink_caps, GstCaps* src_caps, Ports& ports) {
  auto input = parse_tensors(*sink_caps);
  if (const auto* error = std::get_if<CapsError>(&input))
    return "sink caps: " + error->reason;
  if (std::string why = unsuitable_tensor(traits_, sink_caps); !why.empty())
    return kUnsuitable + why;
  auto output = parse_tensors(*src_caps);
  if (const auto* error = std::get_if<CapsError>(&output))
    return "source caps: " + error->reason;
  ports.input = std::get<TensorSet>(std::move(input));
  ports.output = std::get<TensorSet>(std::move(output));
  if (ports.input.is_set != ports.output.is_set ||
      ports.input.tensors.size() != ports.output.tensors.size())
    return "sink caps have " + std::to_string(ports.input.tensors.size()) +
           " tensors and source caps " + std::to_string(ports.output.tensors.size());
  std::array<kernels::ops::PortRequirement, kMaxTensors> input_needs{};
  std::array<kernels::ops::PortRequirement, kMaxTensors> output_needs{};
  for (std::size_t slot = 0; slot < ports.input.tensors.size(); ++slot) {
    PortNeeds needs;
    std::string refused = refuse_tensor(slot, ports, needs);
    if (!refused.empty())
      return tensor_prefix(ports.input, slot) + refused;
    input_needs[slot] = needs.input;
    output_needs[slot] = needs.output;
  }
  auto sources = PortLayout::create(ports.input, input_needs, false);
  if (const auto* error = std::get_if<CapsError>(&sources))
    return "sink caps: " + error->reason;
  auto destinations = PortLayout::create(ports.output, output_needs, true);
  if (const auto* error = std::get_if<CapsError>(&destinations))
    return "source caps: " + error->reason;
  ports.input_layout = std::get<PortLayout>(sources);
  ports.output_layout = std::get<PortLayout>(destinations);
  return {};
}

void TransformCore::report_caps(std::string reason, const GstCaps* sink_caps,
                                const GstCaps* src_caps) {
  reported_ = true;
  if (refused_sink_caps_ && same_caps(refused_sink_caps_.get(), sink_caps) &&
      same_caps(refused_src_caps_.get(), src_caps))
    return; // GstBaseTransform tries one pair several times
  refused_sink_caps_.reset(gst_caps_copy(sink_caps));
  refused_src_caps_.reset(src_caps != nullptr ? gst_caps_copy(src_caps) : nullptr);
  post_error(element(), ErrorKind::Negotiation,
             {std::move(reason), sink_caps, src_caps, std::nullopt, std::nullopt, backend_name()});
}

void TransformCore::report_overrides(const ElementSettings& now, const TensorSet& output,
                                     const GstCaps* src_caps) {
  const TileSettings asked = now.tile();
  Overrides lost;
  for (std::size_t slot = 0; slot < output.tensors.size(); ++slot) {
    const auto* tiled = std::get_if<kernels::MlaTiled>(&output.tensors[slot].spec.layout);
    if (tiled == nullptr)
      continue;
    const std::string tensor = tensor_prefix(output, slot);
    if (asked.axes)
      lost.add(tensor, "tile-axes", four_text(widen(*asked.axes)), four_text(widen(tiled->axes)));
    if (asked.shape)
      lost.add(tensor, "tile-shape", four_text(widen(*asked.shape)), four_text(tiled->tile_shape));
    if (asked.storage)
      lost.add(tensor, "channel-storage", channel_storage_name(*asked.storage),
               channel_storage_name(tiled->channels));
  }
  if (lost.details == nullptr)
    return;
  Report report;
  report.reason = std::move(lost.text);
  report.src_caps = src_caps;
  post_warning(element(), ErrorKind::Settings, report, lost.details);
}

bool TransformCore::set_caps(GstCaps* sink_caps, GstCaps* src_caps) {
  // Jobs in flight are those of the old caps.
  (void)flights_.drain();
  tensor_count_ = 0;
  std::string reason = refuse_caps(sink_caps, src_caps, ports_);
  if (!reason.empty()) {
    // GstBaseTransform goes on with the caps before, if they come again, without setting them.
    if (sink_caps_ && refuse_caps(sink_caps_.get(), src_caps_.get(), ports_).empty())
      tensor_count_ = ports_.input.tensors.size();
    report_caps(std::move(reason), sink_caps, src_caps);
    return false;
  }
  const ElementSettings now = settings();
  require_zero_copy_ = now.require_zero_copy;
  stats_.announce_again();
  refused_sink_caps_.reset();
  refused_src_caps_.reset();
  sink_caps_.reset(gst_caps_ref(sink_caps));
  src_caps_.reset(gst_caps_ref(src_caps));
  dma_buf_output_ = has_dma_bufs(src_caps);
  tensor_count_ = ports_.input.tensors.size();
  input_bytes_ = bytes_of(ports_.input_layout);
  output_bytes_ = bytes_of(ports_.output_layout);
  remember_frame_time(*src_caps);
  report_overrides(now, ports_.output, src_caps);
  return true;
}

std::optional<std::size_t> TransformCore::other_size(GstPadDirection direction, GstCaps* caps,
                                                     GstCaps* other_caps) const {
  const bool from_sink = direction == GST_PAD_SINK;
  const auto input = parse_tensors(from_sink ? *caps : *other_caps);
  const auto output = parse_tensors(from_sink ? *other_caps : *caps);
  const auto* sources = std::get_if<TensorSet>(&input);
  const auto* targets = std::get_if<TensorSet>(&output);
  if (sources == nullptr || targets == nullptr ||
      sources->tensors.size() != targets->tensors.size())
    return std::nullopt;
  const ElementSettings now = settings();
  const bool int8 = sources->is_set && has_int8(*sources);
  std::array<kernels::ops::PortRequirement, kMaxTensors> other{};
  for (std::size_t i = 0; i < sources->tensors.size(); ++i) {
    const kernels::TensorSpec& source = sources->tensors[i].spec;
    const auto admitted =
        adapter_->admit(source, targets->tensors[i].spec, params_for(now, source, int8));
    const auto* needs = std::get_if<PortNeeds>(&admitted);
    if (needs == nullptr)
      return std::nullopt;
    other[i] = from_sink ? needs->output : needs->input;
  }
  const auto layout = PortLayout::create(from_sink ? *targets : *sources, other, false);
  const auto* found = std::get_if<PortLayout>(&layout);
  return found != nullptr ? std::optional<std::size_t>(found->total_bytes()) : std::nullopt;
}

void TransformCore::diagnose_template(GstCaps* sink_caps) {
  begin_attempt();
  const auto accepted = template_caps(traits_, GST_PAD_SINK);
  if (gst_caps_can_intersect(sink_caps, accepted.get()))
    return;
  report_caps(kUnsuitable + explain_mismatch(accepted.get(), sink_caps, "found", "accepted"),
              sink_caps, nullptr);
}

void TransformCore::diagnose_refusal(GstCaps* sink_caps) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(element_);
  if (reported_ || GST_PAD_IS_FLUSHING(src) || GST_PAD_IS_EOS(src))
    return;
  const auto parsed = parse_tensors(*sink_caps);
  if (const auto* error = std::get_if<CapsError>(&parsed)) {
    report_caps("sink caps: " + error->reason, sink_caps, nullptr);
    return;
  }
  if (const std::string why = unsuitable_tensor(traits_, sink_caps); !why.empty()) {
    report_caps(kUnsuitable + why, sink_caps, nullptr);
    return;
  }
  const auto ours = transform_caps(traits_, GST_PAD_SINK, sink_caps, nullptr, makes_dma_bufs());
  const GstPtr<GstCaps> theirs(gst_pad_peer_query_caps(src, nullptr));
  if (gst_caps_is_empty(ours.get()) || !gst_caps_can_intersect(ours.get(), theirs.get())) {
    report_caps(
        "downstream cannot take what this element produces: " +
            explain_mismatch(ours.get(), theirs.get(), "downstream wants", "this element offers"),
        sink_caps, theirs.get());
    return;
  }
  if (is_tensor_set(*sink_caps)) {
    std::string why = explain_set(traits_, sink_caps, theirs.get());
    if (!why.empty()) {
      report_caps("downstream cannot take what this element produces: " + why, sink_caps,
                  theirs.get());
      return;
    }
  }
  const auto chosen = fixate(sink_caps, GstPtr<GstCaps>(gst_caps_intersect_full(
                                            theirs.get(), ours.get(), GST_CAPS_INTERSECT_FIRST)));
  report_caps("downstream refused the caps that this element chose", sink_caps, chosen.get());
}

} // namespace simaai::gst
