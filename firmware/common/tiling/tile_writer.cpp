// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels of the tile stream: fragments are staged from the linear source, packed and written.
#include "firmware/common/tiling/tile_writer.h"

#include "firmware/common/local_access.h"
#include "firmware/common/panels.h"
#include "firmware/common/partition.h"
#include "firmware/common/tiling/pack.h"

namespace simaai::firmware::tiling {
namespace {

constexpr std::uint32_t kNearlyFull = kPanelBytes - kPanelBytes / 16;
constexpr std::uint32_t kHalfFull = kPanelBytes / 2;

/// Stages fragments of one plan.
class Stager {
public:
  Stager(Worker& worker, const Plan& plan) noexcept
      : worker_(worker), plan_(plan), pixel_stride_(plan.strides[kernels::core::kAxisW]),
        channel_stride_(plan.strides[kernels::core::kAxisC]) {}

  [[nodiscard]] static std::uint32_t values(const Fragment& f) noexcept {
    return f.pixels * f.channels;
  }

  [[nodiscard]] StagedSteps steps(const Fragment& f) const noexcept {
    if (plan_.staging == Staging::ChannelMajor)
      return {plan_.width, f.pixels * plan_.width};
    return {f.channels * plan_.width, plan_.width};
  }

  void read(const Fragment& f, std::byte* to, Chain& chain) noexcept {
    if (values(f) == 0)
      return;
    switch (plan_.staging) {
    case Staging::PixelMajor:
      if (f.rows > 1)
        return read_image(f, to, chain);
      return read_rows(f.source, to, f.pixels, pixel_stride_, f.channels * plan_.width, chain);
    case Staging::ChannelMajor:
      return read_rows(f.source, to, f.channels, channel_stride_, f.pixels * plan_.width, chain);
    case Staging::Gathered:
      return gather(f, to, chain);
    }
  }

private:
  /// `rows` rows that are packed in the slot: one transfer where they are contiguous or at a pitch
  /// that the hardware has a field for, else one each.
  void read_rows(std::uint32_t source, std::byte* to, std::uint32_t rows, std::uint32_t pitch,
                 std::uint32_t row_bytes, Chain& chain) noexcept {
    if (rows == 1 || pitch == row_bytes) {
      worker_.read(chain, {source, to, rows * row_bytes});
    } else if (pitch <= kMaxPitchBytes) {
      worker_.read(chain, {source, to, row_bytes, rows, pitch, row_bytes});
    } else {
      for (std::uint32_t row = 0; row < rows; ++row)
        worker_.read(chain, {source + row * pitch, to + std::size_t{row} * row_bytes, row_bytes});
    }
  }

  /// Several rows of pixels, which lie packed in the slot: along the axis that needs fewer
  /// transfers.
  void read_image(const Fragment& f, std::byte* to, Chain& chain) noexcept {
    const std::uint32_t columns = f.pixels / f.rows;
    const std::uint32_t pixel_bytes = f.channels * plan_.width;
    const std::uint32_t row_bytes = columns * pixel_bytes;
    const std::uint32_t row_stride = plan_.strides[kernels::core::kAxisH];
    if (columns == 1 || pixel_stride_ == pixel_bytes)
      return read_rows(f.source, to, f.rows, row_stride, row_bytes, chain);
    if (columns < f.rows && row_stride <= kMaxPitchBytes) {
      for (std::uint32_t column = 0; column < columns; ++column)
        worker_.read(chain,
                     {f.source + column * pixel_stride_, to + std::size_t{column} * pixel_bytes,
                      pixel_bytes, f.rows, row_stride, row_bytes});
      return;
    }
    for (std::uint32_t row = 0; row < f.rows; ++row)
      read_rows(f.source + row * row_stride, to + std::size_t{row} * row_bytes, columns,
                pixel_stride_, pixel_bytes, chain);
  }

  /// Single values: along the axis that needs fewer transfers.
  void gather(const Fragment& f, std::byte* to, Chain& chain) noexcept {
    const std::uint32_t width = plan_.width;
    const std::uint32_t pixel_bytes = f.channels * width;
    if (f.channels < f.pixels && pixel_stride_ <= kMaxPitchBytes) {
      for (std::uint32_t c = 0; c < f.channels; ++c)
        worker_.read(chain, {f.source + c * channel_stride_, to + std::size_t{c} * width, width,
                             f.pixels, pixel_stride_, pixel_bytes});
      return;
    }
    for (std::uint32_t pixel = 0; pixel < f.pixels; ++pixel) {
      const std::uint32_t source = f.source + pixel * pixel_stride_;
      std::byte* const at = to + std::size_t{pixel} * pixel_bytes;
      if (channel_stride_ <= kMaxPitchBytes)
        worker_.read(chain, {source, at, width, f.channels, channel_stride_, width});
      else
        worker_.load(source, channel_stride_, at, f.channels, width);
    }
  }

  Worker& worker_;
  const Plan& plan_;
  std::uint32_t pixel_stride_;
  std::uint32_t channel_stride_;
};

class WriterSteps {
public:
  /// Fragments from a cursor on. `carried` bytes of its first granule come from the panel before.
  struct Panel {
    Cursor from;
    std::uint32_t device = 0; ///< granule of the first byte
    std::uint32_t carried = 0;
    std::uint32_t stream_bytes = 0; ///< carried ones included
  };

  WriterSteps(Worker& worker, const WriterLocal& local, const Plan& plan, const Cursor& first,
              std::uint32_t begin, std::uint32_t end) noexcept
      : worker_(worker), local_(local), plan_(plan), stager_(worker, plan), cursor_(first),
        next_(begin), end_(end) {}

  bool next(Panel& panel) noexcept {
    if (next_ >= end_)
      return false;
    panel.from = cursor_;
    panel.carried = next_ % kGranuleBytes;
    panel.device = plan_.destination + next_ - panel.carried;
    Fragment fragment;
    std::uint32_t bytes = 0;
    const std::uint32_t left = end_ - next_;
    const std::uint32_t most = left < plan_.panel_bytes ? left : plan_.panel_bytes;
    while (bytes < most && !ends_here(bytes, most - bytes) && cursor_.take(most - bytes, fragment))
      bytes += fragment.stream_bytes;
    next_ += bytes;
    panel.stream_bytes = panel.carried + bytes;
    return true;
  }

  void read(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    std::byte* to = local_.input[slot];
    for_each(panel, [&](const Fragment& fragment) {
      stager_.read(fragment, to, chain);
      to += std::size_t{Stager::values(fragment)} * plan_.width;
    });
  }

  void convert(const Panel& panel, std::uint32_t slot) noexcept {
    std::byte* out = local_.output[slot];
    worker_.writes(out, panel.stream_bytes);
    if (panel.carried != 0) {
      // The slots alternate: the granule that is not complete yet ends the other one.
      const std::byte* rest = local_.output[slot ^ 1U] + published_;
      worker_.reads(rest, panel.carried);
      copy_local(out, rest, panel.carried);
    }
    out += panel.carried;
    const std::byte* staged = local_.input[slot];
    for_each(panel, [&](const Fragment& fragment) {
      const std::uint32_t bytes = Stager::values(fragment) * plan_.width;
      worker_.reads(staged, bytes);
      pack_fragment(fragment, plan_, staged, stager_.steps(fragment), out);
      staged += bytes;
      out += fragment.stream_bytes;
    });
    published_ = panel.stream_bytes / kGranuleBytes * kGranuleBytes;
  }

  void write(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    if (published_ != 0)
      worker_.write(chain, {panel.device, local_.output[slot], published_});
  }

private:
  /// A row or a tile in two parts costs another read at least. A panel that is nearly full ends with a row for that; one
  /// that is more than half full ends with a tile, which makes less than one more write for each read that it saves.
  [[nodiscard]] bool ends_here(std::uint32_t bytes, std::uint32_t room) noexcept {
    return (bytes >= kNearlyFull && cursor_.would_split(room)) ||
           (bytes > kHalfFull && cursor_.would_split_tile(room));
  }

  /// Walks the fragments as next() took them: what limited the last one then limits it again.
  template <class Visit> void for_each(const Panel& panel, Visit visit) noexcept {
    Cursor cursor = panel.from;
    Fragment fragment;
    const std::uint32_t bytes = panel.stream_bytes - panel.carried;
    for (std::uint32_t done = 0; done < bytes; done += fragment.stream_bytes) {
      (void)cursor.take(bytes - done, fragment);
      visit(fragment);
    }
  }

  Worker& worker_;
  const WriterLocal& local_;
  const Plan& plan_;
  Stager stager_;
  Cursor cursor_;
  std::uint32_t next_; ///< stream byte
  std::uint32_t end_;
  std::uint32_t published_ = 0; ///< bytes of the last converted panel that are whole granules
};

/// First stream byte of a worker's share, with the cursor there.
std::uint32_t share_begin(const Plan& plan, std::uint32_t index, Cursor& cursor) noexcept {
  const auto total = static_cast<std::uint32_t>(plan.geometry.total_bytes);
  if (index == plan.workers)
    return total;
  const std::uint32_t granules = total / kGranuleBytes;
  return cursor.seek(even_cut(granules, plan.workers, index) * kGranuleBytes);
}

} // namespace

void write_tiles(Worker& worker, const WriterLocal& local, const Plan& plan) {
  Cursor first(plan);
  Cursor behind(plan);
  const std::uint32_t begin = share_begin(plan, worker.index(), first);
  const std::uint32_t end = share_begin(plan, worker.index() + 1, behind);
  if (begin >= end)
    return;
  worker.own(std::uint64_t{plan.destination} + begin, std::uint64_t{plan.destination} + end);
  WriterSteps steps(worker, local, plan, first, begin, end);
  run_panels(worker, steps);
}

} // namespace simaai::firmware::tiling
