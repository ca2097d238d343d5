// SPDX-License-Identifier: LGPL-2.1-or-later
// Which row kernels prepare chooses and what the walks ask of them: a table of kernels that convert
// nothing but record their arguments.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/ops/casttess.h>
#include <simaai/kernels/ops/detess.h>
#include <simaai/kernels/ops/tess.h>

#include "a65/common/tile_prepare.h"
#include "a65/common/tile_walk.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

struct Call {
  std::string kernel;
  TileRow row;
};
std::vector<Call>* recorded = nullptr;

/// Records the rows of a panel one by one.
void record_panel(const char* name, const TilePanel& panel) {
  for (std::int64_t segment = 0; segment < panel.segments; ++segment)
    for (std::int64_t run = 0; run < panel.runs; ++run) {
      TileRow row = panel.row;
      row.src +=
          segment * panel.segment_linear_bytes + run * row.channels * row.channel_stride_bytes;
      row.dst += segment * panel.segment_tile_bytes + run * panel.run_tile_bytes;
      if (run + 1 == panel.runs)
        row.channels = panel.last_channels;
      recorded->push_back({name, row});
    }
}

/// Only writers are recorded.
RowTable recording_table() {
  RowTable table;
#define SIMAAI_RECORD_PANEL(name, from, to)                                                        \
  table.name = [](const TilePanel& panel) noexcept { record_panel(#name, panel); };
#define SIMAAI_RECORD(name, from, to)                                                              \
  table.name = [](const TileRow& row) noexcept { recorded->push_back({#name, row}); };
  SIMAAI_A65_PANEL_WRITERS(SIMAAI_RECORD_PANEL)
  SIMAAI_A65_TILE_ROWS(SIMAAI_RECORD)
#undef SIMAAI_RECORD_PANEL
#undef SIMAAI_RECORD
  return table;
}

constexpr std::uint8_t kBackground = 0xee;

/// What one execution asked for.
struct Recording {
  std::vector<std::byte> input;
  std::vector<std::uint8_t> output; ///< kBackground where the walk wrote nothing
  std::vector<Call> calls;
  /// Where the rows lie, relative to the ports.
  [[nodiscard]] std::int64_t src_offset(const Call& call) const {
    return call.row.src - input.data();
  }
  [[nodiscard]] std::int64_t dst_offset(const Call& call) const {
    return call.row.dst - reinterpret_cast<const std::byte*>(output.data());
  }
};

template <class Result> Recording record(const Result& admitted) {
  using Plan = std::variant_alternative_t<0, Result>;
  const auto* plan = std::get_if<Plan>(&admitted);
  if (plan == nullptr) {
    ADD_FAILURE() << std::get<Error>(admitted).message();
    return {};
  }
  Recording recording;
  recording.input.resize(plan->input_requirement().bytes);
  recording.output.assign(plan->output_requirement().bytes, kBackground);
  recorded = &recording.calls;
  run_tiles(prepare_writer(*plan, recording_table(), 0), recording.input.data(),
            recording.output.data());
  recorded = nullptr;
  return recording;
}

Recording record_casttess(const Shape& shape, DType from, const MlaTiled& tiled,
                          const Layout& layout = Contiguous{}) {
  const TensorSpec input{shape, from, layout};
  const TensorSpec output{shape, DType::BFloat16, tiled};
  return record(ops::casttess::check_inference({{&input, 1}, {&output, 1}, {}}));
}

Recording record_tess(const Shape& shape, DType dtype, const MlaTiled& tiled,
                      const Layout& layout = Contiguous{}) {
  const TensorSpec input{shape, dtype, layout};
  const TensorSpec output{shape, dtype, tiled};
  return record(ops::tess::check_inference({{&input, 1}, {&output, 1}, {}}));
}

std::set<std::string> kernels_of(const Recording& recording) {
  std::set<std::string> names;
  for (const Call& call : recording.calls)
    names.insert(call.kernel);
  return names;
}
using Names = std::set<std::string>;

constexpr std::array<std::pair<DType, const char*>, 3> kSources{{{DType::Float32, "f32_bf16_"},
                                                                 {DType::Float16, "f16_bf16_"},
                                                                 {DType::BFloat16, "bf16_bf16_"}}};

MlaTiled rows_of_pixels(std::int64_t width, std::int64_t channels,
                        ChannelStorage storage = ChannelStorage::Compact) {
  return {{-1, 0, 1, 2}, {1, 2, width, channels}, storage};
}

TEST(RowChoice, LargeTensorsLeaveTheVectorsOfNoLevel) {
  const RowTable& scalar = scalar_rows();
  for (const Level level : supported_levels()) {
    const RowTable& rows = detail::rows_of(level);
    SCOPED_TRACE(level_name(level));
    EXPECT_EQ(rows.f32_bf16_stream == scalar.f32_bf16_stream,
              rows.f32_bf16_linear == scalar.f32_bf16_linear);
    EXPECT_EQ(rows.bf16_f32_stream == scalar.bf16_f32_stream,
              rows.bf16_f32_linear == scalar.bf16_f32_linear);
  }
}

TEST(RowChoice, NarrowPixelsHaveKernelsOfTheirOwn) {
  for (const auto& [from, prefix] : kSources)
    for (std::int64_t channels = 1; channels <= 5; ++channels) {
      const std::string suffix = channels <= 3 ? "tiled_c" + std::to_string(channels) : "tiled";
      EXPECT_EQ(kernels_of(record_casttess({4, 9, channels}, from, rows_of_pixels(9, channels))),
                Names{prefix + suffix});
    }
}

TEST(RowChoice, ImageRowsOfOneOrThreePaddedChannelsAreWrittenDirectly) {
  for (const DType from : {DType::Float32, DType::BFloat16})
    for (const std::int64_t channels : {1, 3}) {
      const std::string prefix = from == DType::Float32 ? "f32_bf16_" : "bf16_bf16_";
      const Recording recording = record_casttess(
          {4, 9, channels}, from, rows_of_pixels(4, channels, ChannelStorage::PadTo16));
      EXPECT_EQ(kernels_of(recording), Names{prefix + "pad16_c" + std::to_string(channels)});
      for (const Call& call : recording.calls)
        EXPECT_EQ(call.row.stored_channels, 16);
    }
}

TEST(RowChoice, OtherImageRowsKeepTheirKernels) {
  constexpr auto kPadded = ChannelStorage::PadTo16;
  for (const std::int64_t channels : {1, 3}) {
    const std::string suffix = "tiled_c" + std::to_string(channels);
    EXPECT_EQ(kernels_of(record_casttess({4, 9, channels}, DType::Float16,
                                         rows_of_pixels(9, channels, kPadded))),
              Names{"f16_bf16_" + suffix});
    EXPECT_EQ(
        kernels_of(record_casttess({4, 9, channels}, DType::Float32, rows_of_pixels(9, channels))),
        Names{"f32_bf16_" + suffix});
    // A gap between pixels.
    EXPECT_EQ(
        kernels_of(record_casttess({4, 9, channels}, DType::Float32,
                                   rows_of_pixels(9, channels, kPadded), Strided{{144, 16, 4}})),
        Names{"f32_bf16_" + suffix});
  }
  // Channels in two tiles.
  EXPECT_EQ(kernels_of(record_casttess({4, 9, 3}, DType::Float32, rows_of_pixels(9, 2, kPadded))),
            (Names{"f32_bf16_tiled_c1", "f32_bf16_tiled_c2"}));
  // Channels in planes.
  EXPECT_EQ(kernels_of(record_casttess({4, 9, 3}, DType::Float32, rows_of_pixels(9, 3, kPadded),
                                       Strided{{36, 4, 144}})),
            Names{"f32_bf16_gather"});
}

/// Layouts whose only axis above one is C: alone, beside mapped and beside outer unit axes.
std::vector<std::pair<Shape, MlaTiled>> channel_only(std::int64_t channels, std::int64_t tile,
                                                     ChannelStorage storage) {
  return {{{channels}, {{-1, -1, -1, 0}, {1, 1, 1, tile}, storage}},
          {{1, 1, channels}, {{-1, 0, 1, 2}, {1, 4, 8, tile}, storage}},
          {{1, channels, 1, 1}, {{-1, -1, -1, 1}, {1, 1, 1, tile}, storage}},
          {{1, 1, 1, 1, 1, channels}, {{2, 3, 4, 5}, {2, 1, 3, tile}, storage}}};
}

TEST(RowChoice, ChannelOnlyLayoutsTakeOneCallOfOnePixelForEachTile) {
  for (const auto& [from, prefix] : kSources)
    for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16})
      for (const std::int64_t tile : {16, 37, 64}) {
        for (const auto& [shape, tiled] : channel_only(37, tile, storage)) {
          const Recording recording = record_casttess(shape, from, tiled);
          EXPECT_EQ(kernels_of(recording), Names{std::string(prefix) + "channels"});
          ASSERT_EQ(recording.calls.size(), tile == 16 ? 3U : 1U);
          std::int64_t first = 0;
          for (const Call& call : recording.calls) {
            const std::int64_t channels = std::min(tile, 37 - first);
            EXPECT_EQ(call.row.pixels, 1);
            EXPECT_EQ(call.row.channels, channels);
            EXPECT_EQ(call.row.stored_channels,
                      storage == ChannelStorage::Compact ? channels : (channels + 15) / 16 * 16);
            EXPECT_EQ(recording.src_offset(call), first * scalar_bytes(from));
            first += channels;
          }
        }
      }
}

TEST(RowChoice, ChannelWalkNeedsOneSliceUnitExtentsAndContiguousChannels) {
  const MlaTiled tiled{{-1, -1, 0, 1}, {1, 1, 1, 16}};
  EXPECT_EQ(kernels_of(record_casttess({2, 37}, DType::Float32, tiled)), Names{"f32_bf16_tiled"});
  const MlaTiled outer{{-1, -1, -1, 1}, {1, 1, 1, 16}};
  EXPECT_EQ(kernels_of(record_casttess({2, 37}, DType::Float32, outer)), Names{"f32_bf16_tiled"});
  EXPECT_EQ(kernels_of(record_casttess({1, 37}, DType::Float32, tiled, Strided{{0, 8}})),
            Names{"f32_bf16_gather"});
  // The direct writer comes before it.
  for (const auto& [shape, padded] : channel_only(3, 3, ChannelStorage::PadTo16))
    EXPECT_EQ(kernels_of(record_casttess(shape, DType::BFloat16, padded)),
              Names{"bf16_bf16_pad16_c3"});
}

TEST(RowChoice, TessChoosesByTypeAndChannelStride) {
  const MlaTiled tiled = rows_of_pixels(9, 16);
  EXPECT_EQ(kernels_of(record_tess({4, 9, 16}, DType::Int8, tiled)), Names{"i8_i8_tiled"});
  EXPECT_EQ(kernels_of(record_tess({4, 9, 16}, DType::BFloat16, tiled)), Names{"bf16_bf16_tiled"});
  EXPECT_EQ(kernels_of(record_tess({4, 9, 16}, DType::Int8, tiled, Strided{{9, 1, 36}})),
            Names{"i8_i8_gather"});
  EXPECT_EQ(kernels_of(record_tess({4, 9, 16}, DType::BFloat16, tiled, Strided{{18, 2, 72}})),
            Names{"bf16_bf16_gather"});
}

/// Marks the scalars and stored bytes of every row. False where one is outside or marked before.
bool marks_once(const Recording& recording, std::int64_t scalar, std::vector<int>* read,
                std::vector<int>* written) {
  const auto mark = [](std::vector<int>* marks, std::int64_t first, std::int64_t count) {
    bool fine = first >= 0 && first + count <= static_cast<std::int64_t>(marks->size());
    for (std::int64_t at = first; fine && at < first + count; ++at)
      fine = (*marks)[static_cast<std::size_t>(at)]++ == 0;
    return fine;
  };
  for (const Call& call : recording.calls) {
    const TileRow& row = call.row;
    for (std::int64_t pixel = 0; pixel < row.pixels; ++pixel)
      for (std::int64_t channel = 0; channel < row.channels; ++channel)
        if (!mark(read,
                  recording.src_offset(call) + pixel * row.pixel_stride_bytes +
                      channel * row.channel_stride_bytes,
                  scalar))
          return false;
    if (!mark(written, recording.dst_offset(call), row.pixels * row.stored_channels * 2))
      return false;
  }
  return true;
}

// The most channels that admission takes in one tile: no count of theirs leaves the 64 bits.
TEST(RowChoice, ChannelsUpToTheEndOfTheRangeAreOneRun) {
  constexpr std::int64_t kFarInt8 = INT64_MAX / 16 * 16;
  constexpr std::int64_t kFarBFloat16 = kFarInt8 / 4;
  for (const auto& [dtype, channels] :
       {std::pair{DType::Int8, kFarInt8}, {DType::BFloat16, kFarBFloat16}})
    for (const std::int64_t channel_tile : {channels, INT64_MAX}) {
      const MlaTiled tiled{{-1, -1, 0, 1}, {1, 1, 1, channel_tile}};
      const TensorSpec linear{{1, channels}, dtype};
      const TensorSpec tiles{{1, channels}, dtype, tiled};
      const auto to_tiles = ops::tess::check_inference({{&linear, 1}, {&tiles, 1}, {}});
      const auto from_tiles = ops::detess::check_inference({{&tiles, 1}, {&linear, 1}, {}});
      ASSERT_TRUE(std::holds_alternative<ops::tess::Plan>(to_tiles));
      ASSERT_TRUE(std::holds_alternative<ops::detess::Plan>(from_tiles));
      for (const TileState& state :
           {prepare_writer(std::get<ops::tess::Plan>(to_tiles), recording_table(), 0),
            prepare_reader(std::get<ops::detess::Plan>(from_tiles), recording_table())}) {
        ASSERT_EQ(state.group_count, 1U);
        EXPECT_EQ(state.groups[0].runs, 1);
        EXPECT_EQ(state.groups[0].channels, channels);
        EXPECT_EQ(state.groups[0].last_channels, channels);
      }
    }
}

// Rows lie in the caller's buffers, so there is no tensor between, and each scalar is in one row.
// Beside them the walk writes the alignment tails and nothing else.
TEST(RowChoice, OnePassFromInputToOutputAndZerosInTailsOnly) {
  const std::pair<Shape, Layout> inputs[] = {{{3, 10, 37}, Contiguous{}},
                                             {{3, 10, 37}, Strided{{1600, 152, 4}}},
                                             {{3, 10, 37}, Strided{{40, 4, 120}}},
                                             {{3, 10, 1}, Contiguous{}},
                                             {{3, 10, 3}, Strided{{160, 16, 4}}},
                                             {{1, 1, 37}, Contiguous{}},
                                             {{1, 1, 32}, Contiguous{}}};
  for (const auto& [shape, layout] : inputs)
    for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16})
      for (const std::int64_t channel_tile : {2, 16, 64}) {
        const Recording recording = record_casttess(
            shape, DType::Float32, rows_of_pixels(4, channel_tile, storage), layout);
        std::vector<int> read(recording.input.size());
        std::vector<int> written(recording.output.size());
        ASSERT_TRUE(marks_once(recording, 4, &read, &written));
        std::int64_t scalars = 4;
        for (const std::int64_t extent : shape.extents())
          scalars *= extent;
        EXPECT_EQ(std::count(read.begin(), read.end(), 1), scalars);
        for (std::size_t at = 0; at < written.size(); ++at)
          ASSERT_EQ(recording.output[at], written[at] != 0 ? kBackground : 0) << "byte " << at;
        if (storage == ChannelStorage::PadTo16) {
          EXPECT_EQ(std::count(written.begin(), written.end(), 0), 0)
              << "padded tiles have no tail";
        }
      }
}

} // namespace
} // namespace simaai::kernels::a65::detail
