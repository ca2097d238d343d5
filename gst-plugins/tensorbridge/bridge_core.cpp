// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps across, and buffers whose memories stay where they are.
#include "bridge_core.h"

#include <array>
#include <utility>

#include "common/errors.h"
#include "common/linear_size.h"
#include "common/negotiation.h"
#include "common/tensor_meta.h"
#include "common/tensor_part.h"

namespace simaai::gst {
namespace {

void append(GstCaps* caps, Written written) {
  if (auto* made = std::get_if<GstPtr<GstStructure>>(&written))
    gst_caps_append_structure(caps, made->release());
}

/// What the tensors of a structure are called on the other pad, in order of preference.
void append_across(GstCaps* into, const GstStructure& structure, bool dma_bufs) {
  const auto read = read_tensors(structure);
  const auto* tensors = std::get_if<AnyTensors>(&read);
  if (tensors == nullptr) { // not all of it is known: anything of the other family
    gst_caps_append(into, (is_ours(structure) ? their_caps() : our_caps(dma_bufs)).release());
    return;
  }
  if (is_ours(structure)) {
    append(into, write_nns(*tensors));
    append(into, write_strided(*tensors));
    return;
  }
  const bool fits_plain = tensors->set.tensors.size() == 1;
  if (fits_plain)
    append(into, write_plain(*tensors));
  append(into, write_set(*tensors));
  if (!dma_bufs)
    return;
  for (guint i = fits_plain ? 2 : 1; i > 0; --i) {
    const guint index = gst_caps_get_size(into) - (fits_plain ? 2 : 1);
    gst_caps_append_structure_full(into, gst_structure_copy(gst_caps_get_structure(into, index)),
                                   gst_caps_features_new(kDmaBufFeature, nullptr));
  }
}

/// Why nobody else has words for these tensors.
std::string spelling_problem(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const auto read = read_tensors(*structure);
  if (const auto* error = std::get_if<CapsError>(&read))
    return error->reason;
  if (!is_ours(*structure))
    return {};
  const auto nns = write_nns(std::get<AnyTensors>(read));
  const auto strided = write_strided(std::get<AnyTensors>(read));
  const auto* first = std::get_if<CapsError>(&nns);
  const auto* second = std::get_if<CapsError>(&strided);
  if (first == nullptr || second == nullptr)
    return {};
  return first->reason == second->reason ? first->reason : first->reason + "; " + second->reason;
}

/// Why downstream's spellings have no words for these tensors; empty where each has.
std::string foreign_problem(const GstCaps* sink_caps, const GstCaps* theirs) {
  const auto read = read_tensors(*gst_caps_get_structure(sink_caps, 0));
  const auto* tensors = std::get_if<AnyTensors>(&read);
  if (tensors == nullptr)
    return {};
  struct Spelling {
    const char* name;
    Written (*write)(const AnyTensors&);
  };
  constexpr std::array kSpellings{
      Spelling{kNnsCapsName, write_nns}, Spelling{kStridedCapsName, write_strided},
      Spelling{kTensorCapsName, write_plain}, Spelling{kTensorSetCapsName, write_set}};
  std::string problems;
  for (const Spelling& spelling : kSpellings) {
    bool is_wanted = false;
    for (guint i = 0; i < gst_caps_get_size(theirs); ++i)
      is_wanted =
          is_wanted || gst_structure_has_name(gst_caps_get_structure(theirs, i), spelling.name);
    if (!is_wanted)
      continue;
    const auto written = spelling.write(*tensors);
    const auto* problem = std::get_if<CapsError>(&written);
    if (problem == nullptr)
      return {}; // this one would do: its fields are what differs
    problems += (problems.empty() ? "" : "; ") + problem->reason;
  }
  return problems;
}

bool same_bytes(const TensorSet& a, const TensorSet& b) {
  if (a.tensors.size() != b.tensors.size())
    return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const auto left = linear_span_bytes(a.tensors[i].spec);
    if (a.tensors[i].spec.dtype != b.tensors[i].spec.dtype || !left ||
        left != linear_span_bytes(b.tensors[i].spec))
      return false;
  }
  return true;
}

} // namespace

GstPtr<GstCaps> BridgeCore::transform_caps(GstPadDirection direction, const GstCaps* caps,
                                           GstCaps* filter) const {
  const bool dma_bufs = direction == GST_PAD_SRC; // linear ones are passed on without a word
  GstPtr<GstCaps> across(gst_caps_new_empty());
  if (gst_caps_is_any(caps)) {
    across = our_caps(dma_bufs);
    gst_caps_append(across.get(), their_caps().release());
  }
  for (guint i = 0; !gst_caps_is_any(caps) && i < gst_caps_get_size(caps); ++i)
    append_across(across.get(), *gst_caps_get_structure(caps, i), dma_bufs);
  if (filter != nullptr)
    across.reset(gst_caps_intersect_full(filter, across.get(), GST_CAPS_INTERSECT_FIRST));
  return across;
}

void BridgeCore::report(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps) {
  reported_ = true;
  if (refused_ != nullptr && gst_caps_is_equal(refused_.get(), sink_caps))
    return;
  refused_.reset(gst_caps_copy(sink_caps));
  post_error(GST_ELEMENT_CAST(element_), ErrorKind::Negotiation,
             {std::move(reason), sink_caps, src_caps, std::nullopt, std::nullopt, nullptr});
}

bool BridgeCore::set_caps(GstCaps* sink_caps, GstCaps* src_caps) {
  const auto input = read_tensors(*gst_caps_get_structure(sink_caps, 0));
  const auto output = read_tensors(*gst_caps_get_structure(src_caps, 0));
  const auto* from = std::get_if<AnyTensors>(&input);
  const auto* to = std::get_if<AnyTensors>(&output);
  if (from == nullptr || to == nullptr) {
    report(from == nullptr ? "sink caps: " + std::get<CapsError>(input).reason
                           : "source caps: " + std::get<CapsError>(output).reason,
           sink_caps, src_caps);
    return false;
  }
  const auto layout = PortLayout::create(from->set);
  const auto* error = std::get_if<CapsError>(&layout);
  if (error != nullptr || !same_bytes(from->set, to->set)) {
    report(error != nullptr ? error->reason : "both pads must have the same tensors", sink_caps,
           src_caps);
    return false;
  }
  layout_ = std::get<PortLayout>(layout);
  tensors_ = from->set;
  for (TensorInfo& tensor : tensors_.tensors)
    tensor.offset_bytes.reset();
  const auto apart = PortLayout::create(tensors_);
  output_layout_ = std::get<PortLayout>(apart); // no larger than the inputs
  sink_caps_.reset(gst_caps_ref(sink_caps));
  refused_.reset();
  return true;
}

void BridgeCore::look_at_caps(GstCaps* sink_caps) {
  reported_ = false;
  if (std::string problem = spelling_problem(sink_caps); !problem.empty())
    report("sink caps: " + problem, sink_caps);
}

void BridgeCore::diagnose_refusal(GstCaps* sink_caps) {
  GstPad* const src = GST_BASE_TRANSFORM_SRC_PAD(element_);
  if (reported_ || GST_PAD_IS_FLUSHING(src) || GST_PAD_IS_EOS(src))
    return;
  const auto ours = transform_caps(GST_PAD_SINK, sink_caps, nullptr);
  const GstPtr<GstCaps> theirs(gst_pad_peer_query_caps(src, nullptr));
  std::string why = foreign_problem(sink_caps, theirs.get());
  if (why.empty())
    why = explain_mismatch(ours.get(), theirs.get(), "downstream wants", "this element offers");
  report("downstream cannot take what this element produces: " + why, sink_caps, theirs.get());
}

void BridgeCore::stop() {
  layout_.reset();
  output_layout_.reset();
  sink_caps_.reset();
  refused_.reset();
}

void BridgeCore::fail(std::string reason, std::optional<std::uint64_t> needed,
                      std::optional<std::uint64_t> found) {
  post_error(GST_ELEMENT_CAST(element_), ErrorKind::Data,
             {std::move(reason), sink_caps_.get(), nullptr, needed, found, nullptr});
}

GstFlowReturn BridgeCore::convert(GstBuffer* input, GstBuffer** output) {
  const GstClockTime begun = gst_util_get_timestamp();
  if (!layout_)
    return GST_FLOW_NOT_NEGOTIATED;
  const std::uint64_t found = gst_buffer_get_size(input);
  if (found < layout_->total_bytes()) {
    fail("input buffer is shorter than its caps say", layout_->total_bytes(), found);
    return GST_FLOW_ERROR;
  }
  // Others look at the sizes of memories: a memory with exactly its bytes for each tensor.
  const bool is_exact =
      found == layout_->total_bytes() &&
      (layout_->is_split(input) || (layout_->count() == 1 && gst_buffer_n_memory(input) == 1));
  if (is_exact && (!knows_tensor_meta() || gst_buffer_is_writable(input) != FALSE))
    *output = input;
  else if (const GstFlowReturn flow = share(input, output); flow != GST_FLOW_OK)
    return flow;
  add_tensor_meta(*output, tensors_, *output_layout_);
  stats_.note_memory(*output);
  stats_.count_frame(layout_->total_bytes(), output_layout_->total_bytes(),
                     gst_util_get_timestamp() - begun);
  return GST_FLOW_OK;
}

GstStructure* BridgeCore::stats() const {
  GstStructure* stats = stats_.structure();
  stats_.describe_memory(stats);
  return stats;
}

GstFlowReturn BridgeCore::share(GstBuffer* input, GstBuffer** output) {
  GstPtr<GstBuffer> made(gst_buffer_new());
  for (std::size_t tensor = 0; tensor < layout_->count(); ++tensor) {
    auto memory = share_tensor(input, *layout_, tensor);
    if (memory == nullptr) {
      fail("tensor " + std::to_string(tensor) +
               " is spread over several memories, or cannot be shared; this element copies nothing",
           layout_->needs(tensor).bytes, std::nullopt);
      return GST_FLOW_ERROR;
    }
    gst_buffer_append_memory(made.get(), memory.release());
  }
  gst_buffer_copy_into(
      made.get(), input,
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
      static_cast<gsize>(-1));
  copy_metas(input, made.get());
  keep_parent(made.get(), input);
  *output = made.release();
  return GST_FLOW_OK;
}

} // namespace simaai::gst
