// SPDX-License-Identifier: LGPL-2.1-or-later
// An element between two bare pads, whose output is compared outside of the timed region.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gst/gst.h>

#include "../common/quantile.h"
#include "common/gst_ptr.h"
#include "oracle/tensor.h"

namespace simaai::bench {

using gst::GstPtr;

/// One element between two bare pads.
class Candidate {
public:
  /// `element` is taken, null where it could not be created; `caps`: of its input.
  Candidate(const char* name, GstElement* element, const std::string& caps, oracle::Bytes input,
            oracle::Bytes expected)
      : name_(name), expected_(std::move(expected)), element_(element),
        source_(gst_pad_new("source", GST_PAD_SRC)), drain_(gst_pad_new("drain", GST_PAD_SINK)) {
    if (!element_)
      fail("cannot be created; set GST_PLUGIN_PATH");
    gst_pad_set_chain_function_full(drain_.get(), drain, this, nullptr);
    link();
    gst_pad_set_active(drain_.get(), TRUE);
    gst_element_set_state(element_.get(), GST_STATE_PLAYING);
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
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    gst_pad_set_active(source_.get(), FALSE);
    gst_pad_set_active(drain_.get(), FALSE);
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  /// Pushes the input so many times; a sample is the time of one.
  void measure(int buffers) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < buffers; ++i)
      gst_pad_push(source_.get(), gst_buffer_ref(input_.get()));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    samples_.push_back(took.count() / buffers);
  }

  /// Outside of the timed region: the output is what the oracle says.
  void verify() {
    keep_ = true;
    if (gst_pad_push(source_.get(), gst_buffer_ref(input_.get())) != GST_FLOW_OK || !last_)
      fail("refuses the buffer");
    keep_ = false;
    oracle::Bytes found(gst_buffer_get_size(last_.get()));
    gst_buffer_extract(last_.get(), 0, found.data(), found.size());
    last_.reset();
    if (found != expected_)
      fail("produced wrong bytes");
  }

  [[nodiscard]] const char* name() const { return name_.c_str(); }
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }

  void report(const Candidate& core) const {
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
  void link() {
    const GstPtr<GstPad> sink(gst_element_get_static_pad(element_.get(), "sink"));
    const GstPtr<GstPad> src(gst_element_get_static_pad(element_.get(), "src"));
    if (gst_pad_link(source_.get(), sink.get()) != GST_PAD_LINK_OK ||
        gst_pad_link(src.get(), drain_.get()) != GST_PAD_LINK_OK)
      fail("cannot be linked");
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
    return GST_FLOW_OK;
  }

  [[noreturn]] void fail(const char* what) const {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), what);
    std::exit(1);
  }

  std::string name_;
  oracle::Bytes expected_;
  GstPtr<GstElement> element_;
  GstPtr<GstPad> source_;
  GstPtr<GstPad> drain_;
  GstPtr<GstBuffer> input_;
  GstPtr<GstBuffer> last_;
  bool keep_ = false;
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
