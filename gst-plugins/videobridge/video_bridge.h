// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaaivideototensor and simaaitensortovideo have in common, as ordinary C++.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "bridge_settings.h"
#include "common/element_stats.h"
#include "common/errors.h"
#include "common/gst_ptr.h"
#include "common/output_pool.h"

namespace simaai::gst {

/// One direction between pictures and tensors. Bound to the streaming thread, except that the const
/// members also answer queries of other threads; `settings` and what those read is protected by the
/// object lock of the element, which is never held across a call to another element.
class VideoBridge {
public:
  explicit VideoBridge(GstBaseTransform* element) noexcept
      : element_(element), outputs_(GST_ELEMENT_CAST(element)) {}
  virtual ~VideoBridge() = default;
  VideoBridge(const VideoBridge&) = delete;
  VideoBridge& operator=(const VideoBridge&) = delete;

  BridgeSettings settings; ///< object lock
  /// The property `stats`. Transfer full; any thread.
  [[nodiscard]] GstStructure* stats() const;

  [[nodiscard]] virtual GstPtr<GstCaps> transform_caps(GstPadDirection direction,
                                                       const GstCaps* caps) const = 0;
  /// The first of our source caps that `offered` allows.
  [[nodiscard]] virtual GstPtr<GstCaps> choose(const GstCaps* sink_caps,
                                               GstPtr<GstCaps> offered) const = 0;
  /// Takes both caps, or posts why not.
  [[nodiscard]] bool set_caps(const GstCaps* sink_caps, const GstCaps* src_caps);
  /// Looks for a source of DMA-BUFs; posts an error and returns false where the settings contradict each other.
  [[nodiscard]] bool start();
  virtual void stop();

  /// For each CAPS event: explains caps that can never be taken, once for the same caps.
  void begin_caps(const GstCaps* sink_caps);
  /// After caps were refused: says why, unless that was said.
  void explain_refusal(const GstCaps* sink_caps);

  /// Bytes of a buffer on the other pad; nothing where its caps do not tell.
  [[nodiscard]] virtual std::optional<std::uint64_t>
  other_size(GstPadDirection direction) const = 0;
  /// Says upstream which metas of its buffers are understood.
  virtual void propose_allocation(GstQuery* /*query*/) const {}
  /// Chooses the pool of outputs.
  [[nodiscard]] bool decide_allocation(GstQuery* query);

  /// Before the base class looks at the buffer.
  virtual void look_at(GstBuffer* /*input*/) {}
  /// The output buffer: `input` itself or its memory for a view, else a new one, not yet filled.
  [[nodiscard]] GstFlowReturn prepare_output(GstBuffer* input, GstBuffer** output);
  /// Fills the output that prepare_output() made.
  [[nodiscard]] GstFlowReturn fill(GstBuffer* input, GstBuffer* output);

protected:
  /// Takes both caps, or says why not.
  [[nodiscard]] virtual std::optional<std::string>
  negotiate(const GstCaps* sink_caps, const GstCaps* src_caps, const BridgeSettings& now) = 0;
  /// What is wrong with the sink caps, whatever comes downstream.
  [[nodiscard]] virtual std::optional<std::string> refuse_sink(const GstCaps* sink_caps) const = 0;
  /// Why no choice can be made of what downstream wants.
  [[nodiscard]] virtual std::optional<std::string> refuse_choice(const GstCaps* /*sink_caps*/,
                                                                 GstCaps* /*wanted*/) const {
    return std::nullopt;
  }
  /// What to say where downstream takes none of our caps: "no <what> is accepted downstream".
  [[nodiscard]] virtual const char* offer_name() const = 0;
  /// More that the user should know about what is on offer.
  [[nodiscard]] virtual std::string offer_remark() const { return {}; }
  /// Makes the output; mark_view() where it shares the memory of the input.
  [[nodiscard]] virtual GstFlowReturn make_output(GstBuffer* input, GstBuffer** output) = 0;
  [[nodiscard]] virtual bool convert(GstBuffer* input, GstBuffer* output) = 0;
  /// Bytes of an output that shares no memory.
  [[nodiscard]] virtual std::uint64_t output_bytes() const noexcept = 0;
  /// Reads what else downstream says in its answer; an option that its pool should use, or null.
  virtual const char* read_allocation(GstQuery* /*query*/) { return nullptr; }

  [[nodiscard]] BridgeSettings settings_copy() const;
  [[nodiscard]] GstBaseTransform* element() const noexcept { return element_; }
  [[nodiscard]] bool require_zero_copy() const noexcept { return require_zero_copy_; }
  /// Whether outputs can be DMA-BUFs: until the start nothing speaks against it. Any thread.
  [[nodiscard]] bool makes_dma_bufs() const noexcept {
    return makes_dma_bufs_.load(std::memory_order_acquire);
  }
  /// Copies timestamps, flags and surviving metas.
  void copy_metadata(GstBuffer* input, GstBuffer* output) const;
  /// Posts an error about the data at hand.
  [[nodiscard]] GstFlowReturn fail(ErrorKind kind, std::string reason,
                                   std::optional<std::uint64_t> needed = std::nullopt,
                                   std::optional<std::uint64_t> found = std::nullopt);

  /// The output at hand shares the memory of the input and needs no convert().
  void mark_view() noexcept { view_ = true; }
  /// The output at hand is a copy of the samples of the input, for this reason; the first one is announced.
  void mark_copy(const char* why);
  /// `bytes` of the input at hand are spread over several memories: counts the copy that brings them into one and announces the
  /// first. False, with an error posted, where copies are forbidden. `converts`: the samples are written anew besides.
  [[nodiscard]] bool allow_spread(std::uint64_t bytes, bool converts);
  /// Room for bytes of an input in one piece, until the next call.
  [[nodiscard]] std::span<std::uint8_t> room(std::size_t bytes);
  /// An output of the pool, with the metadata of the input.
  [[nodiscard]] GstFlowReturn allocate_output(GstBuffer* input, const char* what,
                                              GstBuffer** output);

private:
  /// One error for one set of sink caps.
  void report_once(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps);

  GstBaseTransform* element_;
  GstPtr<GstAllocator> allocator_; ///< while started
  std::atomic<bool> makes_dma_bufs_{true};
  bool require_zero_copy_ = false;  ///< copy of the setting, taken at set_caps
  bool reported_ = false;           ///< an error about refused_caps_ was posted
  GstPtr<GstCaps> refused_caps_;    ///< sink caps that no longer need an explanation
  GstPtr<GstCaps> taken_sink_caps_; ///< of the last set_caps() that was no refusal
  GstPtr<GstCaps> taken_src_caps_;
  bool view_ = false; ///< mark_view() was called for the output at hand
  bool copy_ = false; ///< mark_copy() was
  ElementStats stats_;
  std::vector<std::uint8_t> room_;
  OutputPool outputs_;
  GstClockTime started_ = 0;
};

} // namespace simaai::gst
