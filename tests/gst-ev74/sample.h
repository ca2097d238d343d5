// SPDX-License-Identifier: LGPL-2.1-or-later
// A cast with data in memory of a device, for tests of the backend ev74.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gst/gst.h>

#include "common/fd_memory.h"
#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"

namespace simaai::test {

/// Names and values of an element's properties.
using Properties = std::vector<std::pair<const char*, const char*>>;

inline const kernels::TensorSpec kInput{{1, 9, 7, 5}, kernels::DType::Float32};
inline constexpr std::size_t kInputBytes = 9 * 7 * 5 * 4;

struct Sample {
  explicit Sample(std::uint64_t seed = 1)
      : values(oracle::random_tensor(kInput.shape, kInput.dtype, seed)),
        input(physical(values, kernels::Contiguous{})),
        output(physical(oracle::convert(values, kernels::DType::BFloat16), kernels::Contiguous{})) {
  }
  oracle::Tensor values;
  Bytes input;
  Bytes output;
};

/// A buffer on memory of a device, from the element's own kind of allocator, behind `offset` unused bytes.
inline gst::GstPtr<GstBuffer> fd_buffer(const Bytes& bytes, std::size_t offset = 0) {
  const auto allocator = gst::new_fd_allocator();
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.prefix = offset;
  gst::GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(allocator.get(), bytes.size(), &params));
  gst_buffer_fill(buffer.get(), 0, bytes.data(), bytes.size());
  return buffer;
}

inline std::string field(const gst::GstPtr<GstStructure>& structure, const char* name) {
  const gchar* text = structure ? gst_structure_get_string(structure.get(), name) : nullptr;
  return text != nullptr ? text : "";
}

inline std::string text_stat(ElementHarness& harness, const char* name) {
  GstStructure* raw = nullptr;
  g_object_get(harness.element(), "stats", &raw, nullptr);
  return field(gst::GstPtr<GstStructure>(raw), name);
}

} // namespace simaai::test
