// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsing of simaai-oracle arguments.
#include "options.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace simaai::oracle {

using kernels::DType;
using kernels::Layout;

namespace {

constexpr DType kDTypes[] = {DType::Int8,    DType::UInt8,    DType::Int32,
                             DType::Float16, DType::BFloat16, DType::Float32};

std::int64_t parse_integer(std::string_view name, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument("--" + std::string(name) + ": '" + std::string(text) +
                                "' is not an integer");
  return value;
}

template <class T>
std::array<T, 4> quad(std::string_view name, std::span<const std::int64_t> list) {
  if (list.size() != 4)
    throw std::invalid_argument("--" + std::string(name) + " takes four integers: D,H,W,C");
  std::array<T, 4> values{};
  for (std::size_t i = 0; i < 4; ++i)
    values[i] = static_cast<T>(list[i]);
  return values;
}

} // namespace

std::string_view dtype_name(DType dtype) {
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
  return "unknown";
}

Options::Options(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) {
      positional_.push_back(argument);
      continue;
    }
    const std::string name = argument.substr(2);
    if (name == "cblocked") {
      named_[name] = "";
    } else if (i + 1 < arguments.size()) {
      named_[name] = arguments[++i];
    } else {
      throw std::invalid_argument(argument + " needs a value");
    }
  }
}

const std::string& Options::positional(std::size_t index, std::string_view what) const {
  if (index >= positional_.size())
    throw std::invalid_argument("missing argument: " + std::string(what));
  return positional_[index];
}

bool Options::has(std::string_view name) const {
  used_[std::string(name)] = true;
  return named_.find(name) != named_.end();
}

const std::string& Options::text(std::string_view name) const {
  if (!has(name))
    throw std::invalid_argument("--" + std::string(name) + " is missing");
  return named_.find(name)->second;
}

std::vector<std::int64_t> Options::list(std::string_view name) const {
  std::vector<std::int64_t> values;
  std::string_view rest = text(name);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    values.push_back(parse_integer(name, rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return values;
}

std::int64_t Options::integer(std::string_view name, std::int64_t absent) const {
  return has(name) ? parse_integer(name, text(name)) : absent;
}

kernels::Shape Options::shape(std::string_view name) const {
  const kernels::Shape shape{std::span<const std::int64_t>(list(name))};
  element_count(shape);
  return shape;
}

DType Options::dtype(std::string_view name) const {
  for (const DType dtype : kDTypes)
    if (dtype_name(dtype) == text(name))
      return dtype;
  throw std::invalid_argument("--" + std::string(name) + ": unknown dtype '" + text(name) + "'");
}

Layout Options::linear_layout(std::string_view name) const {
  if (!has(name))
    return kernels::Contiguous{};
  const std::vector<std::int64_t> strides = list(name);
  if (strides.size() > kernels::kMaxRank)
    throw std::invalid_argument("--" + std::string(name) + ": more than six strides");
  if (std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s < 0; }))
    throw std::invalid_argument("--" + std::string(name) + ": a stride is negative");
  kernels::Strided layout;
  std::copy(strides.begin(), strides.end(), layout.strides_bytes.begin());
  return layout;
}

Layout Options::tiled_layout() const {
  const auto tile_shape = quad<std::int64_t>("tile", list("tile"));
  if (has("cblocked"))
    return kernels::MlaCBlocked{tile_shape};
  kernels::MlaTiled layout{quad<std::int32_t>("axes", list("axes")), tile_shape};
  const std::string& storage = text("storage");
  if (storage != "compact" && storage != "pad16")
    throw std::invalid_argument("--storage is compact or pad16, not '" + storage + "'");
  if (storage == "pad16")
    layout.channels = kernels::ChannelStorage::PadTo16;
  return layout;
}

std::uint8_t Options::byte(std::string_view name) const {
  const std::int64_t value = integer(name, 0);
  if (value < -128 || value > 255)
    throw std::invalid_argument("--" + std::string(name) + " is a byte: -128 to 255");
  return static_cast<std::uint8_t>(value);
}

void Options::expect_all_used(std::size_t positional_count) const {
  if (positional_.size() > positional_count)
    throw std::invalid_argument("unexpected argument: " + positional_[positional_count]);
  for (const auto& [name, value] : named_)
    if (used_.find(name) == used_.end())
      throw std::invalid_argument("unexpected option: --" + name);
}

} // namespace simaai::oracle
