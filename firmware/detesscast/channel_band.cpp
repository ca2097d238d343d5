// SPDX-License-Identifier: LGPL-2.1-or-later
// Workers of channel bands: each task owns its pixel rows across all channel tiles.
#include "firmware/detesscast/channel_band.h"

#include "core/tile_geometry.h"
#include "firmware/common/partition.h"
#include "firmware/detess/elements.h"
#include "firmware/detess/fragments.h"
#include "firmware/detesscast/one_channel.h"
#include "wire/check.h"

namespace simaai::firmware::detesscast {
namespace {

using detess::Float32;
using Slots = detess::FragmentSlots<Float32>;

/// A band of one tile column, by its place among the tiles.
struct Band {
  std::uint32_t width_tile;
  std::uint32_t band;
  std::uint32_t height_tile;
  std::uint32_t plane; ///< depth within outer slice
};

std::uint32_t tasks_of(const BandJob& job) noexcept {
  return job.width_tiles * job.bands * job.height_tiles * job.planes;
}

Band band_at(const BandJob& job, std::uint32_t task) noexcept {
  Band band{};
  band.width_tile = task % job.width_tiles;
  task /= job.width_tiles;
  band.band = task % job.bands;
  task /= job.bands;
  band.height_tile = task % job.height_tiles;
  band.plane = task / job.height_tiles;
  return band;
}

/// Next in output order: W tile, band, H tile, then depth and outer slice.
void advance(const BandJob& job, Band& band) noexcept {
  if (++band.width_tile < job.width_tiles)
    return;
  band.width_tile = 0;
  if (++band.band < job.bands)
    return;
  band.band = 0;
  if (++band.height_tile < job.height_tiles)
    return;
  band.height_tile = 0;
  ++band.plane;
}

class BandSteps {
public:
  struct Fragment {
    Band band;
    std::uint32_t channel_tile;
    std::uint32_t rows;
    std::uint32_t stored;
    std::uint32_t channels;
    std::uint32_t output;
    bool opens;
    bool closes;
  };

  BandSteps(Worker& worker, std::byte* local, const BandJob& job, const Share& share) noexcept
      : worker_(worker), local_(local), job_(job), left_(share.end - share.begin),
        band_(band_at(job, share.begin)) {}

  bool next(Fragment& fragment) noexcept {
    if (left_ == 0)
      return false;
    const bool last = channel_tile_ + 1 == job_.channel_tiles;
    const std::uint32_t above = band_.band * job_.rows;
    const std::uint32_t room = job_.tile_height - above;
    fragment = {band_,
                channel_tile_,
                room < job_.rows ? room : job_.rows,
                last ? job_.last_stored : job_.tile_channels,
                last ? job_.last_channels : job_.tile_channels,
                output_,
                channel_tile_ == 0,
                last};
    ++channel_tile_;
    if (last) {
      channel_tile_ = 0;
      output_ ^= 1U;
      --left_;
      advance(job_, band_);
    }
    return true;
  }

  void read(const Fragment& fragment, std::uint32_t slot, Chain& chain) noexcept {
    worker_.read(chain, {source_of(fragment), Slots::raw(local_, slot), raw_bytes(fragment)});
  }

  void convert(const Fragment& fragment, std::uint32_t slot) noexcept {
    const std::byte* raw = Slots::raw(local_, slot);
    std::byte* out = Slots::output(local_, fragment.output);
    const std::uint32_t pixels = fragment.rows * job_.tile_width;
    const std::uint32_t out_pitch = job_.channels * Float32::kWidth;
    worker_.reads(raw, raw_bytes(fragment));
    if (fragment.opens) // the fragments of a band fill all of it
      worker_.writes(out, pixels * out_pitch);
    out += std::size_t{fragment.channel_tile} * job_.tile_channels * Float32::kWidth;
    if (fragment.channels == 1)
      convert_one_channel(raw, fragment.stored, out, out_pitch, pixels);
    else
      convert_pixels(fragment, raw, out, out_pitch, pixels);
  }

  void write(const Fragment& fragment, Chain& chain) noexcept {
    const std::uint32_t row_bytes = job_.tile_width * job_.channels * Float32::kWidth;
    const std::uint32_t pitch = row_bytes * job_.width_tiles;
    const std::uint32_t first = destination_of(fragment);
    worker_.own(first, std::uint64_t{first} + std::uint64_t{fragment.rows - 1} * pitch + row_bytes);
    for (std::uint32_t row = 0; row < fragment.rows; ++row)
      worker_.write(chain, {first + row * pitch,
                            Slots::output(local_, fragment.output) + std::size_t{row} * row_bytes,
                            row_bytes});
  }

private:
  [[nodiscard]] std::uint32_t raw_bytes(const Fragment& fragment) const noexcept {
    return fragment.rows * job_.tile_width * 2 * fragment.stored;
  }

  [[nodiscard]] std::uint32_t source_of(const Fragment& f) const noexcept {
    const std::uint32_t pixel_bytes = 2 * f.stored;
    const std::uint32_t tile_pixels = job_.tile_height * job_.tile_width;
    const std::uint32_t tiles_a_plane = job_.height_tiles * job_.width_tiles;
    const std::uint32_t slice = f.band.plane / job_.depth;
    const std::uint32_t in_slice = f.band.plane - slice * job_.depth;
    const std::uint32_t tile =
        in_slice * tiles_a_plane + f.band.height_tile * job_.width_tiles + f.band.width_tile;
    const std::uint32_t slab_bytes =
        job_.depth * tiles_a_plane * tile_pixels * 2 * job_.tile_channels;
    return job_.source + slice * job_.slice_bytes + f.channel_tile * slab_bytes +
           (tile * tile_pixels + f.band.band * job_.rows * job_.tile_width) * pixel_bytes;
  }

  [[nodiscard]] std::uint32_t destination_of(const Fragment& f) const noexcept {
    const std::uint32_t row =
        (f.band.plane * job_.height_tiles + f.band.height_tile) * job_.tile_height +
        f.band.band * job_.rows;
    const std::uint32_t pixel = (row * job_.width_tiles + f.band.width_tile) * job_.tile_width;
    return job_.destination + pixel * job_.channels * Float32::kWidth;
  }

  static void convert_pixels(const Fragment& fragment, const std::byte* raw, std::byte* out,
                             std::uint32_t out_pitch, std::uint32_t pixels) noexcept {
    for (std::uint32_t pixel = 0; pixel < pixels; ++pixel) {
      Float32::join(raw, raw + fragment.stored, out, fragment.channels);
      raw += std::size_t{2} * fragment.stored;
      out += out_pitch;
    }
  }

  Worker& worker_;
  std::byte* local_;
  const BandJob& job_;
  std::uint32_t left_;
  Band band_;
  std::uint32_t channel_tile_ = 0;
  std::uint32_t output_ = 0;
};

} // namespace

BandJob make_band_job(const kernels::wire::Descriptor& packet,
                      std::uint32_t offered_workers) noexcept {
  kernels::core::TileGeometry geometry;
  (void)kernels::wire::tile_geometry(packet, &geometry);
  using kernels::core::kAxisC;
  using kernels::core::kAxisD;
  using kernels::core::kAxisH;
  using kernels::core::kAxisW;
  const auto small = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  BandJob job{};
  job.source = small(static_cast<std::int64_t>(packet.source_address));
  job.destination = small(static_cast<std::int64_t>(packet.destination_address));
  job.channels = small(geometry.extent[kAxisC]);
  job.tile_channels = small(geometry.tile[kAxisC]);
  job.channel_tiles = small(geometry.tiles(kAxisC));
  job.last_channels = small(geometry.tile_extent(kAxisC, geometry.tiles(kAxisC) - 1));
  job.last_stored = small(geometry.stored_channels(job.last_channels));
  job.tile_width = small(geometry.tile[kAxisW]);
  job.width_tiles = small(geometry.tiles(kAxisW));
  job.tile_height = small(geometry.tile[kAxisH]);
  job.height_tiles = small(geometry.tiles(kAxisH));
  job.depth = small(geometry.extent[kAxisD]);
  job.planes = small(geometry.outer_slices) * job.depth;
  job.rows = band_rows(job.tile_height, job.tile_width, job.tile_channels, job.channels);
  job.bands = (job.tile_height - 1) / job.rows + 1;
  job.slice_bytes = small(geometry.slice_bytes);
  const std::uint32_t tasks = tasks_of(job);
  job.workers = tasks < offered_workers ? tasks : offered_workers;
  return job;
}

void run_bands(Worker& worker, std::byte* local, const BandJob& job) {
  const Share share = even_share(tasks_of(job), job.workers, worker.index());
  BandSteps steps(worker, local, job, share);
  detess::run_fragments(worker, steps);
}

} // namespace simaai::firmware::detesscast
