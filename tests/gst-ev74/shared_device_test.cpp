// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements that share a device: in a row, in other pipelines, and after their own jobs of before a stop.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/runtime/device.h>

#include "runtime/fake_transport.h"
#include "runtime/server_process.h"
#include "sample.h"
#include "support/eventually.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
using simaai::runtime::parked_jobs;
using simaai::runtime::test::FakeDevice;
using simaai::runtime::test::ServerProcess;
namespace oracle = simaai::oracle;

constexpr std::size_t kFrames = 40;

/// Several elements in a row between two pads.
class Row {
public:
  explicit Row(const std::string& elements) : harness_(gst_harness_new_parse(elements.c_str())) {
    gst_element_set_bus(harness_->element, bus_.get());
  }
  ~Row() {
    gst_element_set_bus(harness_->element, nullptr);
    gst_harness_teardown(harness_);
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  [[nodiscard]] GstHarness* get() const { return harness_; }
  /// The same caps at both ends.
  void start(const std::string& caps) {
    gst_harness_set_sink_caps_str(harness_, caps.c_str());
    gst_harness_set_src_caps_str(harness_, caps.c_str());
  }
  [[nodiscard]] std::string error() const {
    const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus_.get(), GST_MESSAGE_ERROR));
    return message ? error_text(message.get()) : "";
  }

private:
  GstHarness* harness_;
  GstPtr<GstBus> bus_{gst_bus_new()};
};

std::string on(const std::string& device, const char* depth, const char* timeout = "10000") {
  return " backend=ev74 device=" + device + " async-depth=" + depth + " job-timeout=" + timeout +
         " ";
}

/// Values that went to bfloat16 and back.
Bytes rounded(const Sample& sample) {
  return physical(oracle::convert(oracle::convert(sample.values, DType::BFloat16), DType::Float32),
                  Contiguous{});
}

/// Caps of one tensor, or of a set of equal ones.
std::string caps_of_several(std::size_t tensors) {
  if (tensors == 1)
    return caps_of(kInput);
  std::string text = "application/vnd.simaai.tensor-set,tensors=(structure)<";
  for (std::size_t i = 0; i < tensors; ++i)
    text += (i != 0 ? ",[" : "[") + caps_of(kInput) + "]";
  return text + ">";
}

/// Frames of `tensors` memories through a row and back to float32.
void expect_through(const std::string& elements, std::size_t tensors,
                    std::size_t frames = kFrames) {
  SCOPED_TRACE(elements + " with " + std::to_string(tensors) + " tensors");
  Row row(elements);
  row.start(caps_of_several(tensors));
  const auto allocator = simaai::gst::new_fd_allocator();
  const auto seed = [tensors](std::size_t frame, std::size_t i) { return frame * tensors + i; };
  for (std::size_t frame = 0; frame < frames; ++frame) {
    GstPtr<GstBuffer> buffer(gst_buffer_new());
    for (std::size_t i = 0; i < tensors; ++i) {
      const auto one = fd_buffer(Sample(seed(frame, i)).input);
      gst_buffer_append_memory(buffer.get(), gst_buffer_get_memory(one.get(), 0));
    }
    ASSERT_EQ(gst_harness_push(row.get(), buffer.release()), GST_FLOW_OK) << row.error();
  }
  gst_harness_push_event(row.get(), gst_event_new_eos());
  ASSERT_EQ(row.error(), "");
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const GstPtr<GstBuffer> output(gst_harness_try_pull(row.get()));
    ASSERT_TRUE(output) << frame;
    Bytes wanted;
    for (std::size_t i = 0; i < tensors; ++i) {
      const Bytes part = rounded(Sample(seed(frame, i)));
      wanted.insert(wanted.end(), part.begin(), part.end());
    }
    ASSERT_EQ(bytes_of(output.get()), wanted) << frame;
  }
}

TEST(SharedDevice, TwoElementsInARowFinishWhateverTheQueue) {
  // Jobs end one by one, after those who submitted them turned to something else.
  const ServerProcess eight({"--model", "latency-us=300"});
  const ServerProcess one({"--queue", "1", "--model", "latency-us=300"});
  for (const std::string& device :
       {eight.uri(), one.uri(), std::string("model:latency-us=300,seed=21")})
    for (const char* depth : {"1", "2", "16"})
      expect_through(
          "simaaicasttess" + on(device, depth) + "! simaaidetesscast" + on(device, depth), 1);
}

TEST(SharedDevice, SetsThroughTwoElementsFinish) {
  const ServerProcess eight;
  for (const std::string& device : {eight.uri(), std::string("model:seed=22")})
    expect_through("simaaicasttess" + on(device, "2") + "! simaaidetesscast" + on(device, "2"), 16);
  // Upstream keeps more jobs that have ended than a device may have in flight.
  expect_through("simaaicasttess" + on("model:seed=22", "8") + "! simaaidetesscast" +
                     on("model:seed=22", "8"),
                 16);
}

TEST(SharedDevice, ManyElementsInARowFinish) {
  const std::string device = "model:latency-us=100,seed=23";
  std::string row = "simaaicast" + on(device, "16");
  for (int i = 1; i < 8; ++i)
    row += "! simaaicast" + on(device, "16");
  expect_through(row, 1);
}

/// A job takes a small part of its time, what is ahead of it more than all.
void expect_through_queue(const char* first_depth, const char* second_depth, std::size_t tensors,
                          std::size_t frames) {
  const std::string options = "latency-us=15000";
  const ServerProcess server({"--queue", "32", "--model", options});
  for (const std::string& device : {server.uri(), "model:seed=28," + options})
    expect_through("simaaicasttess" + on(device, first_depth, "200") + "! simaaidetesscast" +
                       on(device, second_depth, "200"),
                   tensors, frames);
}

TEST(SharedDevice, TimeInAQueueIsNoTimeOfAJob) { expect_through_queue("16", "1", 1, 24); }

TEST(SharedDevice, TimeInAQueueIsNoTimeOfAJobOfASet) { expect_through_queue("3", "3", 16, 2); }

/// One element on a device, with a buffer that can be pushed again and again.
struct Cycled : ElementHarness {
  Cycled(const std::string& device, const char* depth, const char* timeout = "60000")
      : ElementHarness("simaaicast", {{"backend", "ev74"},
                                      {"device", device.c_str()},
                                      {"async-depth", depth},
                                      {"job-timeout", timeout}}) {}
  GstFlowReturn push_shared() { return push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))); }
  /// Down to NULL and up again.
  void cycle() {
    ASSERT_EQ(gst_element_set_state(element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    ASSERT_NE(gst_element_set_state(element(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE)
        << testing::PrintToString(take_errors());
    while (pull_buffer()) {
    }
  }
  void expect_one_more() {
    ASSERT_TRUE(send_caps(caps_of(kInput)));
    ASSERT_EQ(push_shared(), GST_FLOW_OK);
    const GstPtr<GstBuffer> output(gst_harness_pull(get()));
    EXPECT_EQ(testing::PrintToString(take_errors()), "{}");
    ASSERT_TRUE(output);
    EXPECT_EQ(bytes_of(output.get()), sample.output);
  }

  const Sample sample;
  const GstPtr<GstBuffer> input = fd_buffer(sample.input);
};

/// Pushes sets of `tensors` until the device is full of their jobs, with the element's task in a push that does not return;
/// then others come.
void expect_room_beside(const std::string& device, std::size_t tensors) {
  SCOPED_TRACE(device + " with " + std::to_string(tensors) + " tensors");
  static std::atomic<bool> is_blocked;
  static std::atomic<bool> may_go;
  is_blocked = may_go = false;
  Cycled busy(device, "16");
  gst_pad_set_chain_function(busy.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    is_blocked = true;
    EXPECT_TRUE(eventually([] { return may_go.load(); }));
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  });
  // Those who start look for completions too.
  std::vector<std::unique_ptr<Cycled>> others;
  for (const char* depth : {"1", "2"}) {
    others.push_back(std::make_unique<Cycled>(device, depth, "1000"));
    ASSERT_TRUE(others.back()->send_caps(caps_of(kInput)));
  }
  ASSERT_TRUE(busy.send_caps(caps_of_several(tensors)));
  const auto push = [&] {
    const GstPtr<GstBuffer> whole(gst_buffer_new());
    for (std::size_t i = 0; i < tensors; ++i)
      gst_buffer_append_memory(whole.get(), gst_buffer_get_memory(busy.input.get(), 0));
    ASSERT_EQ(busy.push(GstPtr<GstBuffer>(gst_buffer_ref(whole.get()))), GST_FLOW_OK);
  };
  push();
  ASSERT_TRUE(eventually([] { return is_blocked.load(); }));
  for (int i = 0; i < 4; ++i)
    ASSERT_NO_FATAL_FAILURE(push());
  for (const auto& other : others)
    other->expect_one_more();
  may_go = true;
}

TEST(SharedDevice, WhoeverFindsItFullReadsWhatOthersDoNot) {
  const ServerProcess two({"--queue", "2"});
  expect_room_beside(two.uri(), 1);
  expect_room_beside(two.uri(), 16);
  // As many jobs as a device of the process may have: all have ended, and their element still keeps them.
  expect_room_beside("model:seed=27", 16);
}

TEST(SharedDevice, ThatStandsStillIsFoundByAllWhoWantRoom) {
  FakeDevice fake("shared-full");
  std::vector<std::unique_ptr<Cycled>> elements;
  for (const char* depth : {"1", "1", "2"}) {
    elements.push_back(std::make_unique<Cycled>(fake.uri(), depth, "50"));
    ASSERT_TRUE(elements.back()->send_caps(caps_of(kInput)));
  }
  simaai::runtime::Error full;
  full.code = simaai::runtime::ErrorCode::QueueFull;
  fake.refuse_with(full);
  std::vector<std::thread> streams;
  streams.reserve(elements.size());
  for (const auto& element : elements)
    streams.emplace_back([&element] { EXPECT_EQ(element->push_shared(), GST_FLOW_ERROR); });
  for (std::thread& stream : streams)
    stream.join();
  for (const auto& element : elements)
    EXPECT_EQ(element->take_errors().size(), 1U);
}

TEST(SharedDevice, ThatStandsStillIsFoundByAllWhoHaveJobs) {
  FakeDevice fake("shared-stuck");
  std::vector<std::unique_ptr<Cycled>> elements;
  for (const char* depth : {"1", "2", "16"}) {
    elements.push_back(std::make_unique<Cycled>(fake.uri(), depth, "50"));
    ASSERT_TRUE(elements.back()->send_caps(caps_of(kInput)));
  }
  std::vector<std::thread> streams;
  streams.reserve(elements.size());
  for (const auto& element : elements)
    streams.emplace_back([&element] {
      EXPECT_TRUE(eventually([&] { return element->push_shared() == GST_FLOW_ERROR; }));
    });
  for (std::thread& stream : streams)
    stream.join();
  for (const auto& element : elements) {
    const auto errors = element->take_errors();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_TRUE(mentions(errors[0], {"did not retire", fake.uri()})) << errors[0];
  }
  for (const auto& submission : fake.submitted())
    fake.complete(submission.job);
  EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
}

TEST(SharedDevice, StartsAgainWithJobsInFlight) {
  const ServerProcess server({"--model", "latency-us=100"});
  for (const std::string& device : {std::string("model:latency-us=100,seed=24"), server.uri()})
    for (const char* depth : {"1", "2", "4"}) {
      SCOPED_TRACE(device + " " + depth);
      Cycled harness(device, depth);
      for (int round = 0; round < 167; ++round) {
        ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
        std::thread upstream([&] {
          while (harness.push_shared() == GST_FLOW_OK) {
          }
        });
        EXPECT_TRUE(round % 3 != 0 || eventually([&] { return harness.stat("frames") > 0; }));
        gst_element_set_state(harness.element(), GST_STATE_READY);
        upstream.join();
        ASSERT_NO_FATAL_FAILURE(harness.cycle()) << round;
      }
      harness.expect_one_more();
    }
}

TEST(SharedDevice, OfSlowJobsStartsAgainBehindThem) {
  const std::string device = "model:latency-us=10000,seed=25";
  Cycled harness(device, "2");
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    ASSERT_EQ(harness.push_shared(), GST_FLOW_OK);
    ASSERT_EQ(harness.push_shared(), GST_FLOW_OK);
    ASSERT_NO_FATAL_FAILURE(harness.cycle()) << round;
  }
  EXPECT_GT(parked_jobs(device), 0U);
  harness.expect_one_more();
  EXPECT_TRUE(eventually([&] { return parked_jobs(device) == 0; }));
}

TEST(SharedDevice, APipelineComesAndGoesWhileAnotherPlays) {
  const ServerProcess server({"--model", "latency-us=100"});
  for (const std::string& device : {std::string("model:latency-us=100,seed=26"), server.uri()}) {
    SCOPED_TRACE(device);
    std::atomic<bool> ending{false};
    std::thread playing([&] {
      Cycled first(device, "4");
      ASSERT_TRUE(first.send_caps(caps_of(kInput)));
      while (!ending)
        first.expect_one_more();
    });
    Cycled second(device, "4");
    for (int round = 0; round < 100; ++round) {
      EXPECT_TRUE(second.send_caps(caps_of(kInput)));
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(second.push_shared(), GST_FLOW_OK);
      second.cycle();
      if (HasFatalFailure())
        break;
    }
    ending = true;
    playing.join();
    second.expect_one_more();
  }
}

} // namespace
