// SPDX-License-Identifier: LGPL-2.1-or-later
// Negotiation of an op element: plans from caps, and one clear error where caps cannot work.
#include <limits>

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

  void add(const char* property, const std::string& asked, const std::string& got) {
    if (asked == got)
      return;
    if (details == nullptr)
      details = gst_structure_new_empty("simaai-property-overridden");
    gst_structure_set(details, property, G_TYPE_STRING, got.c_str(), nullptr);
    text += (text.empty() ? "" : "; ") + std::string("property ") + property + " is " + asked +
            ", but downstream caps fix " + got;
  }
};

/// The kernel's sentence, with the name of the property where one decides.
std::string text_of(const kernels::Error& error) {
  const bool fill = error.code == kernels::ErrorCode::ChannelPaddingRequired ||
                    error.code == kernels::ErrorCode::ChannelPaddingForbidden;
  return error.message() + (fill ? " (property int8-channel-padding)" : "");
}

constexpr std::uint64_t kLargestBuffer = std::numeric_limits<guint>::max();

} // namespace

GstPtr<GstCaps> TransformCore::fixate(const GstCaps* sink_caps, GstPtr<GstCaps> offered) const {
  const ElementSettings now = settings();
  const auto admits = [&](const kernels::TensorSpec& input, const kernels::TensorSpec& output) {
    return std::holds_alternative<PortNeeds>(adapter_->admit(input, output, now.params()));
  };
  return fixate_src_caps(traits_, now.tile(), sink_caps, std::move(offered), admits,
                         makes_dma_bufs());
}

/// Reads both caps and prepares the plan. Returns why it cannot be, empty on success.
std::string TransformCore::refuse_caps(GstCaps* sink_caps, GstCaps* src_caps, Ports& ports) {
  auto input = parse_tensor(*sink_caps);
  if (const auto* error = std::get_if<CapsError>(&input))
    return "sink caps: " + error->reason;
  auto output = parse_tensor(*src_caps);
  if (const auto* error = std::get_if<CapsError>(&output))
    return "source caps: " + error->reason;
  ports.input = std::get<TensorInfo>(std::move(input));
  ports.output = std::get<TensorInfo>(std::move(output));
  const auto admitted =
      adapter_->prepare(0, ports.input.spec, ports.output.spec, settings().params());
  if (const auto* error = std::get_if<kernels::Error>(&admitted))
    return text_of(*error);
  ports.needs = std::get<PortNeeds>(admitted);
  if (device_) {
    std::string refused = prepare_on_device(0, ports);
    if (!refused.empty())
      return refused;
  }
  for (const std::uint64_t bytes : {ports.needs.input.bytes, ports.needs.output.bytes})
    if (bytes > kLargestBuffer)
      return "a buffer needs " + std::to_string(bytes) + " bytes; a buffer pool holds at most " +
             std::to_string(kLargestBuffer) + " bytes a buffer";
  return {};
}

void TransformCore::report_caps(std::string reason, const GstCaps* sink_caps,
                                const GstCaps* src_caps) {
  reported_ = true;
  const auto same = [](const GstPtr<GstCaps>& last, const GstCaps* caps) {
    return last != nullptr && caps != nullptr ? gst_caps_is_equal(last.get(), caps) != FALSE
                                              : last.get() == caps;
  };
  if (refused_sink_caps_ && same(refused_sink_caps_, sink_caps) &&
      same(refused_src_caps_, src_caps))
    return; // GstBaseTransform tries one pair several times
  refused_sink_caps_.reset(gst_caps_copy(sink_caps));
  refused_src_caps_.reset(src_caps != nullptr ? gst_caps_copy(src_caps) : nullptr);
  post_error(element(), ErrorKind::Negotiation,
             {std::move(reason), sink_caps, src_caps, std::nullopt, std::nullopt, backend_name()});
}

void TransformCore::report_overrides(const ElementSettings& now, const TensorInfo& output,
                                     const GstCaps* src_caps) {
  const auto* tiled = std::get_if<kernels::MlaTiled>(&output.spec.layout);
  if (tiled == nullptr)
    return;
  const TileSettings asked = now.tile();
  Overrides lost;
  if (asked.axes)
    lost.add("tile-axes", four_text(widen(*asked.axes)), four_text(widen(tiled->axes)));
  if (asked.shape)
    lost.add("tile-shape", four_text(widen(*asked.shape)), four_text(tiled->tile_shape));
  if (asked.storage)
    lost.add("channel-storage", channel_storage_name(*asked.storage),
             channel_storage_name(tiled->channels));
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
  std::string reason = refuse_caps(sink_caps, src_caps, ports_[0]);
  if (!reason.empty()) {
    report_caps(std::move(reason), sink_caps, src_caps);
    return false;
  }
  const ElementSettings now = settings();
  require_zero_copy_ = now.require_zero_copy;
  copy_announced_ = false;
  refused_sink_caps_.reset();
  refused_src_caps_.reset();
  sink_caps_.reset(gst_caps_ref(sink_caps));
  src_caps_.reset(gst_caps_ref(src_caps));
  dma_buf_output_ = has_dma_bufs(src_caps);
  tensor_count_ = 1;
  remember_frame_time(*src_caps);
  report_overrides(now, ports_[0].output, src_caps);
  return true;
}

std::optional<std::size_t> TransformCore::other_size(GstPadDirection direction, GstCaps* caps,
                                                     GstCaps* other_caps) const {
  const bool from_sink = direction == GST_PAD_SINK;
  const auto input = parse_tensor(from_sink ? *caps : *other_caps);
  const auto output = parse_tensor(from_sink ? *other_caps : *caps);
  const auto* input_info = std::get_if<TensorInfo>(&input);
  const auto* output_info = std::get_if<TensorInfo>(&output);
  if (input_info == nullptr || output_info == nullptr)
    return std::nullopt;
  const auto admitted = adapter_->admit(input_info->spec, output_info->spec, settings().params());
  const auto* needs = std::get_if<PortNeeds>(&admitted);
  if (needs == nullptr)
    return std::nullopt;
  return from_sink ? needs->output.bytes : needs->input.bytes;
}

void TransformCore::diagnose_template(GstCaps* sink_caps) {
  begin_attempt();
  const auto accepted = template_caps(traits_, GST_PAD_SINK);
  if (gst_caps_can_intersect(sink_caps, accepted.get()))
    return;
  report_caps("these sink caps do not suit the element: " +
                  explain_mismatch(accepted.get(), sink_caps, "found", "accepted"),
              sink_caps, nullptr);
}

void TransformCore::diagnose_refusal(GstCaps* sink_caps) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(element_);
  if (reported_ || GST_PAD_IS_FLUSHING(src) || GST_PAD_IS_EOS(src))
    return;
  const auto parsed = parse_tensor(*sink_caps);
  if (const auto* error = std::get_if<CapsError>(&parsed)) {
    report_caps("sink caps: " + error->reason, sink_caps, nullptr);
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
  const auto chosen = fixate(sink_caps, GstPtr<GstCaps>(gst_caps_intersect_full(
                                            theirs.get(), ours.get(), GST_CAPS_INTERSECT_FIRST)));
  report_caps("downstream refused the caps that this element chose", sink_caps, chosen.get());
}

} // namespace simaai::gst
