// SPDX-License-Identifier: LGPL-2.1-or-later
// Random sets and their buffers.
#include "set_sample.h"

#include <algorithm>
#include <array>

#include "gst/tensor_text.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"

namespace simaai::test {
namespace {

using namespace kernels;
using gst::GstPtr;

Shape random_shape(oracle::Random& random, std::size_t least_rank) {
  const auto rank = static_cast<std::size_t>(
      random.between(static_cast<std::int64_t>(least_rank), static_cast<std::int64_t>(5)));
  std::array<std::int64_t, kMaxRank> extents{};
  for (std::size_t axis = 0; axis < rank; ++axis)
    extents[axis] = random.between(1, axis + 1 == rank ? 37 : 5);
  return Shape(std::span<const std::int64_t>(extents.data(), rank));
}

Layout random_linear(oracle::Random& random, const Shape& shape, DType dtype) {
  if (random.below(3) != 0)
    return Contiguous{};
  Strided strided{};
  auto stride = static_cast<std::int64_t>(scalar_bytes(dtype));
  for (std::size_t axis = shape.rank(); axis > 0; --axis) {
    strided.strides_bytes[axis - 1] = stride;
    stride *= shape[axis - 1] + random.between(0, 2);
  }
  return strided;
}

Layout random_tiles(oracle::Random& random, const Shape& shape, bool may_block) {
  const std::size_t rank = shape.rank();
  std::array<std::int32_t, 4> axes{-1, -1, -1, -1};
  std::array<std::int64_t, 4> tile{1, 1, 1, 1};
  for (std::size_t i = 0; i < std::min<std::size_t>(rank, 3); ++i) {
    axes[3 - i] = static_cast<std::int32_t>(rank - 1 - i);
    tile[3 - i] = random.between(1, std::min<std::int64_t>(shape[rank - 1 - i], 20));
  }
  if (may_block && rank >= 3 && random.one_in(3))
    return MlaCBlocked{tile};
  return MlaTiled{axes, tile, random.one_in(2) ? ChannelStorage::Compact : ChannelStorage::PadTo16};
}

DType pick(oracle::Random& random, std::initializer_list<DType> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

Member random_member(oracle::Random& random, const std::string& element) {
  const bool to_tiles = element == "simaaitess" || element == "simaaicasttess";
  const bool from_tiles = element == "simaaidetess" || element == "simaaidetesscast";
  Member made;
  made.input.shape = random_shape(random, to_tiles || from_tiles ? 1 : 0);
  if (element == "simaaicast") {
    made.input.dtype = pick(random, {DType::Float32, DType::BFloat16});
    made.output.dtype = made.input.dtype == DType::Float32 ? DType::BFloat16 : DType::Float32;
  } else if (element == "simaaicasttess") {
    made.input.dtype = pick(random, {DType::Float32, DType::Float16, DType::BFloat16});
    made.output.dtype = DType::BFloat16;
  } else if (element == "simaaidetesscast") {
    made.input.dtype = DType::BFloat16;
    made.output.dtype = pick(random, {DType::Float32, DType::BFloat16});
  } else {
    made.input.dtype = pick(random, {DType::Int8, DType::BFloat16});
    made.output.dtype = made.input.dtype;
  }
  made.output.shape = made.input.shape;
  made.input.layout = from_tiles ? random_tiles(random, made.input.shape, true)
                                 : random_linear(random, made.input.shape, made.input.dtype);
  made.output.layout = to_tiles ? random_tiles(random, made.output.shape, false)
                                : random_linear(random, made.output.shape, made.output.dtype);
  return made;
}

} // namespace

std::vector<Member> random_members(const std::string& element, std::size_t count,
                                   std::uint64_t seed) {
  oracle::Random random(seed);
  std::vector<Member> members;
  while (members.size() < count)
    members.push_back(random_member(random, element));
  return members;
}

std::vector<TensorSpec> inputs_of(const std::vector<Member>& members) {
  std::vector<TensorSpec> specs;
  for (const Member& member : members)
    specs.push_back(member.input);
  return specs;
}

std::vector<TensorSpec> outputs_of(const std::vector<Member>& members) {
  std::vector<TensorSpec> specs;
  for (const Member& member : members)
    specs.push_back(member.output);
  return specs;
}

std::string set_caps(const std::vector<TensorSpec>& specs,
                     const std::vector<std::uint64_t>& offsets, const char* more) {
  std::string text =
      "application/vnd.simaai.tensor-set" + std::string(more) + ",tensors=(structure)<";
  for (std::size_t i = 0; i < specs.size(); ++i) {
    text += (i != 0 ? ",[" : "[") + caps_of(specs[i]);
    if (!offsets.empty())
      text += ",offset=(gint64)" + std::to_string(offsets[i]);
    text += "]";
  }
  return text + ">";
}

SetSample::SetSample(const std::vector<Member>& members, std::uint64_t seed)
    : specs(outputs_of(members)) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    const auto values =
        oracle::random_tensor(member.input.shape, member.input.dtype, seed * 100 + i);
    inputs.push_back(physical(values, member.input.layout, 0x5a));
    const bool is_int8 = member.output.dtype == DType::Int8;
    outputs.push_back(physical(oracle::convert(values, member.output.dtype), member.output.layout,
                               is_int8 ? static_cast<std::uint8_t>(kFill) : 0));
  }
}

bool SetSample::is_output(std::size_t index, const Bytes& found) const {
  if (found.size() != outputs[index].size())
    return false;
  if (!std::holds_alternative<Strided>(specs[index].layout))
    return found == outputs[index];
  return logical(found, specs[index]).bits == logical(outputs[index], specs[index]).bits;
}

std::vector<std::uint64_t> offsets_of(const std::vector<Bytes>& parts, std::uint64_t spacing,
                                      std::uint64_t start) {
  std::vector<std::uint64_t> offsets;
  for (const Bytes& part : parts) {
    start = (start + spacing - 1) / spacing * spacing;
    offsets.push_back(start);
    start += part.size();
  }
  return offsets;
}

std::vector<std::uint64_t> packed_offsets(const std::vector<Bytes>& parts) {
  return offsets_of(parts, 1);
}

GstMemory* memory_of(const Bytes& bytes, GstAllocator* allocator) {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 63;
  GstMemory* memory =
      gst_allocator_alloc(allocator, std::max<std::size_t>(bytes.size(), 1), &params);
  GstMapInfo map;
  if (gst_memory_map(memory, &map, GST_MAP_WRITE) == FALSE)
    g_error("memory cannot be mapped");
  std::copy(bytes.begin(), bytes.end(), map.data);
  gst_memory_unmap(memory, &map);
  if (bytes.empty())
    gst_memory_resize(memory, 0, 0);
  return memory;
}

GstPtr<GstBuffer> separate(const std::vector<Bytes>& parts, GstAllocator* allocator) {
  GstPtr<GstBuffer> buffer(gst_buffer_new());
  for (const Bytes& part : parts)
    gst_buffer_append_memory(buffer.get(), memory_of(part, allocator));
  return buffer;
}

GstPtr<GstBuffer> together(const std::vector<Bytes>& parts,
                           const std::vector<std::uint64_t>& offsets, GstAllocator* allocator) {
  Bytes whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    whole.resize(std::max<std::size_t>(whole.size(), offsets[i] + parts[i].size()), 0xee);
    std::copy(parts[i].begin(), parts[i].end(),
              whole.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
  }
  GstPtr<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), memory_of(whole, allocator));
  return buffer;
}

Bytes memory_bytes(GstBuffer* buffer, guint index) {
  const gst::MapGuard map(gst_buffer_peek_memory(buffer, index), GST_MAP_READ);
  if (!map)
    g_error("memory cannot be mapped");
  return Bytes(map.data(), map.data() + map.size());
}

} // namespace simaai::test
