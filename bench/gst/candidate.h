// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements between two bare pads, whose output is compared outside of the timed region.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gst/gst.h>

#include "../common/quantile.h"
#include "common/gst_ptr.h"
#include "oracle/tensor.h"

namespace simaai::bench {

using gst::GstPtr;

/// One element, or several in a row, between two bare pads.
class Candidate {
public:
  /// `element` is taken, null where it could not be created; `caps`: of its input.
  Candidate(const char* name, GstElement* element, const std::string& caps, oracle::Bytes input,
            oracle::Bytes expected)
      : Candidate(name, std::vector<GstElement*>{element}, caps, std::move(input),
                  std::move(expected)) {}
  Candidate(const char* name, const std::vector<GstElement*>& elements, const std::string& caps,
            oracle::Bytes input, oracle::Bytes expected)
      : name_(name), expected_(std::move(expected)), source_(gst_pad_new("source", GST_PAD_SRC)),
        drain_(gst_pad_new("drain", GST_PAD_SINK)) {
    for (GstElement* element : elements) {
      if (element == nullptr)
        fail("cannot be created; set GST_PLUGIN_PATH");
      elements_.emplace_back(element);
    }
    gst_pad_set_chain_function_full(drain_.get(), drain, this, nullptr);
    link();
    gst_pad_set_active(drain_.get(), TRUE);
    for (auto element = elements_.rbegin(); element != elements_.rend(); ++element)
      gst_element_set_state(element->get(), GST_STATE_PLAYING);
    gst_pad_set_active(source_.get(), TRUE);
    start(caps);
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = 63;
    input_.reset(gst_buffer_new_allocate(nullptr, input.size(), &params));
    gst_buffer_fill(input_.get(), 0, input.data(), input.size());
    verify();
  }
  ~Candidate() {
    for (const auto& element : elements_)
      gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_pad_set_active(source_.get(), FALSE);
    gst_pad_set_active(drain_.get(), FALSE);
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  /// Pushes the input so many times; a sample is the time of one. Over when the last one has left.
  void measure(int buffers) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < buffers; ++i)
      gst_pad_push(source_.get(), gst_buffer_ref(input_.get()));
    await(static_cast<std::uint64_t>(buffers));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    samples_.push_back(took.count() / buffers);
  }

  /// Outside of the timed region: the output is what the oracle says.
  void verify() {
    keep_ = true;
    if (gst_pad_push(source_.get(), gst_buffer_ref(input_.get())) != GST_FLOW_OK)
      fail("refuses the buffer");
    await(1);
    keep_ = false;
    oracle::Bytes found(gst_buffer_get_size(last_.get()));
    gst_buffer_extract(last_.get(), 0, found.data(), found.size());
    last_.reset();
    if (found != expected_)
      fail("produced wrong bytes");
  }

  [[nodiscard]] const char* name() const { return name_.c_str(); }
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  /// What to compare with, where that is not what everybody is compared with.
  void compare_with(const Candidate& other) { other_ = &other; }

  void report(const Candidate& usual) const {
    const Candidate& core = other_ != nullptr ? *other_ : usual;
    std::vector<double> over(samples_.size());
    std::transform(samples_.begin(), samples_.end(), core.samples_.begin(), over.begin(),
                   std::minus<>());
    std::vector<double> ratio(samples_.size());
    std::transform(samples_.begin(), samples_.end(), core.samples_.begin(), ratio.begin(),
                   std::divides<>());
    std::printf("%-20s %8.1f %8.1f %10.1f %8.1f .. %6.1f %8.2f\n", name_.c_str(),
                quantile(samples_, 0.0), quantile(samples_, 0.5), quantile(over, 0.5),
                quantile(over, 0.25), quantile(over, 0.75), quantile(ratio, 0.5));
  }

private:
  static GstPtr<GstPad> pad_of(GstElement* element, const char* name, const char* request) {
    GstPtr<GstPad> pad(gst_element_get_static_pad(element, name));
    if (!pad)
      pad.reset(gst_element_request_pad_simple(element, request));
    return pad;
  }

  void link() {
    GstPtr<GstPad> last(GST_PAD_CAST(gst_object_ref(source_.get())));
    for (const auto& element : elements_) {
      const auto sink = pad_of(element.get(), "sink", "sink_0");
      if (gst_pad_link(last.get(), sink.get()) != GST_PAD_LINK_OK)
        fail("cannot be linked");
      last = pad_of(element.get(), "src", "tensor_0");
    }
    if (gst_pad_link(last.get(), drain_.get()) != GST_PAD_LINK_OK)
      fail("cannot be linked");
  }

  /// Until so many more buffers have left: threads of the elements may be behind.
  void await(std::uint64_t buffers) {
    awaited_ += buffers;
    for (std::uint64_t polls = 0; drained_.load(std::memory_order_acquire) < awaited_; ++polls) {
      if (polls == kMostPolls)
        fail("loses buffers");
      std::this_thread::yield();
    }
  }

  void start(const std::string& text) {
    const GstPtr<GstCaps> caps(gst_caps_from_string(text.c_str()));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source_.get(), gst_event_new_stream_start("bench"));
    gst_pad_push_event(source_.get(), gst_event_new_caps(caps.get()));
    gst_pad_push_event(source_.get(), gst_event_new_segment(&segment));
  }

  static GstFlowReturn drain(GstPad* pad, GstObject* /*parent*/, GstBuffer* buffer) noexcept {
    auto* self = static_cast<Candidate*>(pad->chaindata);
    if (self->keep_)
      self->last_.reset(buffer);
    else
      gst_buffer_unref(buffer);
    self->drained_.store(self->drained_.load(std::memory_order_relaxed) + 1,
                         std::memory_order_release);
    return GST_FLOW_OK;
  }

  [[noreturn]] void fail(const char* what) const {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), what);
    std::exit(1);
  }

  static constexpr std::uint64_t kMostPolls = 100'000'000;

  std::string name_;
  oracle::Bytes expected_;
  std::vector<GstPtr<GstElement>> elements_;
  GstPtr<GstPad> source_;
  GstPtr<GstPad> drain_;
  GstPtr<GstBuffer> input_;
  GstPtr<GstBuffer> last_;
  bool keep_ = false;
  std::uint64_t awaited_ = 0;
  std::atomic<std::uint64_t> drained_{0}; ///< the thread that pushes into drain_ writes
  const Candidate* other_ = nullptr;
  std::vector<double> samples_;
};

/// Rounds of one slice of each candidate, in random order: the clock of a shared machine steps between frequencies, and two slices
/// compare only where they ran at the same one.
inline void measure_in_rounds(std::vector<std::unique_ptr<Candidate>>& candidates, int rounds,
                              int buffers) {
  std::vector<std::size_t> order(candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order)
      candidates[i]->measure(buffers);
  }
  for (const auto& candidate : candidates)
    candidate->verify();
}

} // namespace simaai::bench
