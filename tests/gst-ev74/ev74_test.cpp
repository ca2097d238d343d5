// SPDX-License-Identifier: LGPL-2.1-or-later
// backend=ev74 in the elements: data, copies, faults on the bus, life after them.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gst/allocators/gstfdmemory.h>

#include <simaai/runtime/device.h>

#include "common/fd_memory.h"
#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "runtime/fake_transport.h"
#include "runtime/server_process.h"
#include "sample.h"
#include "support/eventually.h"

namespace {

std::atomic<int> looks{0}; ///< at what is behind a descriptor

} // namespace

// Found by the library before that of the C library.
extern "C" __attribute__((visibility("default"))) int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  if (command == F_GET_SEALS)
    ++looks;
  return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
}

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
using simaai::runtime::test::FakeDevice;
using simaai::runtime::test::ServerProcess;
namespace oracle = simaai::oracle;

/// The last ELEMENT message of that name.
GstPtr<GstStructure> notice(ElementHarness& harness, const char* name) {
  GstPtr<GstStructure> found;
  for (const auto& message : harness.take_messages()) {
    const GstStructure* structure = gst_message_get_structure(message.get());
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ELEMENT &&
        gst_structure_has_name(structure, name))
      found.reset(gst_structure_copy(structure));
  }
  return found;
}

TEST(Ev74, GivesTheBytesOfTheOracleOnMemoryOfADevice) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"require-zero-copy", "true"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  for (std::uint64_t round = 0; round < 20; ++round) {
    const Sample sample(round);
    ASSERT_EQ(harness.push(fd_buffer(sample.input, round % 3 * 64)), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    ASSERT_TRUE(output);
    EXPECT_EQ(bytes_of(output.get()), sample.output);
    // What the next element of a device needs.
    EXPECT_TRUE(gst_is_fd_memory(gst_buffer_peek_memory(output.get(), 0)));
  }
  EXPECT_EQ(harness.stat("copies"), 0U);
  EXPECT_EQ(harness.stat("frames"), 20U);
  EXPECT_EQ(text_stat(harness, "backend"), "ev74");
  const std::string memory = text_stat(harness, "memory");
  EXPECT_TRUE(memory == "memfd" || memory == "dma-buf") << memory;
  const auto allocator = simaai::gst::new_fd_allocator();
  EXPECT_EQ(text_stat(harness, "memory-source"), simaai::gst::fd_allocator_source(allocator.get()));
}

TEST(Ev74, CopiesOtherMemoryOnceAndCountsIt) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  for (std::uint64_t round = 0; round < 5; ++round) {
    const Sample sample(round);
    ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
    EXPECT_EQ(harness.stat("copies"), round + 1);
  }
  const auto told = notice(harness, "simaai-copy");
  EXPECT_EQ(field(told, "port"), "input");
  EXPECT_NE(field(told, "reason").find("no file descriptor"), std::string::npos);
}

TEST(Ev74, CopiesWhatNoDeviceCanBeGiven) {
  const Sample sample;
  const auto pushed = [&](GstPtr<GstBuffer> buffer, const char* reason) {
    ElementHarness harness("simaaicast", {{"backend", "ev74"}});
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output) << reason;
    EXPECT_EQ(harness.stat("copies"), 1U);
    EXPECT_NE(field(notice(harness, "simaai-copy"), "reason").find(reason), std::string::npos);
  };
  // An object that could be cut short.
  const int unsealed = ::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(unsealed, kInputBytes), 0);
  ASSERT_EQ(::pwrite(unsealed, sample.input.data(), kInputBytes, 0),
            static_cast<ssize_t>(kInputBytes));
  const GstPtr<GstAllocator> wrapper(gst_fd_allocator_new());
  GstPtr<GstBuffer> open_ended(gst_buffer_new());
  gst_buffer_append_memory(
      open_ended.get(),
      gst_fd_allocator_alloc(wrapper.get(), unsealed, kInputBytes, GST_FD_MEMORY_FLAG_NONE));
  pushed(std::move(open_ended), "sealed");
  // Two memories.
  const auto whole = fd_buffer(sample.input);
  GstPtr<GstBuffer> two(gst_buffer_append(
      gst_buffer_copy_region(whole.get(), GST_BUFFER_COPY_ALL, 0, 8),
      gst_buffer_copy_region(whole.get(), GST_BUFFER_COPY_ALL, 8, kInputBytes - 8)));
  pushed(std::move(two), "several memories");
  pushed(fd_buffer(sample.input, 2), "not aligned");
}

TEST(Ev74, MemoryLongerThanItsObjectIsAnErrorOnEveryBackend) {
  const GstPtr<GstAllocator> wrapper(gst_fd_allocator_new());
  for (const char* backend : {"ev74", "a65"})
    for (const off_t bytes : {0, static_cast<int>(kInputBytes) - 4}) {
      ElementHarness harness("simaaicast", {{"backend", backend}});
      ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
      const int cut = ::memfd_create("cut", MFD_CLOEXEC | MFD_ALLOW_SEALING);
      ASSERT_EQ(::ftruncate(cut, bytes), 0);
      GstPtr<GstBuffer> buffer(gst_buffer_new());
      gst_buffer_append_memory(buffer.get(), gst_fd_allocator_alloc(wrapper.get(), cut, kInputBytes,
                                                                    GST_FD_MEMORY_FLAG_NONE));
      EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_ERROR) << backend;
      EXPECT_EQ(harness.take_errors().size(), 1U) << backend;
      // The next one is as good as ever.
      const Sample sample;
      ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
      EXPECT_EQ(harness.pull(), sample.output);
    }
}

TEST(Ev74, ClosedDescriptorIsAnErrorOnEveryBackend) {
  const GstPtr<GstAllocator> wrapper(gst_fd_allocator_new());
  for (const char* backend : {"ev74", "a65"}) {
    ElementHarness harness("simaaicast", {{"backend", backend}});
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    const int closed = ::memfd_create("closed", MFD_CLOEXEC);
    GstPtr<GstBuffer> buffer(gst_buffer_new());
    gst_buffer_append_memory(
        buffer.get(),
        gst_fd_allocator_alloc(wrapper.get(), closed, kInputBytes, GST_FD_MEMORY_FLAG_DONT_CLOSE));
    ::close(closed);
    EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_ERROR) << backend;
    EXPECT_EQ(harness.take_errors().size(), 1U) << backend;
  }
}

TEST(Ev74, AsksTheKernelOnceForMemoryOfItsOwnKind) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"require-zero-copy", "true"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  const Sample sample;
  const auto input = fd_buffer(sample.input);
  int before = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
    if (round == 1)
      before = looks;
  }
  EXPECT_GT(before, 0);
  EXPECT_EQ(looks, before);
}

TEST(Ev74, AsksTheKernelOnceABufferForMemoryOfOthers) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"require-zero-copy", "true"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  const Sample sample;
  const GstPtr<GstAllocator> wrapper(gst_fd_allocator_new());
  const int sealed = ::memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::pwrite(sealed, sample.input.data(), kInputBytes, 0),
            static_cast<ssize_t>(kInputBytes));
  ASSERT_EQ(::fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const GstPtr<GstBuffer> input(gst_buffer_new());
  gst_buffer_append_memory(input.get(), gst_fd_allocator_alloc(wrapper.get(), sealed, kInputBytes,
                                                               GST_FD_MEMORY_FLAG_NONE));
  for (int round = 0; round < 5; ++round) {
    const int before = looks;
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
    EXPECT_TRUE(round == 0 || looks - before == 1) << looks - before;
  }
}

TEST(Ev74, SharedPartsAreUsedInPlace) {
  const Sample sample;
  Bytes longer(4096 + kInputBytes, 0x77);
  std::copy(sample.input.begin(), sample.input.end(), longer.begin() + 4096);
  const auto whole = fd_buffer(longer, 64);
  GstPtr<GstBuffer> part(
      gst_buffer_copy_region(whole.get(), GST_BUFFER_COPY_MEMORY, 4096, kInputBytes));
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"require-zero-copy", "true"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(std::move(part)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), sample.output);
}

TEST(Ev74, RefusesACopyUnderRequireZeroCopy) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"require-zero-copy", "true"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  EXPECT_EQ(harness.push(Sample().input), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"input", "no file descriptor", "require-zero-copy"}))
      << errors[0];
}

TEST(Ev74, ProposesMemoryThatItNeedNotCopy) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  const GstPtr<GstCaps> caps(gst_caps_from_string(caps_of(kInput).c_str()));
  const GstPtr<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  GstBufferPool* raw = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, nullptr, nullptr);
  const GstPtr<GstBufferPool> pool(raw);
  ASSERT_TRUE(pool && gst_buffer_pool_set_active(pool.get(), TRUE));
  for (std::uint64_t round = 0; round < 3; ++round) {
    const Sample sample(round);
    GstBuffer* acquired = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &acquired, nullptr), GST_FLOW_OK);
    GstPtr<GstBuffer> buffer(acquired);
    gst_buffer_fill(buffer.get(), 0, sample.input.data(), sample.input.size());
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
  }
  EXPECT_EQ(harness.stat("copies"), 0U);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST(Ev74, TakesNoTimeForEmptyTensors) {
  const TensorSpec empty{{1, 0, 7, 5}, DType::Float32};
  ElementHarness harness("simaaicast", {{"backend", "ev74"}});
  ASSERT_TRUE(harness.send_caps(caps_of(empty)));
  EXPECT_EQ(harness.push(Bytes{}), GST_FLOW_OK);
  EXPECT_TRUE(harness.take_errors().empty());
}

// A device that does nothing until the test says so.

TEST(Late, JobIsAnErrorWithThePacketAndKeepsTheBuffers) {
  FakeDevice fake("late-job");
  const std::string uri = fake.uri();
  auto input = fd_buffer(Sample().input);
  GstMemory* memory = gst_buffer_peek_memory(input.get(), 0);
  {
    ElementHarness harness("simaaicast",
                           {{"backend", "ev74"}, {"device", uri.c_str()}, {"job-timeout", "1"}});
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    EXPECT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_ERROR);
    const auto errors = harness.take_errors();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_TRUE(mentions(errors[0], {"simaaicast", "did not retire within 1 ms", uri,
                                     "operation             1 cast", "shape", "backend: ev74"}))
        << errors[0];
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(memory), 2);
    // Down to NULL without waiting; up again only when the job has retired.
    EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(simaai::runtime::parked_jobs(uri), 1U);
    EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    const auto refused = harness.take_errors();
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_TRUE(mentions(refused[0], {"1 job", "did not retire yet"})) << refused[0];
    fake.complete(fake.submitted().back().job);
    EXPECT_TRUE(eventually([&] { return simaai::runtime::parked_jobs(uri) == 0; }));
    EXPECT_NE(gst_element_set_state(harness.element(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(harness.element(), GST_STATE_NULL);
  }
  EXPECT_TRUE(eventually([&] { return GST_MINI_OBJECT_REFCOUNT_VALUE(memory) == 1; }));
  ElementHarness again("simaaicast", {{"backend", "ev74"}, {"device", uri.c_str()}});
  ASSERT_TRUE(again.send_caps(caps_of(kInput)));
  fake.on_submit([&fake](simaai::runtime::JobId job) { fake.complete(job); });
  EXPECT_EQ(again.push(std::move(input)), GST_FLOW_OK);
}

TEST(Late, JobDoesNotHoldUpStateChangesAndFlushes) {
  for (const bool flush : {true, false}) {
    FakeDevice fake(flush ? "late-flush" : "late-state");
    const std::string uri = fake.uri();
    ElementHarness harness(
        "simaaicast", {{"backend", "ev74"}, {"device", uri.c_str()}, {"job-timeout", "3600000"}});
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    std::thread streaming([&] { EXPECT_EQ(harness.push(Sample().input), GST_FLOW_FLUSHING); });
    EXPECT_TRUE(eventually([&] { return !fake.submitted().empty(); }));
    if (flush)
      gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    else
      gst_element_set_state(harness.element(), GST_STATE_READY);
    streaming.join();
    EXPECT_TRUE(harness.take_errors().empty());
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    EXPECT_EQ(simaai::runtime::parked_jobs(uri), 1U);
    fake.complete(fake.submitted().back().job);
    EXPECT_TRUE(eventually([&] { return simaai::runtime::parked_jobs(uri) == 0; }));
  }
}

TEST(Late, JobKeepsTheMemoryThatItsInputWasCopiedTo) {
  FakeDevice fake("late-staged");
  const std::string uri = fake.uri();
  ElementHarness harness("simaaicast",
                         {{"backend", "ev74"}, {"device", uri.c_str()}, {"job-timeout", "1"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  for (std::size_t round = 1; round <= 3; ++round) {
    EXPECT_EQ(harness.push(Sample(round).input), GST_FLOW_ERROR);
    EXPECT_EQ(fake.submitted().size(), round);
  }
  const auto sent = fake.submitted();
  for (const std::size_t port : {0U, 1U}) {
    EXPECT_NE(sent[0].relocations[port].fd, sent[1].relocations[port].fd);
    EXPECT_NE(sent[1].relocations[port].fd, sent[2].relocations[port].fd);
  }
  for (const auto& job : sent)
    fake.complete(job.job);
  EXPECT_TRUE(eventually([&] { return simaai::runtime::parked_jobs(uri) == 0; }));
}

TEST(Late, RefusalOfTheDeviceIsAnError) {
  FakeDevice fake("late-refusal");
  const std::string uri = fake.uri();
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"device", uri.c_str()}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  fake.on_submit([&fake](simaai::runtime::JobId job) {
    fake.complete({job, simaai::runtime::JobOutcome::Entry, 36, 0, {}});
  });
  EXPECT_EQ(harness.push(Sample().input), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"refused the packet with status 36", "source strides"}))
      << errors[0];
}

TEST(Late, DeviceWithoutTheOperationRefusesTheCaps) {
  FakeDevice fake("late-capability");
  fake.capabilities = {};
  ASSERT_TRUE(fake.capabilities.add({2, 1, 3, 0xff, 0xff}));
  const std::string uri = fake.uri();
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"device", uri.c_str()}});
  EXPECT_FALSE(harness.send_caps(caps_of(kInput)));
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"does not offer operation cast", uri})) << errors[0];
  // auto goes on without it, and says so.
  ElementHarness automatic("simaaicast", {{"device", uri.c_str()}});
  ASSERT_TRUE(automatic.send_caps(caps_of(kInput)));
  const auto told = notice(automatic, "simaai-backend");
  EXPECT_EQ(field(told, "active"), "a65");
  EXPECT_NE(field(told, "reason").find("does not offer"), std::string::npos);
}

TEST(Late, AutoFallsBackWhereThePacketIsNotTaken) {
  FakeDevice fake("late-dtype");
  fake.capabilities = {};
  ASSERT_TRUE(fake.capabilities.add({1, 1, 0, /*bfloat16 only*/ 1U << 2, 0xff}));
  const std::string uri = fake.uri();
  ElementHarness harness("simaaicast", {{"device", uri.c_str()}});
  const Sample sample;
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), sample.output);
  const auto told = notice(harness, "simaai-backend");
  EXPECT_EQ(field(told, "active"), "a65");
  EXPECT_NE(field(told, "reason").find("source dtype"), std::string::npos);
  EXPECT_EQ(text_stat(harness, "backend"), "a65");
  EXPECT_TRUE(fake.submitted().empty());
}

TEST(Ev74, DeathOfTheServerIsAnErrorAndANewOneIsFound) {
  ServerProcess server;
  const std::string uri = server.uri();
  const Sample sample;
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"device", uri.c_str()}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(fd_buffer(sample.input)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), sample.output);
  EXPECT_EQ(field(notice(harness, "simaai-backend"), "device"), uri);
  server.kill();
  EXPECT_EQ(harness.push(fd_buffer(sample.input)), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"device was lost", uri, "1 cast"})) << errors[0];
  EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(mentions(harness.take_errors().at(0), {uri, "cannot be opened"}));
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  server.start();
  ElementHarness again("simaaicast", {{"backend", "ev74"}, {"device", uri.c_str()}});
  ASSERT_TRUE(again.send_caps(caps_of(kInput)));
  ASSERT_EQ(again.push(fd_buffer(sample.input)), GST_FLOW_OK);
  EXPECT_EQ(again.pull(), sample.output);
}

TEST(Ev74, DropOfABufferKeepsDescriptorsConstant) {
  ElementHarness harness("simaaicast", {{"backend", "ev74"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  const auto descriptors = [] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      ++count;
    return count;
  };
  const Sample sample;
  const auto input = fd_buffer(sample.input);
  std::size_t before = 0;
  for (int round = 0; round < 300; ++round) {
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
    if (round == 10)
      before = descriptors();
  }
  EXPECT_EQ(descriptors(), before);
}

TEST(Ev74, BuffersOutliveTheElement) {
  const Sample sample;
  GstPtr<GstBuffer> kept;
  {
    ElementHarness harness("simaaicast", {{"backend", "ev74"}});
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    ASSERT_EQ(harness.push(fd_buffer(sample.input)), GST_FLOW_OK);
    kept = harness.pull_buffer();
  }
  EXPECT_EQ(bytes_of(kept.get()), sample.output);
}

TEST(Ev74, ThatCannotBeOpenedStopsTheElement) {
  const std::array<std::pair<const char*, const char*>, 4> devices{
      std::pair{"unix:/nonexistent/ev74", "cannot be opened"},
      std::pair{"nothing:at-all", "scheme"}, std::pair{"model:workers=9", "at character 6"},
      std::pair{"/dev/ev74-that-is-not-there", "scheme"}};
  for (const auto& [device, reason] : devices) {
    const GstPtr<GstElement> element(
        GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("simaaicast", nullptr))));
    const GstPtr<GstBus> bus(gst_bus_new());
    gst_element_set_bus(element.get(), bus.get());
    gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "ev74");
    g_object_set(element.get(), "device", device, nullptr);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
    ASSERT_TRUE(message) << device;
    EXPECT_TRUE(mentions(error_text(message.get()), {device, reason})) << error_text(message.get());
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_element_set_bus(element.get(), nullptr);
  }
}

TEST(Auto, TakesADeviceThatWasNamedButNeverTheModel) {
  const Sample sample;
  const ServerProcess server;
  const std::string uri = server.uri();
  const struct {
    const char* device;
    const char* active;
    const char* reason;
  } cases[] = {{nullptr, "a65", ""},
               {"model:", "a65", ""},
               {"model:workers=2", "a65", ""},
               {uri.c_str(), "ev74", ""},
               {"unix:/nonexistent/ev74", "a65", "cannot be opened"}};
  for (const auto& one : cases) {
    Properties properties;
    if (one.device != nullptr)
      properties.emplace_back("device", one.device);
    ElementHarness harness("simaaicast", properties);
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), sample.output);
    const auto told = notice(harness, "simaai-backend");
    EXPECT_EQ(field(told, "requested"), "auto");
    EXPECT_EQ(field(told, "active"), one.active);
    EXPECT_NE(field(told, "reason").find(one.reason), std::string::npos);
    EXPECT_EQ(field(told, "reason").empty(), one.reason[0] == '\0');
    EXPECT_EQ(text_stat(harness, "backend"), one.active);
  }
}

} // namespace
