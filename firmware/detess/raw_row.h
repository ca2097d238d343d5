// SPDX-License-Identifier: LGPL-2.1-or-later
// The fused raw-row reader: whole pixels come as they lie in the tile, both planes in one transfer,
// and are converted straight into the output panel. Freestanding C++17.
#pragma once

#include "firmware/common/publish.h"
#include "firmware/detess/elements.h"
#include "firmware/detess/fragments.h"
#include "firmware/detess/panel_plan.h"
#include "firmware/detess/slots.h"

namespace simaai::firmware::detess {

/// Pixels in a raw slot and what of them is output: channels [from, channels) of the first pixel,
/// all of those between, and of the last one as many as `count` leaves.
struct RawPixels {
  const std::byte* raw;
  std::uint32_t plane_pitch;
  std::uint32_t pixel_pitch;
  std::uint32_t channels;
  std::uint32_t from;
  std::uint32_t count; ///< output elements
};

template <class Element>
inline void convert_pixels_inline(const RawPixels& pixels, std::byte* out) noexcept {
  const std::byte* pixel = pixels.raw;
  std::uint32_t from = pixels.from;
  for (std::uint32_t left = pixels.count; left != 0;) {
    const std::uint32_t room = pixels.channels - from;
    const std::uint32_t part = room < left ? room : left;
    Element::join(pixel + from, pixel + pixels.plane_pitch + from, out, part);
    out += std::size_t{part} * Element::kWidth;
    pixel += pixels.pixel_pitch;
    left -= part;
    from = 0;
  }
}

/// The same as a leaf: its vectors are not live across the transfers of the worker's loop.
template <class Element>
[[gnu::noinline]] void convert_pixels_leaf(const RawPixels& pixels, std::byte* out) noexcept {
  convert_pixels_inline<Element>(pixels, out);
}

/// Any number of channels, partial pixels at both ends. Where a converter keeps little state it is
/// part of the worker's loop, otherwise a leaf.
template <class Element> struct AnyPixels {
  static void convert(const RawPixels& pixels, std::byte* out) noexcept {
    if constexpr (Element::kConvertInline)
      convert_pixels_inline<Element>(pixels, out);
    else
      convert_pixels_leaf<Element>(pixels, out);
  }
};

template <class Element, class Converter> class RawRowSteps {
public:
  using Slots = FragmentSlots<Element>;

  struct Fragment {
    std::uint32_t device; ///< of the first pixel
    std::uint32_t pixels;
    RawPixels shape;  ///< the raw pointer is set when the slot is known
    std::uint32_t at; ///< panel position of the first element
    Run panel;
    std::uint32_t output;
    bool opens;
    bool closes;
  };

  RawRowSteps(Worker& worker, std::byte* local, const Job& job, const Share& share) noexcept
      : worker_(worker), local_(local), view_(job.view), cursor_(job, share), place_(job.view) {}

  bool next(Fragment& fragment) noexcept {
    const bool opens = done_ == panel_.count;
    if (opens) {
      if (!cursor_.next(panel_))
        return false;
      done_ = 0;
      output_ ^= 1U;
      place_.seek(panel_.first);
    }
    const std::uint32_t inner = view_.rank - 1;
    const std::uint32_t channels = view_.inner().extent;
    const std::uint32_t from = place_.index(inner);
    const Spot spot = view_.tiles.locate(place_.coordinates(0));
    const std::uint32_t left = panel_.count - done_;
    const std::uint32_t wanted = (from + left - 1) / channels + 1;
    const std::uint32_t pixels = smallest(wanted, kRawBytes / spot.pixel_pitch, run_at(spot));
    const std::uint32_t elements = smallest(pixels * channels - from, left, left);
    fragment = {spot.device,
                pixels,
                {nullptr, spot.plane_pitch, spot.pixel_pitch, channels, from, elements},
                done_,
                panel_,
                output_,
                opens,
                elements == left};
    done_ += elements;
    if (!fragment.closes)
      advance(from, pixels);
    return true;
  }

  void read(const Fragment& fragment, std::uint32_t slot, Chain& chain) noexcept {
    worker_.read(chain, {fragment.device, Slots::raw(local_, slot),
                         fragment.pixels * fragment.shape.pixel_pitch});
  }

  void convert(const Fragment& fragment, std::uint32_t slot) noexcept {
    RawPixels shape = fragment.shape;
    shape.raw = Slots::raw(local_, slot);
    std::byte* out =
        Slots::output(local_, fragment.output) + std::size_t{fragment.at} * Element::kWidth;
    worker_.reads(shape.raw, fragment.pixels * shape.pixel_pitch);
    worker_.writes(out, shape.count * Element::kWidth);
    Converter::convert(shape, out);
  }

  void write(const Fragment& fragment, Chain& chain) noexcept {
    publish_run(worker_, chain, view_.destination + fragment.panel.first * Element::kWidth,
                Slots::output(local_, fragment.output), fragment.panel.count * Element::kWidth,
                Element::kWidth);
  }

private:
  static std::uint32_t smallest(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
    const std::uint32_t least = a < b ? a : b;
    return least < c ? least : c;
  }

  /// Pixels from here on that follow each other in the source without a gap.
  [[nodiscard]] std::uint32_t run_at(const Spot& spot) const noexcept {
    if (view_.rank < 2)
      return 1;
    const ViewAxis& across = view_.axes[view_.rank - 2];
    return pitch_along(spot, across) == spot.pixel_pitch
               ? room_along(spot, across, place_.index(view_.rank - 2))
               : 1;
  }

  void advance(std::uint32_t from, std::uint32_t pixels) noexcept {
    const std::uint32_t inner = view_.rank - 1;
    place_.advance(inner, view_.inner().extent - from); // to the next pixel
    if (pixels > 1)
      place_.advance(inner - 1, pixels - 1);
  }

  Worker& worker_;
  std::byte* local_;
  const View& view_;
  PanelCursor cursor_;
  Place place_;
  Run panel_{0, 0};
  std::uint32_t done_ = 0;
  std::uint32_t output_ = 1;
};

template <class Element, class Converter>
void run_raw_rows(Worker& worker, std::byte* local, const Job& job) {
  const Share share = share_of(job, worker.index());
  if (share.empty())
    return;
  const View& view = job.view;
  worker.own(view.destination + std::uint64_t{share.begin} * Element::kWidth,
             view.destination + std::uint64_t{share.end} * Element::kWidth);
  RawRowSteps<Element, Converter> steps(worker, local, job, share);
  run_fragments(worker, steps);
}

} // namespace simaai::firmware::detess
