// SPDX-License-Identifier: LGPL-2.1-or-later
// What an op element costs a buffer beyond core identity, on tensors so small that the op itself is nothing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gst/gst.h>

#include "../common/quantile.h"
#include "common/gst_ptr.h"
#include "dense.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "oracle/tiles.h"

namespace {

using simaai::bench::dense;
using simaai::bench::quantile;
using simaai::gst::GstPtr;
using namespace simaai::kernels;
namespace oracle = simaai::oracle;

// Short slices in many rounds: the clock of a shared machine steps between frequencies within a
// second, and a difference means something only between slices that ran at the same one.
constexpr int kRounds = 401;
constexpr int kBuffers = 1500;
const Shape kShape{2, 8};
const MlaTiled kTiled{{-1, -1, 0, 1}, {1, 1, 2, 8}, ChannelStorage::Compact};
constexpr const char* kTiledFields =
    "layout=mla-tiled,tile-axes=<-1,-1,0,1>,tile-shape=<1,1,2,8>,channel-storage=compact";

/// One element between two bare pads.
class Candidate {
public:
  Candidate(const char* factory, const std::string& fields, oracle::Bytes input,
            oracle::Bytes expected)
      : name_(factory), expected_(std::move(expected)),
        element_(gst_element_factory_make(factory, nullptr)),
        source_(gst_pad_new("source", GST_PAD_SRC)), drain_(gst_pad_new("drain", GST_PAD_SINK)) {
    if (!element_)
      fail("cannot be created; set GST_PLUGIN_PATH");
    if (name_ != "identity")
      gst_util_set_object_arg(G_OBJECT(element_.get()), "backend", "a65");
    gst_pad_set_chain_function_full(drain_.get(), drain, this, nullptr);
    link();
    gst_pad_set_active(drain_.get(), TRUE);
    gst_element_set_state(element_.get(), GST_STATE_PLAYING);
    gst_pad_set_active(source_.get(), TRUE);
    start(fields);
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

  void measure() {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < kBuffers; ++i)
      gst_pad_push(source_.get(), gst_buffer_ref(input_.get()));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    samples_.push_back(took.count() / kBuffers);
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

  void report(const Candidate& core) const {
    std::vector<double> over(samples_.size());
    std::transform(samples_.begin(), samples_.end(), core.samples_.begin(), over.begin(),
                   std::minus<>());
    std::vector<double> ratio(samples_.size());
    std::transform(samples_.begin(), samples_.end(), core.samples_.begin(), ratio.begin(),
                   std::divides<>());
    std::printf("%-18s %8.1f %8.1f %10.1f %8.1f .. %6.1f %8.2f\n", name_.c_str(),
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

  void start(const std::string& fields) {
    const GstPtr<GstCaps> caps(
        gst_caps_from_string(("application/vnd.simaai.tensor,shape=<2,8>," + fields).c_str()));
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

std::vector<std::unique_ptr<Candidate>> all_candidates() {
  const auto wide = oracle::random_tensor(kShape, DType::Float32, 1);
  const auto narrow = oracle::convert(wide, DType::BFloat16);
  const auto back = oracle::convert(narrow, DType::Float32);
  const auto tiles = oracle::tile(narrow, kTiled);
  const std::string linear32 = "dtype=float32,layout=contiguous";
  const std::string linear16 = "dtype=bfloat16,layout=contiguous";
  const std::string tiled16 = std::string("dtype=bfloat16,") + kTiledFields;
  std::vector<std::unique_ptr<Candidate>> all;
  const auto add = [&](const char* name, const std::string& fields, const oracle::Bytes& input,
                       const oracle::Bytes& expected) {
    all.push_back(std::make_unique<Candidate>(name, fields, input, expected));
  };
  add("identity", linear32, dense(wide), dense(wide));
  add("simaaicast", linear32, dense(wide), dense(narrow));
  add("simaaidetess", tiled16, tiles, dense(narrow));
  add("simaaidetesscast", tiled16, tiles, dense(back));
  // Default tiles of this shape, except that channels are padded to 16.
  MlaTiled padded = kTiled;
  padded.channels = ChannelStorage::PadTo16;
  add("simaaitess", linear16, dense(narrow), oracle::tile(narrow, padded));
  add("simaaicasttess", linear32, dense(wide), oracle::tile(narrow, padded));
  return all;
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  {
    auto candidates = all_candidates();
    std::vector<std::size_t> order(candidates.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::mt19937 random(1);
    for (int round = 0; round < kRounds; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order)
        candidates[i]->measure();
    }
    std::printf("ns a buffer, %d rounds of %d buffers, in random order within a round; over core\n"
                "and ratio compare slices of one round\n",
                kRounds, kBuffers);
    std::printf("%-18s %8s %8s %10s %18s %8s\n", "element", "min", "median", "over core",
                "quartiles", "ratio");
    for (const auto& candidate : candidates) {
      candidate->verify();
      candidate->report(*candidates.front());
    }
  }
  gst_deinit();
  return 0;
}
