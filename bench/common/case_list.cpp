// SPDX-License-Identifier: LGPL-2.1-or-later
// Generation of cases.
#include "case_list.h"

#include <algorithm>
#include <array>
#include <optional>

#include "support/shape_table.h"

namespace simaai::bench {

using kernels::DType;
using kernels::Shape;
using kernels::TensorSpec;

namespace {

/// Cold buffers say nothing about tensors smaller than this.
constexpr std::uint64_t kLeastColdTraffic = std::uint64_t{64} << 10;
constexpr std::array kCaches{Cache::Hot, Cache::Cold};
constexpr std::array kPatterns{Linear::Pitched, Linear::Planar, Linear::Spread};
constexpr std::array<std::string_view, 6> kQuickShapes{"bench_160x160x64", "bench_80x80x255_whole",
                                                       "bench_20x20x512",  "bench_224x224x3",
                                                       "yolo26_box_bf16",  "call_1x1x16"};
constexpr std::array<std::string_view, 4> kStridedShapes{
    "bench_160x160x64", "bench_80x80x255_whole", "bench_224x224x3", "yolo26_box_bf16"};

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct NamedSpec {
  std::string name;
  TensorSpec spec;
};

std::vector<NamedSpec> shapes(Extent extent) {
  std::vector<NamedSpec> list;
  for (const test::ShapeRow& row : test::read_shape_table())
    if (extent != Extent::Quick || is_one_of(kQuickShapes, row.name))
      list.push_back({row.name, row.spec});
  return list;
}

NamedSpec call_shape() {
  kernels::MlaTiled layout;
  layout.axes = {-1, 0, 1, 2};
  layout.tile_shape = {1, 1, 1, 16};
  return {"call_1x1x16", {Shape{1, 1, 16}, DType::BFloat16, layout}};
}

class Collector {
public:
  explicit Collector(std::string_view operation) : operation_(operation) {}

  /// Adds the case hot, and cold where it has traffic enough.
  void add(const std::string& shape_name, const Case& bench_case) {
    for (const Cache cache : kCaches) {
      Case named = bench_case;
      named.cache = cache;
      finish_case(operation_, shape_name, &named);
      if (cache == Cache::Hot || named.traffic_bytes() >= kLeastColdTraffic)
        cases.push_back(std::move(named));
    }
  }

  std::vector<Case> cases;

private:
  std::string_view operation_;
};

std::optional<Case> tiled_case(const TiledFamily& family, const TensorSpec& row,
                               const TiledFamily::Conversion& conversion, Storage storage,
                               Linear linear) {
  const bool tiling = family.direction == Direction::Tile;
  const auto tiled = tiled_spec(row, tiling ? conversion.to : conversion.from, storage);
  if (!tiled)
    return std::nullopt;
  const TensorSpec other = linear_spec(row.shape, tiling ? conversion.from : conversion.to, linear);
  Case result;
  result.input = tiling ? other : *tiled;
  result.output = tiling ? *tiled : other;
  result.storage = storage;
  result.linear = linear;
  result.fill = conversion.to == DType::Int8 ? std::int8_t{-7} : std::int8_t{0};
  return result;
}

/// Shapes of a storage or a conversion that is not the family's first one: what the rules of the
/// table distinguish (channel tiles, widths, three channels, narrow rows), not each model again.
bool is_sampled(std::string_view shape) { return is_one_of(kQuickShapes, shape); }

/// What is measured of one conversion in one storage on one shape.
struct Selection {
  bool dense;
  bool strided;
};

Selection select(const TiledFamily& family, Extent extent, std::size_t conversion,
                 std::size_t storage, std::string_view shape) {
  const bool main_storage = storage == 0;
  if (extent == Extent::Quick)
    return {main_storage && (conversion == 0 || shape == kQuickShapes.front()),
            main_storage && conversion == 0 && shape == kStridedShapes.front()};
  if (extent == Extent::Full)
    return {true, is_one_of(kStridedShapes, shape)};
  const bool every_shape = main_storage && conversion < family.full_conversions;
  return {every_shape || is_sampled(shape), main_storage && is_one_of(kStridedShapes, shape)};
}

void add_selected(const TiledFamily& family, const NamedSpec& shape, std::size_t conversion,
                  std::size_t storage, Selection selection, Collector* collector) {
  const auto add = [&](Linear linear) {
    if (const auto made = tiled_case(family, shape.spec, family.conversions[conversion],
                                     family.storages[storage], linear))
      collector->add(shape.name, *made);
  };
  if (selection.dense)
    add(Linear::Dense);
  if (selection.strided)
    for (const Linear pattern : kPatterns)
      add(pattern);
}

} // namespace

std::vector<Case> tiled_cases(const TiledFamily& family, Extent extent) {
  Collector collector(family.operation);
  std::vector<NamedSpec> list = shapes(extent);
  list.push_back(call_shape());
  for (const NamedSpec& shape : list)
    for (std::size_t c = 0; c < family.conversions.size(); ++c)
      for (std::size_t s = 0; s < family.storages.size(); ++s)
        add_selected(family, shape, c, s, select(family, extent, c, s, shape.name), &collector);
  return std::move(collector.cases);
}

namespace {

Case cast_case(const Shape& shape, DType from, DType to, Linear linear) {
  Case result;
  result.input = linear_spec(shape, from, linear);
  result.output = {shape, to, kernels::Contiguous{}};
  result.linear = linear;
  return result;
}

} // namespace

std::vector<Case> cast_cases(Extent extent) {
  Collector collector("cast");
  std::vector<NamedSpec> list = shapes(extent);
  list.push_back(call_shape());
  std::vector<std::uint64_t> seen;
  for (const NamedSpec& shape : list) {
    const std::uint64_t count = element_count(shape.spec.shape);
    const bool repeated = std::find(seen.begin(), seen.end(), count) != seen.end();
    seen.push_back(count);
    for (const auto& [from, to] :
         {std::pair{DType::Float32, DType::BFloat16}, std::pair{DType::BFloat16, DType::Float32}}) {
      if (!repeated)
        collector.add(shape.name, cast_case(shape.spec.shape, from, to, Linear::Dense));
      const bool strided = extent != Extent::Quick ? is_one_of(kStridedShapes, shape.name)
                                                   : shape.name == kStridedShapes.front();
      for (const Linear pattern : kPatterns)
        if (strided)
          collector.add(shape.name, cast_case(shape.spec.shape, from, to, pattern));
    }
  }
  return std::move(collector.cases);
}

} // namespace simaai::bench
