// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads EV74 packets by hand-written offsets and states what they must say.
#include "ev74/packet_reader.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

#include "oracle/linear.h"
#include "oracle/tiles.h"

namespace simaai::test {
namespace {

using kernels::DType;
using kernels::TensorSpec;

/// Takes little-endian integers off the front of a packet.
class Cursor {
public:
  explicit Cursor(std::span<const std::byte> packet) : packet_(packet) {}

  template <class Integer> Integer take() {
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Integer); i-- > 0;)
      value = value * 256 + std::to_integer<std::uint64_t>(packet_[at_ + i]);
    at_ += sizeof(Integer);
    return static_cast<Integer>(value);
  }
  template <class Integer, std::size_t Count> void take(std::array<Integer, Count>& values) {
    for (Integer& value : values)
      value = take<Integer>();
  }
  [[nodiscard]] std::size_t at() const { return at_; }

private:
  std::span<const std::byte> packet_;
  std::size_t at_ = 0;
};

std::uint8_t tag(DType dtype) {
  switch (dtype) {
  case DType::Int8:
    return 1;
  case DType::BFloat16:
    return 2;
  case DType::Float32:
    return 3;
  case DType::Float16:
    return 4;
  case DType::UInt8:
  case DType::Int32:
    break;
  }
  throw std::runtime_error("no packet carries this dtype");
}

bool is_linear(const TensorSpec& spec) {
  return std::holds_alternative<kernels::Contiguous>(spec.layout) ||
         std::holds_alternative<kernels::Strided>(spec.layout);
}

std::uint64_t physical_bytes(const TensorSpec& spec) {
  return is_linear(spec) ? oracle::linear_span(spec.shape, spec.dtype, spec.layout)
                         : oracle::tiled_bytes(spec.shape, spec.dtype, spec.layout);
}

/// Row-major byte strides, built by counting what follows each axis.
std::array<std::int64_t, 6> dense_strides(const TensorSpec& spec) {
  std::array<std::int64_t, 6> strides{};
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis) {
    std::int64_t bytes = kernels::scalar_bytes(spec.dtype);
    for (std::size_t inner = axis + 1; inner < spec.shape.rank(); ++inner)
      bytes *= spec.shape[inner];
    strides[axis] = bytes;
  }
  return strides;
}

std::array<std::int64_t, 6> cast_strides(const TensorSpec& spec) {
  auto strides = dense_strides(spec);
  if (const auto* strided = std::get_if<kernels::Strided>(&spec.layout))
    for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis)
      if (spec.shape[axis] != 1)
        strides[axis] = strided->strides_bytes[axis];
  if (spec.shape.rank() == 0)
    strides[0] = kernels::scalar_bytes(spec.dtype);
  return strides;
}

void expect_linear(const TensorSpec& spec, PacketFields& fields) {
  const auto* strided = std::get_if<kernels::Strided>(&spec.layout);
  if (strided == nullptr)
    return;
  const auto dense = dense_strides(spec);
  bool differs = false;
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis) {
    if (spec.shape[axis] == 1)
      continue;
    fields.linear_strides[axis] = strided->strides_bytes[axis];
    differs = differs || strided->strides_bytes[axis] != dense[axis];
  }
  if (!differs) {
    fields.linear_strides = {};
    return;
  }
  fields.flags |= 1;
  fields.packet_bytes = 216;
}

void expect_tiled(const TensorSpec& spec, PacketFields& fields) {
  if (const auto* tiled = std::get_if<kernels::MlaTiled>(&spec.layout)) {
    fields.axes = tiled->axes;
    fields.tile_shape = tiled->tile_shape;
    fields.channel_storage = tiled->channels == kernels::ChannelStorage::Compact ? 1 : 2;
    return;
  }
  const auto& blocked = std::get<kernels::MlaCBlocked>(spec.layout);
  const auto rank = static_cast<std::int32_t>(spec.shape.rank());
  fields.flags |= 2;
  fields.axes = {-1, rank - 3, rank - 2, rank - 1};
  fields.tile_shape = blocked.tile_shape;
  fields.channel_storage = 2;
}

template <class Values> std::string listed(const Values& values) {
  std::string text = "[";
  for (const auto value : values)
    text += std::to_string(value) + " ";
  text.back() = ']';
  return text;
}

} // namespace

std::ostream& operator<<(std::ostream& out, const PacketFields& f) {
  out << "operation " << f.operation << ", bytes " << f.packet_bytes << ", flags " << f.flags
      << ", dtypes " << int{f.source_dtype} << " " << int{f.destination_dtype} << ", rank "
      << int{f.rank} << ", storage " << int{f.channel_storage} << ", fill " << int{f.fill} << " "
      << int{f.fill_present} << ", addresses " << f.source_address << " " << f.destination_address
      << ", capacities " << f.source_capacity << " " << f.destination_capacity << ", shape "
      << listed(f.shape) << ", cast strides " << listed(f.source_strides) << " "
      << listed(f.destination_strides) << ", tile " << listed(f.tile_shape) << ", axes "
      << listed(f.axes) << ", strides " << listed(f.linear_strides) << ", zeros " << f.head_zero
      << " " << f.cast_zero << " " << listed(f.tiled_zero);
  return out;
}

PacketFields read_packet(std::span<const std::byte> packet) {
  if (packet.size() < 104)
    throw std::runtime_error("shorter than a packet head");
  PacketFields f;
  Cursor cursor(packet);
  f.magic = cursor.take<std::uint32_t>();
  f.version = cursor.take<std::uint16_t>();
  f.operation = cursor.take<std::uint16_t>();
  f.packet_bytes = cursor.take<std::uint32_t>();
  f.flags = cursor.take<std::uint32_t>();
  f.source_dtype = cursor.take<std::uint8_t>();
  f.destination_dtype = cursor.take<std::uint8_t>();
  f.rank = cursor.take<std::uint8_t>();
  f.channel_storage = cursor.take<std::uint8_t>();
  f.fill = cursor.take<std::uint8_t>();
  f.fill_present = cursor.take<std::uint8_t>();
  f.head_zero = cursor.take<std::uint16_t>();
  f.source_address = cursor.take<std::uint64_t>();
  f.destination_address = cursor.take<std::uint64_t>();
  f.source_capacity = cursor.take<std::uint64_t>();
  f.destination_capacity = cursor.take<std::uint64_t>();
  cursor.take(f.shape);
  const bool cast = f.operation == 1;
  if (cast ? packet.size() != 208 : packet.size() != 168 && packet.size() != 216)
    throw std::runtime_error("no packet of this operation has this length");
  if (cast) {
    cursor.take(f.source_strides);
    cursor.take(f.destination_strides);
    f.cast_zero = cursor.take<std::uint64_t>();
  } else {
    cursor.take(f.tile_shape);
    cursor.take(f.axes);
    cursor.take(f.tiled_zero);
    if (packet.size() == 216)
      cursor.take(f.linear_strides);
  }
  if (cursor.at() != packet.size())
    throw std::runtime_error("the fields do not add up to the packet");
  return f;
}

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::size_t star = word.find('*');
    const unsigned long value = std::stoul(word.substr(0, star), nullptr, 16);
    const std::size_t times = star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
    if (value > 255)
      throw std::runtime_error("not a byte: " + word);
    bytes.insert(bytes.end(), times, static_cast<std::byte>(value));
  }
  return bytes;
}

PacketFields expected_packet(std::uint16_t number, const TensorSpec& source,
                             const TensorSpec& destination, std::optional<std::int8_t> padding) {
  PacketFields f;
  f.magic = 0x34375645;
  f.version = 1;
  f.operation = number;
  f.packet_bytes = number == 1 ? 208 : 168;
  f.source_dtype = tag(source.dtype);
  f.destination_dtype = tag(destination.dtype);
  f.rank = static_cast<std::uint8_t>(source.shape.rank());
  f.source_capacity = physical_bytes(source);
  f.destination_capacity = physical_bytes(destination);
  for (std::size_t axis = 0; axis < source.shape.rank(); ++axis)
    f.shape[axis] = source.shape[axis];
  if (number == 1) {
    f.source_strides = cast_strides(source);
    f.destination_strides = cast_strides(destination);
    if (f.rank == 0) {
      f.rank = 1;
      f.shape[0] = 1;
    }
    return f;
  }
  expect_tiled(is_linear(source) ? destination : source, f);
  expect_linear(is_linear(source) ? source : destination, f);
  if (number == 2 && source.dtype == DType::Int8 && f.channel_storage == 2) {
    f.fill_present = 1;
    f.fill = static_cast<std::uint8_t>(padding.value());
  }
  return f;
}

} // namespace simaai::test
