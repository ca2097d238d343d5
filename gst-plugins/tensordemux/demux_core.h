// SPDX-License-Identifier: LGPL-2.1-or-later
// Ordinary C++ behind simaaitensordemux: which pad gets which tensor, and buffers that share memory with their set.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gst/base/gstflowcombiner.h>
#include <gst/gst.h>

#include "common/caps_spec.h"
#include "common/element_stats.h"
#include "common/gst_ptr.h"
#include "common/port_layout.h"

namespace simaai::gst {

/// Bound to the streaming thread, except where a member says otherwise.
///
/// mutex_ protects routes_, combiner_ and the negotiated set; it is never held across a push, a query or a signal.
class DemuxCore {
public:
  DemuxCore(GstElement* element, GstPad* sink) noexcept;
  ~DemuxCore();
  DemuxCore(const DemuxCore&) = delete;
  DemuxCore& operator=(const DemuxCore&) = delete;

  /// Takes the event.
  gboolean handle_event(GstEvent* event);
  GstFlowReturn chain(GstPtr<GstBuffer> set);
  /// Answers for the pads that are linked: memory that they need. Any thread.
  bool propose_allocation(GstQuery* query);
  /// Any thread.
  [[nodiscard]] GstStructure* stats() const;

  // The application's threads.
  /// A pad of the request template; null where the name is taken.
  GstPad* add_requested(GstPadTemplate* pad_template, const gchar* name);
  void release(GstPad* pad);
  /// Before the pads start.
  void start() noexcept { stats_.reset(); }
  /// After the pads have stopped.
  void stop();

private:
  struct Route {
    GstPtr<GstPad> pad;
    std::size_t tensor = 0;
    bool requested = false;
    bool placed = false; ///< a tensor was found for it
  };
  using Routes = std::vector<std::shared_ptr<Route>>;
  struct Negotiated {
    TensorSet set;
    PortLayout layout;
    GstPtr<GstCaps> caps;
  };

  gboolean handle_caps(GstEvent* event);
  [[nodiscard]] std::string negotiate(GstCaps* caps, Negotiated& into) const;
  [[nodiscard]] std::variant<std::size_t, std::string> choose(const TensorSet& set,
                                                              GstPad* pad) const;
  [[nodiscard]] bool place_requested(const Negotiated& now, std::vector<bool>& taken);
  void update_own_pads(const Negotiated& now, const std::vector<bool>& taken);
  [[nodiscard]] std::shared_ptr<Route> add_own_pad(std::size_t tensor);
  void remove_pad(GstPad* pad);
  void announce(const Route& route, const Negotiated& now, bool is_new);
  [[nodiscard]] GstPtr<GstCaps> tensor_caps(const Negotiated& now, std::size_t tensor) const;
  void push_stream_start(GstPad* pad);
  [[nodiscard]] GstPtr<GstBuffer> part_of(GstBuffer* set, const PortLayout& layout,
                                          std::size_t tensor);
  void make_parts(GstBuffer* set, const PortLayout& layout, const Routes& routes,
                  GstClockTime begun);
  void refuse(std::string reason, const GstCaps* caps);
  void fail(std::string reason, const GstCaps* caps, std::optional<std::uint64_t> needed = {},
            std::optional<std::uint64_t> found = {}, bool is_data = false);
  [[nodiscard]] Routes routes() const;

  GstElement* const element_;
  GstPad* const sink_;
  mutable std::mutex mutex_;
  Routes routes_;
  std::shared_ptr<const Negotiated> negotiated_; ///< null before caps
  GstFlowCombiner* combiner_;
  guint group_id_ = 0;
  bool has_group_id_ = false;
  bool told_no_more_pads_ = false;
  GstPtr<GstCaps> refused_;              ///< caps that an error was posted about
  std::vector<GstPtr<GstBuffer>> parts_; ///< of the set at hand, a route each
  ElementStats stats_;
};

} // namespace simaai::gst
