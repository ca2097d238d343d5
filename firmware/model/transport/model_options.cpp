// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of a modelled device.
#include "firmware/model/transport/model_options.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "wire/packet.h"

namespace simaai::model {
namespace {

constexpr std::uint64_t kMaxWorkers = 4;
constexpr std::uint64_t kMaxLatencyUs = 60'000'000;

template <class Integer>
bool read_number(std::string_view text, std::uint64_t least, std::uint64_t most,
                 Integer& out) noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stop != end || value < least || value > most)
    return false;
  out = static_cast<Integer>(value);
  return true;
}

/// Reads one of two words.
template <class Choice>
bool read_word(std::string_view text, std::string_view first, Choice first_value,
               std::string_view second, Choice second_value, Choice& out) noexcept {
  if (text != first && text != second)
    return false;
  out = text == first ? first_value : second_value;
  return true;
}

using Reader = bool (*)(std::string_view, ModelConfig&) noexcept;
struct Option {
  std::string_view name;
  Reader read;
};

constexpr std::array kOptions{
    Option{"workers",
           [](std::string_view text, ModelConfig& config) noexcept {
             return read_number(text, 1, kMaxWorkers, config.workers);
           }},
    Option{"dma",
           [](std::string_view text, ModelConfig& config) noexcept {
             return read_word(text, "immediate", DmaEngine::Immediate, "deferred",
                              DmaEngine::Deferred, config.dma);
           }},
    Option{"seed",
           [](std::string_view text, ModelConfig& config) noexcept {
             return read_number(text, 0, UINT64_MAX, config.seed);
           }},
    Option{"latency-us",
           [](std::string_view text, ModelConfig& config) noexcept {
             return read_number(text, 0, kMaxLatencyUs, config.latency_us);
           }},
    Option{"checking",
           [](std::string_view text, ModelConfig& config) noexcept {
             return read_word(text, "bounds", Checking::Bounds, "full", Checking::Full,
                              config.checking);
           }},
    Option{"flags",
           [](std::string_view text, ModelConfig& config) noexcept {
             return read_number(text, 0, kernels::wire::kKnownFlags, config.supported_flags);
           }},
};

} // namespace

std::variant<ModelConfig, BadOption> parse_options(std::string_view text) noexcept {
  ModelConfig config;
  config.checking = Checking::Bounds;
  std::array<bool, kOptions.size()> seen{};
  std::size_t position = 0;
  while (position < text.size()) {
    const std::string_view rest = text.substr(position);
    const std::string_view item = rest.substr(0, rest.find(','));
    const std::size_t equals = item.find('=');
    bool taken = false;
    for (std::size_t i = 0; equals != std::string_view::npos && i < kOptions.size(); ++i) {
      if (item.substr(0, equals) != kOptions[i].name || seen[i])
        continue;
      seen[i] = true;
      taken = kOptions[i].read(item.substr(equals + 1), config);
    }
    if (!taken)
      return BadOption{position};
    position += item.size();
    if (position < text.size() && ++position == text.size())
      return BadOption{position}; // a comma at the end
  }
  return config;
}

} // namespace simaai::model
