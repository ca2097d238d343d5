// SPDX-License-Identifier: LGPL-2.1-or-later
// What backend=ev74 on model: adds to a buffer beyond the same model called directly: pads, pool, checks, job.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gst/gst.h>

#include <simaai/kernels/ev74/cast.h>

#include "../common/quantile.h"
#include "common/fd_memory.h"
#include "common/gst_ptr.h"
#include "dense.h"
#include "firmware/model/device_model.h"
#include "firmware/model/transport/model_options.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"

namespace {

using simaai::bench::dense;
using simaai::bench::quantile;
using simaai::gst::GstPtr;
using namespace simaai::kernels;
namespace model = simaai::model;
namespace oracle = simaai::oracle;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 301;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

struct Tensors {
  explicit Tensors(std::int64_t elements)
      : input{{elements}, DType::Float32}, output{{elements}, DType::BFloat16} {
    const auto values = oracle::random_tensor(input.shape, input.dtype, 3);
    from = dense(values);
    to = dense(oracle::convert(values, output.dtype));
  }
  TensorSpec input;
  TensorSpec output;
  oracle::Bytes from;
  oracle::Bytes to;
};

/// One packet on a model of its own, with the options of "model:".
class Direct {
public:
  explicit Direct(const Tensors& t) : input_(t.from), output_(t.to.size()) {
    const auto options = model::parse_options("");
    model_.emplace(*std::get_if<model::ModelConfig>(&options));
    const auto region = [this](oracle::Bytes& bytes, model::RegionAccess access) {
      return ev74::DeviceRegion{model_->map(bytes.data(), bytes.size(), access).value(),
                                bytes.size()};
    };
    const auto plan = ev74::cast::check_inference({{&t.input, 1}, {&t.output, 1}});
    const auto packet = ev74::cast::encode(std::get<ev74::cast::Plan>(plan),
                                           region(input_, model::RegionAccess::Read),
                                           region(output_, model::RegionAccess::Write));
    packet_.emplace(std::get<ev74::Invocation>(packet));
  }
  void run() {
    if (!model_->run(packet_->bytes()).clean())
      fail("the model objects");
  }
  [[nodiscard]] const oracle::Bytes& output() const { return output_; }

private:
  oracle::Bytes input_;
  oracle::Bytes output_;
  std::optional<model::DeviceModel> model_;
  std::optional<ev74::Invocation> packet_;
};

/// simaaicast between two bare pads, on memory that the device takes as it is.
class Element {
public:
  explicit Element(const Tensors& t)
      : element_(gst_element_factory_make("simaaicast", nullptr)),
        source_(gst_pad_new("source", GST_PAD_SRC)), drain_(gst_pad_new("drain", GST_PAD_SINK)) {
    if (!element_)
      fail("simaaicast cannot be created; set GST_PLUGIN_PATH");
    gst_util_set_object_arg(G_OBJECT(element_.get()), "backend", "ev74");
    gst_util_set_object_arg(G_OBJECT(element_.get()), "require-zero-copy", "true");
    gst_pad_set_chain_function_full(drain_.get(), drain, this, nullptr);
    const GstPtr<GstPad> sink(gst_element_get_static_pad(element_.get(), "sink"));
    const GstPtr<GstPad> src(gst_element_get_static_pad(element_.get(), "src"));
    if (gst_pad_link(source_.get(), sink.get()) != GST_PAD_LINK_OK ||
        gst_pad_link(src.get(), drain_.get()) != GST_PAD_LINK_OK)
      fail("simaaicast cannot be linked");
    gst_pad_set_active(drain_.get(), TRUE);
    gst_element_set_state(element_.get(), GST_STATE_PLAYING);
    gst_pad_set_active(source_.get(), TRUE);
    const GstPtr<GstCaps> caps(gst_caps_from_string(
        ("application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<" +
         std::to_string(t.input.shape.extents()[0]) + ">")
            .c_str()));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source_.get(), gst_event_new_stream_start("bench"));
    gst_pad_push_event(source_.get(), gst_event_new_caps(caps.get()));
    gst_pad_push_event(source_.get(), gst_event_new_segment(&segment));
    const auto allocator = simaai::gst::new_fd_allocator();
    input_.reset(gst_buffer_new_allocate(allocator.get(), t.from.size(), nullptr));
    gst_buffer_fill(input_.get(), 0, t.from.data(), t.from.size());
  }
  ~Element() {
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    gst_pad_set_active(source_.get(), FALSE);
    gst_pad_set_active(drain_.get(), FALSE);
  }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  void run() {
    if (gst_pad_push(source_.get(), gst_buffer_ref(input_.get())) != GST_FLOW_OK)
      fail("simaaicast refuses the buffer");
  }
  [[nodiscard]] oracle::Bytes output() {
    keep_ = true;
    run();
    keep_ = false;
    oracle::Bytes found(gst_buffer_get_size(last_.get()));
    gst_buffer_extract(last_.get(), 0, found.data(), found.size());
    last_.reset();
    return found;
  }

private:
  static GstFlowReturn drain(GstPad* pad, GstObject* /*parent*/, GstBuffer* buffer) noexcept {
    auto* self = static_cast<Element*>(pad->chaindata);
    if (self->keep_)
      self->last_.reset(buffer);
    else
      gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  }

  GstPtr<GstElement> element_;
  GstPtr<GstPad> source_;
  GstPtr<GstPad> drain_;
  GstPtr<GstBuffer> input_;
  GstPtr<GstBuffer> last_;
  bool keep_ = false;
};

template <class Subject> double microseconds(Subject& subject, int buffers) {
  const auto begun = Clock::now();
  for (int i = 0; i < buffers; ++i)
    subject.run();
  return std::chrono::duration<double, std::micro>(Clock::now() - begun).count() / buffers;
}

void measure(std::int64_t elements, int buffers) {
  const Tensors tensors(elements);
  Direct direct(tensors);
  Element element(tensors);
  (void)element.output();
  std::vector<double> alone;
  std::vector<double> piped;
  std::vector<double> over;
  for (int round = 0; round < kRounds; ++round) {
    // Alternating order: neither is always the one that finds the caches of the other.
    const bool first = round % 2 == 0;
    if (first)
      alone.push_back(microseconds(direct, buffers));
    piped.push_back(microseconds(element, buffers));
    if (!first)
      alone.push_back(microseconds(direct, buffers));
    over.push_back(piped.back() - alone.back());
  }
  if (direct.output() != tensors.to || element.output() != tensors.to)
    fail("wrong bytes");
  std::printf("%10lld %10.2f %10.2f %10.2f %8.2f .. %8.2f\n", static_cast<long long>(elements),
              quantile(alone, 0.5), quantile(piped, 0.5), quantile(over, 0.5), quantile(over, 0.25),
              quantile(over, 0.75));
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  std::printf("simaaicast backend=ev74 device=model: beside the model, us a buffer, medians of %d "
              "rounds\n%10s %10s %10s %10s %20s\n",
              kRounds, "elements", "model", "element", "over", "quartiles");
  measure(16, 100);
  measure(1024, 50);
  measure(65536, 10);
  measure(std::int64_t{640} * 640 * 3, 1);
  gst_deinit();
  return 0;
}
