// SPDX-License-Identifier: LGPL-2.1-or-later
// Entries that read tiles refuse by themselves what the host should have refused.
#include <gtest/gtest.h>

#include "firmware/detess/reader_under_test.h"
#include "firmware/refusals.h"

namespace simaai::test {
namespace {

using kernels::wire::EntryStatus;

Case small_case() {
  return tiled_case(reader_under_test().dtypes.back(), {2, 3, 5, 20}, {-1, 1, 2, 3}, {1, 2, 3, 16});
}

TEST(TileReaderRefusals, MalformedPacketsMoveNothing) {
  const std::int64_t width = kernels::scalar_bytes(reader_under_test().dtypes.back().to);
  DeviceCase gapless(reader_under_test().encode, small_case());
  expect_malformed_packets_refused(gapless, reader_under_test().entry);
  DeviceCase pitched(reader_under_test().encode,
                     strided_case(small_case(), {500 * width, 150 * width, 24 * width, width}));
  expect_malformed_packets_refused(pitched, reader_under_test().entry);
  DeviceCase blocked(reader_under_test().encode,
                     blocked_case(reader_under_test().dtypes.back(), {2, 3, 5, 20}, {1, 2, 3, 20}));
  expect_malformed_packets_refused(blocked, reader_under_test().entry);
}

/// Firmware from before a flag does not guess what it means.
TEST(TileReaderRefusals, OlderFirmwareRefusesFlagsThatItDoesNotKnow) {
  const DTypePair dtypes = reader_under_test().dtypes.back();
  const std::int64_t width = kernels::scalar_bytes(dtypes.to);
  const Case pitched = strided_case(small_case(), {500 * width, 150 * width, 24 * width, width});
  const Case blocked = blocked_case(dtypes, {2, 3, 5, 20}, {1, 2, 3, 20});
  const auto status = [](const Case& c, std::uint32_t flags) {
    model::ModelConfig config = immediate(1);
    config.supported_flags = flags;
    model::DeviceModel device(config);
    DeviceCase on_device(reader_under_test().encode, c);
    const bool untouched = on_device.run_leaves_output(device, reader_under_test().entry);
    EXPECT_EQ(untouched, on_device.result().status != EntryStatus::Completed);
    EXPECT_EQ(untouched, on_device.result().counters == model::Counters{});
    return on_device.result().status;
  };
  EXPECT_EQ(status(pitched, kernels::wire::kFlagCBlocked), EntryStatus::UnsupportedFlags);
  EXPECT_EQ(status(pitched, kernels::wire::kFlagStrided), EntryStatus::Completed);
  EXPECT_EQ(status(blocked, kernels::wire::kFlagStrided), EntryStatus::UnsupportedFlags);
  EXPECT_EQ(status(blocked, kernels::wire::kFlagCBlocked), EntryStatus::Completed);
}

TEST(TileReaderRefusals, PacketsOfOtherOperationsAreNotThisEntrys) {
  Case other = small_case();
  std::swap(other.input.layout, other.output.layout);
  other.output.dtype = other.input.dtype;
  DeviceCase c(&encode_tess, other);
  model::DeviceModel device(immediate(1));
  EXPECT_TRUE(c.run_leaves_output(device, reader_under_test().entry));
  EXPECT_EQ(c.result().status, EntryStatus::WrongOperation);
}

/// Calls the entry with services that were changed first.
template <void (*Change)(Ev74Services&)>
std::uint32_t with_services(const void* packet, std::uint32_t bytes, const Ev74Services* services) {
  Ev74Services changed = *services;
  Change(changed);
  return reader_under_test().entry(packet, bytes, &changed);
}

void without_workers(Ev74Services& s) { s.workers = 0; }
void with_too_little_memory(Ev74Services& s) { s.local_bytes = 36 * 1024 - 1; }
void with_memory_refused(Ev74Services& s) {
  s.acquire_local = [](void*, std::uint32_t, std::uint32_t) -> void* { return nullptr; };
}
void with_reads_refused(Ev74Services& s) {
  s.dma_read = [](void*, std::uint32_t, const Ev74Transfer*, Ev74Ticket) { return Ev74Ticket{0}; };
}
void with_writes_refused(Ev74Services& s) {
  s.dma_write = [](void*, std::uint32_t, const Ev74Transfer*, Ev74Ticket) { return Ev74Ticket{0}; };
}

EntryStatus status_with(Ev74Entry entry, const Case& c) {
  DeviceCase on_device(reader_under_test().encode, c);
  model::DeviceModel device(immediate(1));
  EXPECT_TRUE(on_device.run_leaves_output(device, entry));
  return on_device.result().status;
}

TEST(TileReaderRefusals, ServicesMustOfferAWorkerAndTheSlots) {
  EXPECT_EQ(status_with(&with_services<&without_workers>, small_case()), EntryStatus::NoWorker);
  EXPECT_EQ(status_with(&with_services<&with_too_little_memory>, small_case()),
            EntryStatus::LocalMemory);
  EXPECT_EQ(status_with(&with_services<&with_memory_refused>, small_case()),
            EntryStatus::LocalMemory);
}

TEST(TileReaderRefusals, RefusedTransfersEndTheJobOnEveryRoute) {
  const DTypePair dtypes = reader_under_test().dtypes.back();
  const std::int64_t width = kernels::scalar_bytes(dtypes.to);
  for (const Case& c :
       {small_case(), strided_case(small_case(), {500 * width, 150 * width, 24 * width, width}),
        blocked_case(dtypes, {2, 3, 5, 20}, {1, 2, 3, 20}),
        tiled_case(dtypes, {4, 16, 20}, {-1, 0, 1, 2}, {1, 4, 16, 20}),
        tiled_case(dtypes, {4, 16, 48}, {-1, 0, 1, 2}, {1, 4, 16, 16}),
        tiled_case(dtypes, {4, 16, 2}, {-1, 0, 1, 2}, {1, 4, 5, 2},
                   kernels::ChannelStorage::Compact),
        tiled_case(dtypes, {6, 5, 24}, {-1, 1, 0, 2}, {1, 2, 4, 24})}) {
    EXPECT_EQ(status_with(&with_services<&with_reads_refused>, c), EntryStatus::TransferFault);
    DeviceCase on_device(reader_under_test().encode, c);
    model::DeviceModel device(immediate(1));
    // Scalar stores beside a refused transfer may have been made.
    (void)on_device.run_leaves_output(device, &with_services<&with_writes_refused>);
    EXPECT_EQ(on_device.result().status, EntryStatus::TransferFault);
  }
}

} // namespace
} // namespace simaai::test
