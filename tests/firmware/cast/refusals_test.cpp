// SPDX-License-Identifier: LGPL-2.1-or-later
// The Cast entry refuses by itself what the host should have refused.
#include <gtest/gtest.h>

#include "firmware/cast/cast_cases.h"
#include "firmware/model/entry_symbols.h"
#include "firmware/refusals.h"

namespace simaai::test {
namespace {

using kernels::DType;
using kernels::wire::EntryStatus;

TEST(CastRefusals, MalformedPacketsMoveNothing) {
  DeviceCase c(&encode_cast, cast_case({4, 3, 8}, DType::Float32, {128, 40, 4}, {64, 20, 2}));
  expect_malformed_packets_refused(c, &simaai_kernels_ev74_cast_v1);
}

TEST(CastRefusals, PacketsOfOtherOperationsAreNotThisEntrys) {
  kernels::MlaTiled tiled;
  tiled.axes = {-1, -1, 0, 1};
  tiled.tile_shape = {1, 1, 2, 3};
  const Case other{{{2, 3}, DType::BFloat16, {}}, {{2, 3}, DType::BFloat16, tiled}, {}, 1};
  DeviceCase c(&encode_tess, other);
  model::DeviceModel device(immediate(1));
  EXPECT_TRUE(c.run_leaves_output(device, &simaai_kernels_ev74_cast_v1));
  EXPECT_EQ(c.result().status, EntryStatus::WrongOperation);
}

/// Calls the entry with services that were changed first.
template <void (*Change)(Ev74Services&)>
std::uint32_t with_services(const void* packet, std::uint32_t bytes, const Ev74Services* services) {
  Ev74Services changed = *services;
  Change(changed);
  return simaai_kernels_ev74_cast_v1(packet, bytes, &changed);
}

void without_workers(Ev74Services& s) { s.workers = 0; }
void with_too_little_memory(Ev74Services& s) { s.local_bytes = 48 * 1024 - 1; }
void with_memory_refused(Ev74Services& s) {
  s.acquire_local = [](void*, std::uint32_t, std::uint32_t) -> void* { return nullptr; };
}
void with_reads_refused(Ev74Services& s) {
  s.dma_read = [](void*, std::uint32_t, const Ev74Transfer*, Ev74Ticket) { return Ev74Ticket{0}; };
}
void without_optional_ones(Ev74Services& s) {
  s.own = nullptr;
  s.touch = nullptr;
  s.report_route = nullptr;
}

EntryStatus status_with(Ev74Entry entry) {
  DeviceCase c(&encode_cast, cast_case({40}, DType::Float32));
  model::DeviceModel device(immediate(1));
  EXPECT_TRUE(c.run_leaves_output(device, entry));
  EXPECT_EQ(c.result().counters.dma_calls_in + c.result().counters.dma_calls_out, 0U);
  return c.result().status;
}

TEST(CastRefusals, ServicesMustOfferAWorkerAndTheSlots) {
  EXPECT_EQ(status_with(&with_services<&without_workers>), EntryStatus::NoWorker);
  EXPECT_EQ(status_with(&with_services<&with_too_little_memory>), EntryStatus::LocalMemory);
  EXPECT_EQ(simaai_kernels_ev74_cast_v1(nullptr, 208, nullptr),
            static_cast<std::uint32_t>(EntryStatus::NullArgument));
}

TEST(CastRefusals, WorkersWithoutLocalMemoryAreReported) {
  EXPECT_EQ(status_with(&with_services<&with_memory_refused>), EntryStatus::LocalMemory);
}

TEST(CastRefusals, RefusedTransfersAreReported) {
  EXPECT_EQ(status_with(&with_services<&with_reads_refused>), EntryStatus::TransferFault);
}

TEST(CastRefusals, OptionalServicesMayBeAbsent) {
  DeviceCase c(&encode_cast, cast_case({40}, DType::Float32));
  model::ModelConfig config = immediate(1);
  config.checking = model::Checking::Bounds;
  model::DeviceModel device(config);
  EXPECT_FALSE(c.run_leaves_output(device, &with_services<&without_optional_ones>));
  EXPECT_EQ(c.result().status, EntryStatus::Completed);
}

} // namespace
} // namespace simaai::test
