// SPDX-License-Identifier: LGPL-2.1-or-later
// One measured case: two tensor specs, the traffic between them and what the table says about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::bench {

/// How the tiled side stores channels.
enum class Storage : std::uint8_t { None, Compact, Pad16, CBlocked };

/// Layout of the linear side. The last three are the strided patterns.
enum class Linear : std::uint8_t {
  Dense,   ///< row-major without gaps
  Pitched, ///< rows start at multiples of 64 bytes with a gap of at least 64 bytes between them
  Planar,  ///< channels outside height and width
  Spread,  ///< every second scalar: channel stride of twice the scalar width
};

/// Hot: one set of buffers, used again by every call. Cold: sets far beyond the last-level cache.
enum class Cache : std::uint8_t { Hot, Cold };

struct Case {
  std::string name; ///< operation/shape/from-to/storage/linear/cache
  kernels::TensorSpec input;
  kernels::TensorSpec output;
  Cache cache = Cache::Hot;
  Linear linear = Linear::Dense;
  Storage storage = Storage::None;
  std::int8_t fill = 0; ///< INT8 channel padding
  // Derived by finish_case().
  std::uint64_t read_bytes = 0;  ///< logical payload of a linear side, all bytes of a tiled side
  std::uint64_t write_bytes = 0; ///< same
  std::uint64_t input_span = 0;  ///< bytes from the first to the last one that the input needs
  std::uint64_t output_span = 0;

  [[nodiscard]] std::uint64_t traffic_bytes() const noexcept { return read_bytes + write_bytes; }
  /// The copy with as many bytes read plus written as the case.
  [[nodiscard]] std::uint64_t copy_bytes() const noexcept { return traffic_bytes() / 2; }
};

[[nodiscard]] std::string_view dtype_name(kernels::DType dtype) noexcept;
[[nodiscard]] std::string_view storage_name(Storage storage) noexcept;
[[nodiscard]] std::string_view linear_name(Linear linear) noexcept;
[[nodiscard]] std::string_view cache_name(Cache cache) noexcept;

/// Elements of a shape.
[[nodiscard]] std::uint64_t element_count(const kernels::Shape& shape) noexcept;

/// True where the layout is MlaTiled or MlaCBlocked.
[[nodiscard]] bool is_tiled(const kernels::TensorSpec& spec) noexcept;

/// The tiled side of a case, or null for linear to linear.
[[nodiscard]] const kernels::TensorSpec* tiled_side(const Case& bench_case) noexcept;

/// Channels: extent of the tiled side's C axis, of the last axis without a tiled side.
[[nodiscard]] std::int64_t channel_count(const Case& bench_case) noexcept;

/// `shape` as a linear tensor. Planar and Spread need rank three or more.
[[nodiscard]] kernels::TensorSpec linear_spec(const kernels::Shape& shape, kernels::DType dtype,
                                              Linear linear);

/// The tensor of `row` (tiled) with other dtype and storage; empty where channel blocks cannot
/// express its axes.
[[nodiscard]] std::optional<kernels::TensorSpec> tiled_spec(const kernels::TensorSpec& row,
                                                            kernels::DType dtype, Storage storage);

/// Derives bytes and the name. Throws std::runtime_error for a spec that the library refuses.
void finish_case(std::string_view operation, std::string_view shape_name, Case* bench_case);

} // namespace simaai::bench
