// SPDX-License-Identifier: LGPL-2.1-or-later
// Command-line arguments of simaai-oracle.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor.h"
#include "tiles.h"

namespace simaai::oracle {

/// Positional arguments and `--name value` pairs; `--cblocked` takes no value. Every getter throws
/// std::invalid_argument that names the option.
class Options {
public:
  explicit Options(std::span<const std::string> arguments);

  [[nodiscard]] const std::string& positional(std::size_t index, std::string_view what) const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t absent) const;
  [[nodiscard]] kernels::Shape shape(std::string_view name) const;
  [[nodiscard]] kernels::DType dtype(std::string_view name) const;
  /// Contiguous where the option is absent.
  [[nodiscard]] kernels::Layout linear_layout(std::string_view name) const;
  /// From --axes, --tile and --storage, or --tile and --cblocked.
  [[nodiscard]] kernels::Layout tiled_layout() const;
  [[nodiscard]] std::uint8_t byte(std::string_view name) const;
  /// Throws where an option was given that no getter asked for, or too many positional arguments.
  void expect_all_used(std::size_t positional_count) const;

private:
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] std::vector<std::int64_t> list(std::string_view name) const;

  std::vector<std::string> positional_;
  std::map<std::string, std::string, std::less<>> named_;
  mutable std::map<std::string, bool, std::less<>> used_;
};

std::string_view dtype_name(kernels::DType dtype);

} // namespace simaai::oracle
