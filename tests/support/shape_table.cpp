// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsing of tests/data/shapes.tsv.
#include "shape_table.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>

namespace simaai::test {

namespace {

std::vector<std::int64_t> integers(const std::string& text) {
  std::vector<std::int64_t> values;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');)
    values.push_back(std::stoll(item));
  return values;
}

ShapeRow parse_row(const std::string& line) {
  std::array<std::string, 8> columns;
  std::istringstream stream(line);
  for (std::string& column : columns)
    if (!std::getline(stream, column, '\t'))
      throw std::runtime_error("a row of shapes.tsv has too few columns: " + line);
  const auto& [name, shape, axes, tile, dtype, layout, channels, bytes] = columns;
  ShapeRow row{name, {}, std::stoull(bytes)};
  row.spec.shape = kernels::Shape(std::span<const std::int64_t>(integers(shape)));
  row.spec.dtype = dtype == "int8" ? kernels::DType::Int8 : kernels::DType::BFloat16;
  kernels::MlaTiled tiled;
  const auto axis_list = integers(axes);
  const auto tile_list = integers(tile);
  if (axis_list.size() != 4 || tile_list.size() != 4)
    throw std::runtime_error("a row of shapes.tsv has no four axes and tile extents: " + line);
  std::transform(axis_list.begin(), axis_list.end(), tiled.axes.begin(),
                 [](std::int64_t axis) { return static_cast<std::int32_t>(axis); });
  std::copy(tile_list.begin(), tile_list.end(), tiled.tile_shape.begin());
  if (channels == "pad16")
    tiled.channels = kernels::ChannelStorage::PadTo16;
  if (layout == "mla-cblocked")
    row.spec.layout = kernels::MlaCBlocked{tiled.tile_shape};
  else
    row.spec.layout = tiled;
  return row;
}

} // namespace

std::vector<ShapeRow> read_shape_table() {
  std::ifstream file(SIMAAI_TEST_DATA_DIR "/shapes.tsv");
  if (!file)
    throw std::runtime_error("cannot open " SIMAAI_TEST_DATA_DIR "/shapes.tsv");
  std::vector<ShapeRow> rows;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#')
      rows.push_back(parse_row(line));
  return rows;
}

} // namespace simaai::test
