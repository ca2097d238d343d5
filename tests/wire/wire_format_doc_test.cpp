// SPDX-License-Identifier: LGPL-2.1-or-later
// The byte blocks of docs/wire-format.md against the oracle (layouts) and the codec (packets).
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/detesscast.h>

#include "oracle/linear.h"
#include "oracle/tiles.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Shape;
using kernels::TensorSpec;

/// One block of the page; an empty optional is a gap.
struct Block {
  std::size_t from = 0;
  std::vector<std::optional<std::uint8_t>> bytes;
};

/// The byte or gap of "0f" or "--"; none where the word is a remark.
bool read_value(const std::string& word, std::optional<std::uint8_t>& value) {
  if (word.size() != 2)
    return false;
  value.reset();
  if (word == "--")
    return true;
  if (word.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  value = static_cast<std::uint8_t>(std::stoul(word, nullptr, 16));
  return true;
}

/// Adds the bytes of "00 01*3 --", up to the first word that is no byte.
void add_bytes(std::istream& words, Block& block) {
  std::optional<std::uint8_t> value;
  for (std::string word; words >> word;) {
    const std::size_t star = word.find('*');
    if (!read_value(word.substr(0, star), value))
      return;
    const std::size_t times = star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
    block.bytes.insert(block.bytes.end(), times, value);
  }
}

/// Blocks start with "```hex NAME" or "```hex NAME from OFFSET" and have rows "OFFSET: BYTES".
std::map<std::string, Block> read_page() {
  std::ifstream page(SIMAAI_WIRE_FORMAT_PAGE);
  if (!page)
    throw std::runtime_error("no page");
  std::map<std::string, Block> blocks;
  Block* open = nullptr;
  for (std::string line; std::getline(page, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "```hex") {
      std::string name;
      std::string from;
      words >> name >> from;
      open = &blocks[name];
      if (from == "from")
        words >> open->from;
    } else if (first == "```") {
      open = nullptr;
    } else if (open != nullptr) {
      if (first != std::to_string(open->bytes.size()) + ":")
        throw std::runtime_error("wrong offset: " + line);
      add_bytes(words, *open);
    }
  }
  return blocks;
}

class WireFormatPage : public ::testing::Test {
protected:
  /// The page's block equals `found` from the block's start to the end.
  void expect(const std::string& name, const std::vector<std::uint8_t>& found) {
    ASSERT_EQ(blocks_.count(name), 1U) << name;
    const Block& block = blocks_[name];
    ASSERT_EQ(block.from + block.bytes.size(), found.size()) << name;
    for (std::size_t at = 0; at < block.bytes.size(); ++at) {
      const std::uint8_t byte = found[block.from + at];
      EXPECT_EQ(block.bytes[at].value_or(byte), byte) << name << " at " << at;
    }
    blocks_.erase(name);
  }

  std::map<std::string, Block> blocks_ = read_page();
};

/// bfloat16 of shape h, w, c; each element says where it is.
oracle::Tensor telling(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
  oracle::Tensor tensor{{rows, columns, channels}, DType::BFloat16, {}};
  for (std::int64_t h = 0; h < rows; ++h)
    for (std::int64_t w = 0; w < columns; ++w)
      for (std::int64_t c = 0; c < channels; ++c)
        tensor.bits.push_back(static_cast<std::uint32_t>(h << 12 | w << 8 | c));
  return tensor;
}

MlaTiled hwc_tiles(std::int64_t h, std::int64_t w, std::int64_t c, ChannelStorage channels) {
  return {{-1, 0, 1, 2}, {1, h, w, c}, channels};
}

std::vector<std::uint8_t> bytes_of(std::span<const std::byte> packet) {
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : packet)
    bytes.push_back(std::to_integer<std::uint8_t>(byte));
  return bytes;
}

TEST_F(WireFormatPage, EveryBlockIsTrue) {
  const auto small = telling(1, 2, 3);
  std::vector<std::uint8_t> linear(12);
  oracle::scatter(small, kernels::Contiguous{}, linear.data());
  expect("contiguous", linear);
  const kernels::Strided pitched{{16, 8, 2}};
  std::vector<std::uint8_t> strided(oracle::linear_span(small.shape, small.dtype, pitched));
  oracle::scatter(small, pitched, strided.data());
  expect("strided", strided);

  const auto image = telling(2, 3, 5);
  expect("tiled-compact", oracle::tile(image, hwc_tiles(2, 2, 4, ChannelStorage::Compact)));
  expect("tiled-pad16", oracle::tile(image, hwc_tiles(2, 2, 4, ChannelStorage::PadTo16)));

  oracle::Tensor narrow{{3, 5}, DType::Int8, {}};
  for (std::uint32_t w = 0; w < 3; ++w)
    for (std::uint32_t c = 0; c < 5; ++c)
      narrow.bits.push_back(w << 4 | c);
  const MlaTiled wc{{-1, -1, 0, 1}, {1, 1, 2, 4}, ChannelStorage::PadTo16};
  expect("tiled-int8", oracle::tile(narrow, wc, {.channel = 0x80}));

  const auto deep = telling(1, 2, 18);
  expect("cblocked", oracle::tile(deep, MlaCBlocked{{1, 1, 2, 18}}));
  expect("cblocked-as-pad16", oracle::tile(deep, hwc_tiles(1, 2, 18, ChannelStorage::PadTo16)));

  namespace cast = kernels::ev74::cast;
  const TensorSpec floats{{2, 3}, DType::Float32};
  const TensorSpec halves{{2, 3}, DType::BFloat16};
  const auto cast_plan =
      std::get<cast::Plan>(cast::check_inference(cast::Request{{&floats, 1}, {&halves, 1}}));
  expect(
      "packet-cast",
      bytes_of(
          std::get<kernels::ev74::RelocatablePacket>(cast::encode_relocatable(cast_plan)).bytes()));

  namespace detesscast = kernels::ev74::detesscast;
  const TensorSpec tiled{
      {2, 3}, DType::BFloat16, MlaTiled{{-1, -1, 0, 1}, {1, 1, 2, 3}, ChannelStorage::Compact}};
  const auto invocation = [&tiled](const TensorSpec& output) {
    const auto plan = std::get<detesscast::Plan>(
        detesscast::check_inference(detesscast::Request{{&tiled, 1}, {&output, 1}}));
    return bytes_of(std::get<kernels::ev74::Invocation>(
                        detesscast::encode(plan, {0x1000, 4096}, {0x2000, 4096}))
                        .bytes());
  };
  expect("packet-detesscast", invocation(floats));
  const auto long_packet =
      invocation(TensorSpec{{2, 3}, DType::Float32, kernels::Strided{{64, 4}}});
  expect("packet-detesscast-strided", long_packet);
  EXPECT_EQ(long_packet[12], 1);
  EXPECT_EQ(long_packet[48], 76);
  EXPECT_TRUE(blocks_.empty()) << blocks_.begin()->first << " is checked by nobody";
}

} // namespace
} // namespace simaai::test
