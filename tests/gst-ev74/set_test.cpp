// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets on a device: a job for each tensor, no copies of memory with descriptors, order, failures, states.
#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <gst/allocators/gstfdmemory.h>

#include <simaai/runtime/device.h>

#include "common/job_observer.h"
#include "gst-sets/set_sample.h"
#include "runtime/fake_transport.h"
#include "runtime/server_process.h"
#include "sample.h"
#include "support/eventually.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
using simaai::runtime::Completion;
using simaai::runtime::JobOutcome;
using simaai::runtime::test::FakeDevice;
using simaai::runtime::test::ServerProcess;

constexpr std::array kElements{"simaaicast", "simaaitess", "simaaicasttess", "simaaidetess",
                               "simaaidetesscast"};

/// Sets of one seed through an element on a device.
struct SetOnDevice : ElementHarness {
  SetOnDevice(const std::string& element, std::size_t count, const std::string& device,
              const char* depth, const char* zero_copy = "true")
      : ElementHarness(element.c_str(), {{"backend", "ev74"},
                                         {"device", device.c_str()},
                                         {"async-depth", depth},
                                         {"job-timeout", "60000"},
                                         {"require-zero-copy", zero_copy}}),
        members(random_members(element, count, count)), allocator(simaai::gst::new_fd_allocator()) {
    accept_downstream(set_caps(outputs_of(members)).c_str());
    for (const Member& member : members)
      if (element == "simaaitess" && member.input.dtype == DType::Int8)
        gst_util_set_object_arg(G_OBJECT(this->element()), "int8-channel-padding",
                                std::to_string(kFill).c_str());
  }

  [[nodiscard]] SetSample sample(std::uint64_t number) const { return {members, number}; }
  bool start() { return send_caps(set_caps(inputs_of(members))); }
  GstFlowReturn push_set(std::uint64_t number) {
    return push(separate(sample(number).inputs, allocator.get()));
  }
  void expect_set(std::uint64_t number) {
    const GstPtr<GstBuffer> output(gst_harness_pull(get()));
    ASSERT_TRUE(output) << number;
    ASSERT_EQ(gst_buffer_n_memory(output.get()), members.size());
    const SetSample wanted = sample(number);
    for (guint i = 0; i < members.size(); ++i) {
      EXPECT_TRUE(gst_is_fd_memory(gst_buffer_peek_memory(output.get(), i)));
      EXPECT_TRUE(wanted.is_output(i, memory_bytes(output.get(), i))) << number << " tensor " << i;
    }
  }

  const std::vector<Member> members;
  const GstPtr<GstAllocator> allocator;
};

TEST(SetsOnDevice, EqualTheOracleWithoutCopies) {
  const ServerProcess server({"--model", "workers=2,dma=deferred,seed=4"});
  for (const std::string& device :
       {std::string("model:workers=2,dma=deferred,seed=3,checking=full"), server.uri()})
    for (const char* element : kElements)
      for (const std::size_t count : {1U, 6U, 16U})
        for (const char* depth : {"1", "4"}) {
          SCOPED_TRACE(device + " " + element + " " + std::to_string(count) + " depth " + depth);
          SetOnDevice harness(element, count, device, depth);
          ASSERT_TRUE(harness.start()) << testing::PrintToString(harness.take_errors());
          for (std::uint64_t number = 1; number <= 3; ++number)
            ASSERT_EQ(harness.push_set(number), GST_FLOW_OK)
                << testing::PrintToString(harness.take_errors());
          for (std::uint64_t number = 1; number <= 3; ++number)
            harness.expect_set(number);
          EXPECT_EQ(harness.stat("copies"), 0U);
          EXPECT_EQ(harness.stat("frames"), 3U);
        }
}

TEST(SetsOnDevice, InOneMemoryAreRangesOfIt) {
  for (const char* element : kElements) {
    SCOPED_TRACE(element);
    const auto members = random_members(element, 6, 6);
    const SetSample sample(members, 9);
    const auto offsets = offsets_of(sample.inputs, 16, 32);
    const auto places = offsets_of(sample.outputs, 16);
    ElementHarness harness(
        element,
        {{"backend", "ev74"}, {"device", "model:checking=full"}, {"require-zero-copy", "true"}});
    for (const Member& member : members)
      if (std::string(element) == "simaaitess" && member.input.dtype == DType::Int8)
        gst_util_set_object_arg(G_OBJECT(harness.element()), "int8-channel-padding",
                                std::to_string(kFill).c_str());
    harness.accept_downstream(set_caps(outputs_of(members), places).c_str());
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members), offsets)));
    const auto allocator = simaai::gst::new_fd_allocator();
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(harness.push(together(sample.inputs, offsets, allocator.get())), GST_FLOW_OK)
          << testing::PrintToString(harness.take_errors());
      const auto output = harness.pull_buffer();
      ASSERT_EQ(gst_buffer_n_memory(output.get()), 1U);
      EXPECT_TRUE(gst_is_fd_memory(gst_buffer_peek_memory(output.get(), 0)));
      const Bytes whole = memory_bytes(output.get(), 0);
      for (std::size_t i = 0; i < members.size(); ++i) {
        const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(places[i]);
        EXPECT_TRUE(sample.is_output(
            i, Bytes(begin, begin + static_cast<std::ptrdiff_t>(sample.outputs[i].size()))));
      }
    }
    EXPECT_EQ(harness.stat("copies"), 0U);
    EXPECT_EQ(harness.stat("allocations"), 1U);
  }
}

TEST(SetsOnDevice, OfOtherMemoryAreCopiedOnceForEachTensor) {
  for (const char* depth : {"1", "3"}) {
    SetOnDevice harness("simaaicasttess", 5, "model:", depth, "false");
    ASSERT_TRUE(harness.start());
    std::uint64_t settled = 0;
    for (std::uint64_t number = 1; number <= 30; ++number) {
      ASSERT_EQ(harness.push(separate(harness.sample(number).inputs)), GST_FLOW_OK);
      harness.expect_set(number);
      if (number == 15)
        settled = harness.stat("allocations");
    }
    EXPECT_EQ(harness.stat("copies"), 5U * 30);
    EXPECT_EQ(harness.stat("allocations"), settled) << "blocks of different sizes are kept";
  }
}

TEST(SetsOnDevice, GiveTheDeviceOneJobForEachTensor) {
  FakeDevice fake("sets-jobs");
  SetOnDevice harness("simaaicast", 7, fake.uri(), "1");
  ASSERT_TRUE(harness.start());
  fake.on_submit([&](auto job) { fake.complete(job); });
  ASSERT_EQ(harness.push_set(1), GST_FLOW_OK);
  EXPECT_EQ(fake.submitted().size(), 7U);
  EXPECT_EQ(harness.stat("frames"), 1U);
  EXPECT_LE(harness.stat("last-submit-ns"), harness.stat("last-retire-ns"));
}

TEST(SetsOnDevice, TellAnObserverOfEachJob) {
  std::vector<simaai::gst::JobNotice> seen;
  simaai::gst::JobObserver observer;
  observer.data = &seen;
  observer.observe = [](void* data, GstElement*, GstBuffer*,
                        const simaai::gst::JobNotice* notice) noexcept {
    static_cast<std::vector<simaai::gst::JobNotice>*>(data)->push_back(*notice);
  };
  simaai::gst::set_job_observer(&observer);
  SetOnDevice harness("simaaicast", 5, "model:", "1");
  const bool started = harness.start();
  simaai::gst::set_job_observer(nullptr);
  ASSERT_TRUE(started);
  ASSERT_EQ(harness.push_set(1), GST_FLOW_OK);
  ASSERT_EQ(seen.size(), 5U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_LE(seen[i].times.submitted_ns, seen[i].times.retired_ns);
    EXPECT_TRUE(i == 0 || seen[i - 1].times.submitted_ns < seen[i].times.submitted_ns);
  }
}

TEST(SetsOnDevice, AreSubmittedWhollyBeforeTheFirstJobEnds) {
  FakeDevice fake("sets-whole");
  SetOnDevice harness("simaaicast", 4, fake.uri(), "1");
  ASSERT_TRUE(harness.start());
  std::thread upstream([&] { EXPECT_EQ(harness.push_set(1), GST_FLOW_OK); });
  EXPECT_TRUE(eventually([&] { return fake.submitted().size() == 4; }));
  // In any order; nothing leaves before the last one.
  for (const std::size_t index : {3U, 1U, 0U}) {
    fake.complete(fake.submitted().at(index).job);
    EXPECT_EQ(gst_harness_buffers_in_queue(harness.get()), 0U);
  }
  fake.complete(fake.submitted().at(2).job);
  upstream.join();
  EXPECT_EQ(gst_harness_buffers_in_queue(harness.get()), 1U);
}

TEST(SetsOnDevice, AFailureNamesTheTensor) {
  for (const char* depth : {"1", "4"}) {
    FakeDevice fake(std::string("sets-failure") + depth);
    SetOnDevice harness("simaaicast", 3, fake.uri(), depth);
    ASSERT_TRUE(harness.start());
    std::thread upstream([&] { (void)harness.push_set(1); });
    EXPECT_TRUE(eventually([&] { return fake.submitted().size() == 3; }));
    const auto submitted = fake.submitted();
    fake.complete(submitted.at(0).job);
    fake.complete(Completion{submitted.at(1).job, JobOutcome::Fault, 0, 7, {}});
    fake.complete(submitted.at(2).job);
    upstream.join();
    std::vector<std::string> errors;
    EXPECT_TRUE(eventually([&] {
      for (std::string& error : harness.take_errors())
        errors.push_back(std::move(error));
      return !errors.empty();
    }));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_TRUE(mentions(errors[0], {"tensor 1: ", "packet:"})) << errors[0];
  }
}

TEST(SetsOnDevice, FitDevicesWithRoomForOneJob) {
  const ServerProcess server({"--queue", "1"});
  for (const char* depth : {"1", "4"}) {
    SetOnDevice harness("simaaicasttess", 16, server.uri(), depth);
    ASSERT_TRUE(harness.start());
    for (std::uint64_t number = 1; number <= 4; ++number) {
      ASSERT_EQ(harness.push_set(number), GST_FLOW_OK)
          << testing::PrintToString(harness.take_errors());
    }
    for (std::uint64_t number = 1; number <= 4; ++number)
      harness.expect_set(number);
  }
}

/// Together they want many times the jobs that a device may have.
TEST(SetsOnDevice, OfSeveralElementsShareTheJobsOfADevice) {
  std::vector<std::thread> threads;
  for (const char* depth : {"1", "1", "1", "1", "1", "1", "16", "16"})
    threads.emplace_back([depth] {
      SetOnDevice harness("simaaicast", 16, "model:latency-us=100", depth);
      ASSERT_TRUE(harness.start());
      for (std::uint64_t number = 1; number <= 8; ++number)
        ASSERT_EQ(harness.push_set(number), GST_FLOW_OK)
            << testing::PrintToString(harness.take_errors());
      for (std::uint64_t number = 1; number <= 8; ++number)
        harness.expect_set(number);
    });
  for (std::thread& thread : threads)
    thread.join();
}

TEST(SetsOnDevice, FlushForgetsWhatIsInFlight) {
  SetOnDevice harness("simaaicast", 6, "model:latency-us=2000", "4");
  ASSERT_TRUE(harness.start());
  for (std::uint64_t number = 1; number <= 4; ++number)
    ASSERT_EQ(harness.push_set(number), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_flush_start());
  gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
  while (harness.pull_buffer()) {
  }
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  ASSERT_EQ(harness.push_set(9), GST_FLOW_OK);
  harness.expect_set(9);
}

/// Runs a pipeline to its end and gives what the element `dev` counted; an error fails the test.
std::uint64_t copies_of(const std::string& text) {
  GError* raw = nullptr;
  const GstPtr<GstElement> pipeline(gst_parse_launch(text.c_str(), &raw));
  const GstPtr<GError> refused(raw);
  if (refused != nullptr)
    g_error("%s", refused->message);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const GstPtr<GstMessage> end(
      gst_bus_timed_pop_filtered(bus.get(), 20 * GST_SECOND,
                                 static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS)));
  EXPECT_TRUE(end);
  if (end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_ERROR)
    ADD_FAILURE() << error_text(end.get());
  const GstPtr<GstElement> device(gst_bin_get_by_name(GST_BIN(pipeline.get()), "dev"));
  GstStructure* stats = nullptr;
  g_object_get(device.get(), "stats", &stats, nullptr);
  const GstPtr<GstStructure> owned(stats);
  guint64 copies = 0;
  guint64 frames = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, "copies", &copies));
  EXPECT_TRUE(gst_structure_get_uint64(stats, "frames", &frames));
  EXPECT_EQ(frames, 20U);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return copies;
}

/// The memory that a device needs is known to those who fill it, through multiplexers and demultiplexers.
TEST(SetsOnDevice, PipelinesWithMuxAndDemuxCopyNothing) {
  const std::string source =
      "fakesrc num-buffers=20 sizetype=fixed sizemax=48 ! application/vnd.simaai.tensor,"
      "dtype=float32,layout=contiguous,shape=<4,3> ! simaaicast backend=a65 ";
  EXPECT_EQ(copies_of("simaaitensormux name=m ! simaaitess name=dev backend=ev74 "
                      "require-zero-copy=true ! fakesink " +
                      source + "! m.sink_0 " + source + "! queue ! m.sink_1"),
            0U);
  EXPECT_EQ(
      copies_of("fakesrc num-buffers=20 sizetype=fixed sizemax=60 ! "
                "application/vnd.simaai.tensor-set,tensors=(structure)<"
                "[application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<4,3>],"
                "[application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<3>]> ! "
                "simaaicast backend=a65 ! simaaitensordemux name=d "
                "d.tensor_0 ! queue ! simaaitess name=dev backend=ev74 require-zero-copy=true ! "
                "fakesink d.tensor_1 ! queue ! fakesink"),
      0U);
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

TEST(SetsOnDevice, AThousandStateCyclesInFlightKeepTheDescriptors) {
  SetOnDevice harness("simaaicast", 5, "model:latency-us=200", "4");
  const auto allocator = simaai::gst::new_fd_allocator();
  const SetSample sample = harness.sample(1);
  const auto input = separate(sample.inputs, allocator.get());
  std::ptrdiff_t before = 0;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    ASSERT_TRUE(harness.start()) << cycle << testing::PrintToString(harness.take_errors());
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    gst_element_set_state(harness.element(), GST_STATE_READY);
    gst_element_set_state(harness.element(), GST_STATE_PLAYING);
    while (harness.pull_buffer()) {
    }
    if (cycle == 20)
      before = open_descriptors();
  }
  // Jobs of the last cycles may keep their buffers for a moment.
  EXPECT_TRUE(eventually([&] {
    return simaai::runtime::parked_jobs("model:latency-us=200") == 0 &&
           open_descriptors() <= before + 32;
  })) << before
      << " descriptors early, " << open_descriptors() << " at the end";
}

} // namespace
