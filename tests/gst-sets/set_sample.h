// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets of random tensors for each op element: caps as text, bytes, and buffers of every form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gst/gst.h>

#include <simaai/kernels/tensor_spec.h>

#include "common/gst_ptr.h"
#include "gst/element_harness.h"

namespace simaai::test {

inline constexpr std::int8_t kFill = -77; ///< int8-channel-padding of simaaitess

/// One tensor on both sides of an element.
struct Member {
  kernels::TensorSpec input;
  kernels::TensorSpec output;
};

/// Tensors of mixed ranks, dtypes and layouts that the element takes.
std::vector<Member> random_members(const std::string& element, std::size_t count,
                                   std::uint64_t seed);

std::vector<kernels::TensorSpec> inputs_of(const std::vector<Member>& members);
std::vector<kernels::TensorSpec> outputs_of(const std::vector<Member>& members);

/// Caps as a person would write them; with an offset in each tensor where there are some.
std::string set_caps(const std::vector<kernels::TensorSpec>& specs,
                     const std::vector<std::uint64_t>& offsets = {}, const char* more = "");

/// What goes into an element, and what comes out.
struct SetSample {
  SetSample(const std::vector<Member>& members, std::uint64_t seed);
  std::vector<Bytes> inputs;
  std::vector<Bytes> outputs;
  std::vector<kernels::TensorSpec> specs; ///< of the outputs

  /// Whether these are the bytes of output `index`; gaps of strided storage may hold anything.
  [[nodiscard]] bool is_output(std::size_t index, const Bytes& found) const;
};

/// Offsets at multiples of `spacing`, behind `start`.
std::vector<std::uint64_t> offsets_of(const std::vector<Bytes>& parts, std::uint64_t spacing,
                                      std::uint64_t start = 0);
/// Where each part begins if they stand one behind the other.
std::vector<std::uint64_t> packed_offsets(const std::vector<Bytes>& parts);

/// A memory aligned to 64 bytes, of the allocator, null for the system's.
GstMemory* memory_of(const Bytes& bytes, GstAllocator* allocator = nullptr);
/// A memory for each part.
gst::GstPtr<GstBuffer> separate(const std::vector<Bytes>& parts, GstAllocator* allocator = nullptr);
/// One memory with each part at its offset.
gst::GstPtr<GstBuffer> together(const std::vector<Bytes>& parts,
                                const std::vector<std::uint64_t>& offsets,
                                GstAllocator* allocator = nullptr);
/// The bytes of one memory.
Bytes memory_bytes(GstBuffer* buffer, guint index);

} // namespace simaai::test
