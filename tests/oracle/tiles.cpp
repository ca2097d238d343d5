// SPDX-License-Identifier: LGPL-2.1-or-later
// The walk over tiled storage, and its writing, reading and counting users.
#include "tiles.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <variant>

namespace simaai::oracle {

using kernels::DType;
using kernels::Layout;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Shape;

namespace {

constexpr std::size_t kD = 0;
constexpr std::size_t kH = 1;
constexpr std::size_t kW = 2;
constexpr std::size_t kC = 3;
using Quad = std::array<std::int64_t, 4>; // D, H, W, C

/// Receives the bytes of the walk in storage order.
class ByteVisitor {
public:
  virtual ~ByteVisitor() = default;
  virtual void element_byte(std::uint64_t element, std::uint32_t plane) = 0;
  virtual void channel_padding(std::uint64_t bytes) = 0;
  virtual void gap() = 0;
};

/// A tile: first coordinate and actual extents, in D, H, W, C order.
struct Tile {
  Quad first{};
  Quad extent{};
};

/// Finds the row-major number of an element from its outer coordinate and its D, H, W, C.
class Locator {
public:
  Locator(const Shape& shape, const std::array<std::int32_t, 4>& axes) : shape_(shape) {
    role_.fill(-1);
    for (std::size_t role = 0; role < 4; ++role)
      if (axes[role] >= 0)
        role_[static_cast<std::size_t>(axes[role])] = static_cast<int>(role);
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      if (role_[axis] < 0)
        outer_extents_.push_back(shape[axis]);
  }
  [[nodiscard]] const std::vector<std::int64_t>& outer_extents() const { return outer_extents_; }
  [[nodiscard]] std::uint64_t element(const std::vector<std::int64_t>& outer,
                                      const Quad& dhwc) const {
    std::uint64_t number = 0;
    std::size_t next_outer = 0;
    for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
      const std::int64_t at =
          role_[axis] < 0 ? outer[next_outer++] : dhwc[static_cast<std::size_t>(role_[axis])];
      number = number * static_cast<std::uint64_t>(shape_[axis]) + static_cast<std::uint64_t>(at);
    }
    return number;
  }

private:
  Shape shape_;
  std::array<int, kernels::kMaxRank> role_{};
  std::vector<std::int64_t> outer_extents_;
};

/// Calls `visit(tile)` for the tiles of one outer slice: C, D, H, W, the last one fastest.
template <class Visit>
void for_each_tile(const Quad& extents, const Quad& tile, const Visit& visit) {
  std::array<std::vector<std::int64_t>, 4> starts;
  std::vector<std::int64_t> counts;
  for (const std::size_t role : {kC, kD, kH, kW}) {
    const std::int64_t step = std::min(tile[role], std::max<std::int64_t>(extents[role], 1));
    for (std::int64_t at = 0; at < extents[role]; at += step)
      starts[role].push_back(at);
    counts.push_back(static_cast<std::int64_t>(starts[role].size()));
  }
  for (Odometer at(counts); !at.done(); at.advance()) {
    Tile current;
    std::size_t digit = 0;
    for (const std::size_t role : {kC, kD, kH, kW}) {
      current.first[role] = starts[role][static_cast<std::size_t>(at.coordinate()[digit++])];
      current.extent[role] = std::min(tile[role], extents[role] - current.first[role]);
    }
    visit(current);
  }
}

/// Counts what passes through, so that a tile can be rounded up to 16 bytes.
class Counted {
public:
  explicit Counted(ByteVisitor& visitor) : visitor_(visitor) {}
  void element_byte(std::uint64_t element, std::uint32_t plane) {
    visitor_.element_byte(element, plane);
    ++bytes_;
  }
  void channel_padding(std::uint64_t bytes) {
    visitor_.channel_padding(bytes);
    bytes_ += bytes;
  }
  void finish_tile() {
    for (; bytes_ % 16 != 0; ++bytes_)
      visitor_.gap();
    bytes_ = 0;
  }

private:
  ByteVisitor& visitor_;
  std::uint64_t bytes_ = 0;
};

struct Walk {
  const Locator& locator;
  std::uint32_t planes;
  bool pad_channels;
};

/// One pixel of an MlaTiled tile: every low byte, its padding, every high byte, its padding.
void walk_pixel(const Walk& walk, const std::vector<std::int64_t>& outer, Quad at, const Tile& tile,
                Counted& out) {
  for (std::uint32_t plane = 0; plane < walk.planes; ++plane) {
    std::int64_t stored = 0;
    for (; stored < tile.extent[kC]; ++stored) {
      at[kC] = tile.first[kC] + stored;
      out.element_byte(walk.locator.element(outer, at), plane);
    }
    if (walk.pad_channels && stored % 16 != 0)
      out.channel_padding(static_cast<std::uint64_t>(16 - stored % 16));
  }
}

void walk_tile(const Walk& walk, const std::vector<std::int64_t>& outer, const Tile& tile,
               Counted& out) {
  for (Odometer pixel({tile.extent[kD], tile.extent[kH], tile.extent[kW]}); !pixel.done();
       pixel.advance()) {
    const auto& in_tile = pixel.coordinate();
    const Quad at{tile.first[kD] + in_tile[0], tile.first[kH] + in_tile[1],
                  tile.first[kW] + in_tile[2], 0};
    walk_pixel(walk, outer, at, tile, out);
  }
  out.finish_tile();
}

/// A channel-blocked tile: block of 16 channels, h, w, plane, channel.
void walk_blocked_tile(const Walk& walk, const std::vector<std::int64_t>& outer, const Tile& tile,
                       Counted& out) {
  const std::int64_t blocks = (tile.extent[kC] + 15) / 16;
  for (Odometer step({blocks, tile.extent[kH], tile.extent[kW], walk.planes, 16}); !step.done();
       step.advance()) {
    const auto& s = step.coordinate();
    const std::int64_t channel = 16 * s[0] + s[4];
    const Quad at{0, tile.first[kH] + s[1], tile.first[kW] + s[2], tile.first[kC] + channel};
    if (channel < tile.extent[kC])
      out.element_byte(walk.locator.element(outer, at), static_cast<std::uint32_t>(s[3]));
    else
      out.channel_padding(1);
  }
  out.finish_tile();
}

void check_tiled(const Shape& shape, DType dtype, const MlaTiled& tiled) {
  element_count(shape);
  if (kernels::scalar_bytes(dtype) != 1 && kernels::scalar_bytes(dtype) != 2)
    throw std::invalid_argument("only dtypes of one or two bytes can be tiled");
  std::array<bool, kernels::kMaxRank> used{};
  for (std::size_t role = 0; role < 4; ++role) {
    const std::int32_t axis = tiled.axes[role];
    if (axis < -1 || axis >= static_cast<std::int32_t>(shape.rank()) || (axis == -1 && role == kC))
      throw std::invalid_argument("a tile axis is out of range");
    if (axis >= 0 && std::exchange(used[static_cast<std::size_t>(axis)], true))
      throw std::invalid_argument("a tile axis is repeated");
    if (tiled.tile_shape[role] < 1 || (axis == -1 && tiled.tile_shape[role] != 1))
      throw std::invalid_argument("a tile extent is not allowed");
  }
}

MlaTiled axes_of_blocked(const Shape& shape, const MlaCBlocked& blocked) {
  if (shape.rank() < 3)
    throw std::invalid_argument("a channel-blocked tensor has rank three to six");
  const auto rank = static_cast<std::int32_t>(shape.rank());
  return {{-1, rank - 3, rank - 2, rank - 1}, blocked.tile_shape};
}

void walk_storage(const Shape& shape, DType dtype, const Layout& layout, ByteVisitor& visitor) {
  const auto* blocked = std::get_if<MlaCBlocked>(&layout);
  const auto* given = std::get_if<MlaTiled>(&layout);
  if (blocked == nullptr && given == nullptr)
    throw std::invalid_argument("not a tiled layout");
  const MlaTiled tiled = blocked != nullptr ? axes_of_blocked(shape, *blocked) : *given;
  check_tiled(shape, dtype, tiled);
  const Locator locator(shape, tiled.axes);
  Quad extents{1, 1, 1, 1};
  for (std::size_t role = 0; role < 4; ++role)
    if (tiled.axes[role] >= 0)
      extents[role] = shape[static_cast<std::size_t>(tiled.axes[role])];
  const Walk walk{locator, kernels::scalar_bytes(dtype),
                  tiled.channels == kernels::ChannelStorage::PadTo16};
  Counted out(visitor);
  for (Odometer outer(locator.outer_extents()); !outer.done(); outer.advance())
    for_each_tile(extents, tiled.tile_shape, [&](const Tile& tile) {
      if (blocked != nullptr)
        walk_blocked_tile(walk, outer.coordinate(), tile, out);
      else
        walk_tile(walk, outer.coordinate(), tile, out);
    });
}

class Appender final : public ByteVisitor {
public:
  Appender(const Tensor& tensor, Padding padding) : tensor_(tensor), padding_(padding) {}
  void element_byte(std::uint64_t element, std::uint32_t plane) override {
    bytes.push_back(static_cast<std::uint8_t>(tensor_.bits[element] >> (8 * plane)));
  }
  void channel_padding(std::uint64_t count) override {
    bytes.insert(bytes.end(), count, padding_.channel);
  }
  void gap() override { bytes.push_back(padding_.gap); }
  Bytes bytes;

private:
  const Tensor& tensor_;
  Padding padding_;
};

class Consumer final : public ByteVisitor {
public:
  Consumer(const Bytes& bytes, Tensor& tensor) : bytes_(bytes), tensor_(tensor) {}
  void element_byte(std::uint64_t element, std::uint32_t plane) override {
    tensor_.bits[element] |= std::uint32_t{next()} << (8 * plane);
  }
  void channel_padding(std::uint64_t count) override {
    for (; count > 0; --count)
      next();
  }
  void gap() override { next(); }
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }

private:
  std::uint8_t next() {
    if (at_end())
      throw std::invalid_argument("fewer bytes than the tiled layout has");
    return bytes_[position_++];
  }
  const Bytes& bytes_;
  Tensor& tensor_;
  std::size_t position_ = 0;
};

class Counter final : public ByteVisitor {
public:
  void element_byte(std::uint64_t /*element*/, std::uint32_t /*plane*/) override { ++bytes; }
  void channel_padding(std::uint64_t count) override { bytes += count; }
  void gap() override { ++bytes; }
  std::uint64_t bytes = 0;
};

} // namespace

Bytes tile(const Tensor& tensor, const Layout& layout, Padding padding) {
  Appender appender(tensor, padding);
  walk_storage(tensor.shape, tensor.dtype, layout, appender);
  return std::move(appender.bytes);
}

Tensor untile(const Bytes& bytes, const Shape& shape, DType dtype, const Layout& layout) {
  Tensor tensor{shape, dtype, std::vector<std::uint32_t>(element_count(shape), 0)};
  Consumer consumer(bytes, tensor);
  walk_storage(shape, dtype, layout, consumer);
  if (!consumer.at_end())
    throw std::invalid_argument("more bytes than the tiled layout has");
  return tensor;
}

std::uint64_t tiled_bytes(const Shape& shape, DType dtype, const Layout& layout) {
  Counter counter;
  walk_storage(shape, dtype, layout, counter);
  return counter.bytes;
}

} // namespace simaai::oracle
