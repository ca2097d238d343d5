// SPDX-License-Identifier: LGPL-2.1-or-later
// oneDNN's reorder, on one thread. Its nChw16c holds blocks of sixteen channels of whole planes: as
// many bytes as PadTo16 tiles, in another order, so its result is checked against that order.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "oracle/linear.h"
#include "oracle/numerics.h"
#include "peers.h"

namespace simaai::bench {

using kernels::DType;
using kernels::TensorSpec;

namespace {

constexpr std::uint64_t kBlock = 16;

/// N, H*W and C of a case whose channels are the last axis.
struct Planes {
  std::uint64_t pixels;
  std::uint64_t channels;
  [[nodiscard]] std::uint64_t blocks() const { return (channels + kBlock - 1) / kBlock; }
  [[nodiscard]] std::uint64_t blocked_elements() const { return blocks() * kBlock * pixels; }
};

Planes planes_of(const Case& bench_case) {
  const auto channels = static_cast<std::uint64_t>(channel_count(bench_case));
  return {element_count(bench_case.input.shape) / channels, channels};
}

/// Channels last, and one image: outer axes would need one blocked tensor each.
bool is_image(const Case& bench_case) {
  const TensorSpec& tiled = *tiled_side(bench_case);
  const std::size_t last = tiled.shape.rank() - 1;
  if (const auto* layout = std::get_if<kernels::MlaTiled>(&tiled.layout)) {
    if (layout->axes[3] != static_cast<std::int32_t>(last))
      return false;
    for (std::size_t axis = 0; axis < last; ++axis)
      if (tiled.shape[axis] != 1 &&
          std::find(layout->axes.begin(), layout->axes.end(), static_cast<std::int32_t>(axis)) ==
              layout->axes.end())
        return false;
  }
  return true;
}

bool same_size(const Case& bench_case, const Planes& planes) {
  const TensorSpec& tiled = *tiled_side(bench_case);
  const std::uint64_t ours =
      is_tiled(bench_case.input) ? bench_case.input_span : bench_case.output_span;
  const std::uint64_t theirs = planes.blocked_elements() * kernels::scalar_bytes(tiled.dtype);
  return theirs >= ours && (theirs - ours) * 20 <= ours;
}

dnnl::memory::data_type data_type(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return dnnl::memory::data_type::f32;
  case DType::Float16:
    return dnnl::memory::data_type::f16;
  case DType::BFloat16:
    return dnnl::memory::data_type::bf16;
  case DType::Int8:
    return dnnl::memory::data_type::s8;
  case DType::UInt8:
    return dnnl::memory::data_type::u8;
  case DType::Int32:
    return dnnl::memory::data_type::s32;
  }
  return dnnl::memory::data_type::undef;
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::desc port(const Case& bench_case, const TensorSpec& spec) {
  const Planes planes = planes_of(bench_case);
  // One row of all pixels: the longest inner loop that oneDNN can get.
  const dnnl::memory::dims dims{1, static_cast<std::int64_t>(planes.channels), 1,
                                static_cast<std::int64_t>(planes.pixels)};
  return {dims, data_type(spec.dtype),
          is_tiled(spec) ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nhwc};
}

dnnl::reorder::primitive_desc reorder_of(const Case& bench_case) {
  omp_set_num_threads(1);
  return {cpu_engine(),           port(bench_case, bench_case.input),
          cpu_engine(),           port(bench_case, bench_case.output),
          dnnl::primitive_attr(), true};
}

/// oneDNN names the code that it would run. Its reference code goes element by element, hundreds of
/// times slower than memcpy: no peer, and a run would spend most of its time there. Bfloat16 has
/// other code on AVX-512 only.
bool is_reference_code(const dnnl::reorder::primitive_desc& reorder) {
  const std::string_view name = reorder.impl_info_str();
  return name.starts_with("simple") || name.starts_with("ref");
}

/// Position of an element in nChw16c.
std::uint64_t blocked_index(const Planes& planes, std::uint64_t pixel, std::uint64_t channel) {
  return ((channel / kBlock) * planes.pixels + pixel) * kBlock + channel % kBlock;
}

std::uint32_t load(const std::uint8_t* from, std::uint64_t index, std::uint32_t width) {
  std::uint32_t bits = 0;
  for (std::uint32_t byte = 0; byte < width; ++byte)
    bits |= std::uint32_t{from[index * width + byte]} << (8 * byte);
  return bits;
}

void store(std::uint8_t* to, std::uint64_t index, std::uint32_t width, std::uint32_t bits) {
  for (std::uint32_t byte = 0; byte < width; ++byte)
    to[index * width + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
}

class OneDnn final : public Candidate {
public:
  explicit OneDnn(const Case& bench_case)
      : stream_(cpu_engine()), source_(port(bench_case, bench_case.input)),
        target_(port(bench_case, bench_case.output)), reorder_(reorder_of(bench_case)) {}

  void bind(const Ring& ring) override {
    arguments_.clear();
    for (std::size_t index = 0; index < ring.size(); ++index) {
      const BufferSet& set = ring[index];
      if (set.input[0].capacity_bytes < source_.get_size() ||
          set.output[0].capacity_bytes < target_.get_size())
        throw std::runtime_error("the buffers are too small for oneDNN");
      arguments_.push_back(
          {{DNNL_ARG_FROM,
            dnnl::memory(source_, cpu_engine(), const_cast<void*>(set.input[0].data))},
           {DNNL_ARG_TO, dnnl::memory(target_, cpu_engine(), set.output[0].data)}});
    }
  }

  void run(const Ring& ring, std::size_t first, std::size_t calls) override {
    for (; calls != 0; --calls) {
      reorder_.execute(stream_, arguments_[first]);
      stream_.wait();
      benchmark::ClobberMemory();
      if (++first == ring.size())
        first = 0;
    }
  }

  [[nodiscard]] std::optional<Bytes> expected(const Case& bench_case, const std::uint8_t* input,
                                              const Bytes& before) const override;

private:
  dnnl::stream stream_;
  dnnl::memory::desc source_;
  dnnl::memory::desc target_;
  dnnl::reorder reorder_;
  std::vector<std::unordered_map<int, dnnl::memory>> arguments_;
};

std::optional<Bytes> OneDnn::expected(const Case& bench_case, const std::uint8_t* input,
                                      const Bytes& before) const {
  const TensorSpec& from = bench_case.input;
  const TensorSpec& to = bench_case.output;
  if (tiled_side(bench_case) == nullptr)
    return expected_by_contract(bench_case, input, before);
  const Planes planes = planes_of(bench_case);
  const std::uint32_t width = kernels::scalar_bytes(from.dtype);
  oracle::Tensor tensor{from.shape, from.dtype, {}};
  for (std::uint64_t pixel = 0; pixel < planes.pixels; ++pixel)
    for (std::uint64_t channel = 0; channel < planes.channels; ++channel)
      tensor.bits.push_back(load(input,
                                 is_tiled(from) ? blocked_index(planes, pixel, channel)
                                                : pixel * planes.channels + channel,
                                 width));
  const oracle::Tensor result = oracle::convert(tensor, to.dtype);
  const std::uint32_t result_width = kernels::scalar_bytes(to.dtype);
  Bytes bytes = before;
  if (is_tiled(to))
    std::fill_n(bytes.begin(), planes.blocked_elements() * result_width, std::uint8_t{0});
  for (std::uint64_t pixel = 0; pixel < planes.pixels; ++pixel)
    for (std::uint64_t channel = 0; channel < planes.channels; ++channel) {
      const std::uint64_t element = pixel * planes.channels + channel;
      store(bytes.data(), is_tiled(to) ? blocked_index(planes, pixel, channel) : element,
            result_width, result.bits[element]);
    }
  return bytes;
}

} // namespace

std::string onednn_refusal(const Case& bench_case) {
  if (bench_case.linear != Linear::Dense)
    return "no strided views";
  if (bench_case.input.dtype == DType::Float16)
    return "no float16 conversion";
  if (tiled_side(bench_case) != nullptr &&
      !(is_image(bench_case) && same_size(bench_case, planes_of(bench_case))))
    return "its blocked tensor has another size than these tiles";
  const dnnl::reorder::primitive_desc reorder = reorder_of(bench_case);
  if (!reorder)
    return "no such reorder";
  if (is_reference_code(reorder))
    return std::string("its code for this is the reference one, ") + reorder.impl_info_str();
  return {};
}

std::unique_ptr<Candidate> make_onednn(const Case& bench_case) {
  return std::make_unique<OneDnn>(bench_case);
}

} // namespace simaai::bench
