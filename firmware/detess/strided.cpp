// SPDX-License-Identifier: LGPL-2.1-or-later
// Publication of strided output.
#include "firmware/detess/strided.h"

#include "firmware/common/publish.h"

namespace simaai::firmware::detess {
std::uint32_t SpanPublisher::panel_at(std::uint32_t first) const noexcept {
  const std::uint32_t span = suffix_.elements;
  const std::uint32_t left = view_.count - first;
  if (span <= kPanelElements)
    return at_most(kPanelElements / span * span, left);
  const std::uint32_t in_span = span - first % span;
  if (in_span <= kPanelElements)
    return in_span;
  Place place(view_);
  place.seek(first);
  std::uint32_t end = view_.destination + kPanelElements * view_.width;
  for (std::uint32_t axis = 0; axis < view_.rank; ++axis)
    end += place.index(axis) * view_.axes[axis].output_pitch;
  return kPanelElements - end % kGranuleBytes / view_.width;
}

std::uint32_t SpanPublisher::address() const noexcept {
  std::uint32_t at = view_.destination;
  for (std::uint32_t axis = 0; axis < view_.rank; ++axis)
    at += place_.index(axis) * view_.axes[axis].output_pitch;
  return at;
}

void SpanPublisher::publish(const Run& panel, std::byte* local, Chain& chain) noexcept {
  place_.seek(panel.first);
  for (std::uint32_t done = 0; done < panel.count && worker_.ok();) {
    std::byte* from = local + std::size_t{done} * view_.width;
    done += suffix_.axes == 0 ? publish_values(panel.count - done, from)
                              : publish_spans(panel.count - done, from, chain);
  }
}

/// Scalars that are apart, along the innermost axis.
std::uint32_t SpanPublisher::publish_values(std::uint32_t most, std::byte* local) noexcept {
  const std::uint32_t inner = view_.rank - 1;
  const std::uint32_t count = at_most(view_.inner().extent - place_.index(inner), most);
  worker_.store(address(), view_.inner().output_pitch, local, count, view_.width);
  place_.advance(inner, count);
  return count;
}

/// Whole spans at equal distances with equal ends, or one span or part of it.
std::uint32_t SpanPublisher::publish_spans(std::uint32_t most, std::byte* local,
                                           Chain& chain) noexcept {
  const std::uint32_t device = address();
  const std::uint32_t span = suffix_.elements;
  const std::uint32_t axis = view_.rank - 1 - suffix_.axes;
  const bool outermost = suffix_.axes == view_.rank;
  std::uint32_t spans = 1;
  if (most >= span && !outermost && view_.axes[axis].output_pitch % kGranuleBytes == 0 &&
      view_.axes[axis].output_pitch <= kMaxPitchBytes)
    spans = at_most(most / span, view_.axes[axis].extent - place_.index(axis));
  const std::uint32_t count = at_most(span, most);
  const std::uint32_t bytes = count * view_.width;
  if (spans > 1 && split_run(device, bytes).middle_bytes != 0) {
    publish_runs(worker_, chain, device, view_.axes[axis].output_pitch, spans, local, bytes,
                 view_.width);
  } else {
    spans = 1;
    publish_run(worker_, chain, device, local, bytes, view_.width);
  }
  if (count == span && !outermost) // part of a span ends its panel
    place_.advance(axis, spans);
  return spans * count;
}

} // namespace simaai::firmware::detess
