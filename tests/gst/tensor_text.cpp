// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps text and physical bytes of a tensor.
#include "tensor_text.h"

#include "oracle/linear.h"
#include "oracle/tiles.h"

namespace simaai::test {
namespace {

using namespace kernels;

const char* word(DType dtype) {
  switch (dtype) {
  case DType::Int8:
    return "int8";
  case DType::UInt8:
    return "uint8";
  case DType::Int32:
    return "int32";
  case DType::Float16:
    return "float16";
  case DType::BFloat16:
    return "bfloat16";
  case DType::Float32:
    return "float32";
  }
  return "?";
}

template <class Range> std::string list(const Range& numbers) {
  std::string text = "<";
  for (const auto number : numbers)
    text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return text + ">";
}

struct LayoutText {
  const TensorSpec& spec;
  std::string operator()(const Contiguous&) const { return ",layout=contiguous"; }
  std::string operator()(const Strided& strided) const {
    const std::span strides(strided.strides_bytes.data(), spec.shape.rank());
    return ",layout=strided,strides=(gint64)" + list(strides);
  }
  std::string operator()(const MlaTiled& tiled) const {
    return ",layout=mla-tiled,tile-axes=" + list(tiled.axes) +
           ",tile-shape=" + list(tiled.tile_shape) +
           ",channel-storage=" + (tiled.channels == ChannelStorage::Compact ? "compact" : "pad16");
  }
  std::string operator()(const MlaCBlocked& blocked) const {
    return ",layout=mla-cblocked,tile-shape=" + list(blocked.tile_shape);
  }
};

bool is_linear(const Layout& layout) {
  return std::holds_alternative<Contiguous>(layout) || std::holds_alternative<Strided>(layout);
}

} // namespace

std::string caps_of(const TensorSpec& spec) {
  return std::string("application/vnd.simaai.tensor,dtype=") + word(spec.dtype) +
         ",shape=" + list(spec.shape.extents()) + std::visit(LayoutText{spec}, spec.layout);
}

oracle::Bytes physical(const oracle::Tensor& tensor, const Layout& layout,
                       std::uint8_t channel_padding, std::uint8_t poison) {
  if (!is_linear(layout))
    return oracle::tile(tensor, layout, {channel_padding, 0});
  oracle::Bytes bytes(oracle::linear_span(tensor.shape, tensor.dtype, layout), poison);
  oracle::scatter(tensor, layout, bytes.data());
  return bytes;
}

oracle::Tensor logical(const oracle::Bytes& bytes, const TensorSpec& spec) {
  if (is_linear(spec.layout))
    return oracle::gather(bytes.data(), spec.shape, spec.dtype, spec.layout);
  return oracle::untile(bytes, spec.shape, spec.dtype, spec.layout);
}

MlaTiled tiled(std::array<std::int32_t, 4> axes, std::array<std::int64_t, 4> tile,
               ChannelStorage channels) {
  return {axes, tile, channels};
}

} // namespace simaai::test
