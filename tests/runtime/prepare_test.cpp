// SPDX-License-Identifier: LGPL-2.1-or-later
// One request, either backend: the same admission, the codec's packet, the A65's bytes.
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/ev74/casttess.h>
#include <simaai/kernels/ev74/detess.h>
#include <simaai/kernels/ev74/tess.h>
#include <simaai/runtime/prepare.h>

#include "jobs.h"

namespace simaai::runtime::test {
namespace {

namespace k = kernels;

const k::MlaTiled kTiles{{-1, 0, 1, 2}, {1, 2, 2, 16}, k::ChannelStorage::PadTo16};

/// Checks admission of a good request on both backends and of a bad one on neither.
template <class Request>
void check_both(const k::TensorSpec& input, const k::TensorSpec& output, std::uint16_t operation) {
  Request request;
  request.inputs = {&input, 1};
  request.outputs = {&output, 1};
  const Plan ev74 = take(prepare(request, Backend::Ev74));
  const Plan a65 = take(prepare(request, Backend::A65));
  EXPECT_EQ(ev74.backend(), Backend::Ev74);
  EXPECT_EQ(a65.backend(), Backend::A65);
  EXPECT_EQ(a65.packet(), nullptr);
  ASSERT_NE(ev74.packet(), nullptr);
  EXPECT_EQ(k::ev74::packet_head(*ev74.packet()).operation, operation);
  EXPECT_EQ(ev74.ports().input_requirement(), a65.ports().input_requirement());
  EXPECT_EQ(ev74.ports().output(), output);
  EXPECT_NE(packet_text(ev74).find("verdict: valid, waits"), std::string::npos);
  EXPECT_EQ(packet_text(a65), "");
  EXPECT_EQ(code_of(execute(ev74, {}, {})), ErrorCode::WrongBackend);

  request.outputs = {};
  for (const Backend backend : {Backend::A65, Backend::Ev74}) {
    const auto refused = prepare(request, backend);
    ASSERT_EQ(code_of(refused), ErrorCode::Kernel);
    EXPECT_EQ(std::get<Error>(refused).kernel.code, k::ErrorCode::WrongOutputCount);
  }
}

TEST(Prepare, AdmitsEachOperationForBothBackends) {
  const k::TensorSpec floats{{3, 3, 5}, k::DType::Float32};
  const k::TensorSpec halves{{3, 3, 5}, k::DType::BFloat16};
  const k::TensorSpec tiles{{3, 3, 5}, k::DType::BFloat16, kTiles};
  check_both<k::ops::cast::Request>(floats, halves, 1);
  check_both<k::ops::tess::Request>(halves, tiles, 2);
  check_both<k::ops::casttess::Request>(floats, tiles, 3);
  check_both<k::ops::detess::Request>(tiles, halves, 4);
  check_both<k::ops::detesscast::Request>(tiles, floats, 5);
}

TEST(Prepare, GivesThePacketOfTheCodec) {
  const k::TensorSpec input{{3, 3, 5}, k::DType::Int8};
  const k::TensorSpec output{{3, 3, 5}, k::DType::Int8, kTiles};
  const k::ops::tess::Request request{{&input, 1}, {&output, 1}, {std::int8_t{-7}}};
  const Plan plan = take(prepare(request, Backend::Ev74));
  const auto admitted = k::ops::tess::check_inference(request);
  const auto encoded = k::ev74::tess::encode_relocatable(std::get<k::ops::tess::Plan>(admitted));
  const auto expected = std::get<k::ev74::RelocatablePacket>(encoded).bytes();
  const auto found = plan.packet()->bytes();
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size()), 0);
  EXPECT_EQ(found[20], std::byte{0xf9});
}

TEST(Prepare, AddsOnlyTheDevicesOwnLimits) {
  // 2^31 elements: more than a packet can say, and nothing that A65 minds.
  const k::TensorSpec input{{std::int64_t{1} << 31}, k::DType::Float32};
  const k::TensorSpec output{{std::int64_t{1} << 31}, k::DType::BFloat16};
  const k::ops::cast::Request request{{&input, 1}, {&output, 1}};
  EXPECT_EQ(take(prepare(request, Backend::A65)).backend(), Backend::A65);
  const auto refused = prepare(request, Backend::Ev74);
  ASSERT_EQ(code_of(refused), ErrorCode::Kernel);
  EXPECT_EQ(std::get<Error>(refused).kernel.code, k::ErrorCode::ExtentTooLarge);
}

TEST(Prepare, TakesEmptyTensors) {
  for (const Backend backend : {Backend::A65, Backend::Ev74}) {
    const Plan plan = cast_plan(0, backend);
    EXPECT_TRUE(plan.empty());
    EXPECT_EQ(plan.packet(), nullptr);
    EXPECT_EQ(plan.backend(), backend);
  }
  EXPECT_TRUE(execute(cast_plan(0, Backend::A65), {}, {}).ok());
}

TEST(Prepare, ExecutesOnTheHost) {
  // 1.0, -2.5, a tie that rounds to even, a NaN payload that survives in its upper half.
  const std::vector<std::uint32_t> source{0x3f800000, 0xc0200000, 0x3f808000, 0x7fc12345};
  std::vector<std::uint16_t> destination(4);
  const Plan plan = cast_plan(4, Backend::A65);
  EXPECT_TRUE(execute(plan, {source.data(), 16}, {destination.data(), 8}).ok());
  EXPECT_EQ(destination, (std::vector<std::uint16_t>{0x3f80, 0xc020, 0x3f80, 0x7fc1}));
  const Status refused = execute(plan, {source.data(), 15}, {destination.data(), 8});
  ASSERT_EQ(code_of(refused), ErrorCode::Kernel);
  EXPECT_EQ(refused.error().kernel.code, k::ErrorCode::BufferTooSmall);
  EXPECT_EQ(refused.message(), refused.error().kernel.message());
}

} // namespace
} // namespace simaai::runtime::test
