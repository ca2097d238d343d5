// SPDX-License-Identifier: LGPL-2.1-or-later
// What backend=ev74 on model: adds to a buffer beyond the same model called directly: pads, pool, checks, job.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gst/allocators/gstfdmemory.h>
#include <gst/gst.h>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/runtime/dma_buf.h>

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
namespace runtime = simaai::runtime;
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
  /// The one buffer of the pool that all runs write.
  [[nodiscard]] GstPtr<GstBuffer> output_buffer() {
    keep_ = true;
    run();
    keep_ = false;
    return std::move(last_);
  }
  [[nodiscard]] GstMemory* input_memory() const { return gst_buffer_peek_memory(input_.get(), 0); }
  [[nodiscard]] oracle::Bytes output() {
    const GstPtr<GstBuffer> last = output_buffer();
    oracle::Bytes found(gst_buffer_get_size(last.get()));
    gst_buffer_extract(last.get(), 0, found.data(), found.size());
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

/// The pages of an fd-backed memory.
runtime::CpuMapping map_pages(GstMemory* memory, bool writable) {
  auto mapped = runtime::CpuMapping::map(gst_fd_memory_get_fd(memory), memory->offset, memory->size,
                                         writable);
  if (std::holds_alternative<runtime::Error>(mapped))
    fail("memory of the element cannot be mapped");
  return std::move(std::get<runtime::CpuMapping>(mapped));
}

/// One packet on a model of its own, with the options of "model:", on the pages that the element uses: neither finds its
/// tensors in nearer memory than the other.
class Direct {
public:
  Direct(const Tensors& t, GstMemory* from, GstMemory* to)
      : input_(map_pages(from, false)), output_(map_pages(to, true)) {
    const auto options = model::parse_options("");
    model_.emplace(*std::get_if<model::ModelConfig>(&options));
    const auto region = [this](const runtime::CpuMapping& memory, model::RegionAccess access) {
      return ev74::DeviceRegion{model_->map(memory.data(), memory.size_bytes(), access).value(),
                                memory.size_bytes()};
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
  void clear() const { std::memset(output_.data(), 0, output_.size_bytes()); }
  [[nodiscard]] oracle::Bytes output(std::size_t bytes) const {
    const auto* data = reinterpret_cast<const std::uint8_t*>(output_.data());
    return {data, data + bytes};
  }

private:
  runtime::CpuMapping input_;
  runtime::CpuMapping output_;
  std::optional<model::DeviceModel> model_;
  std::optional<ev74::Invocation> packet_;
};

template <class Subject> double microseconds(Subject& subject, int buffers) {
  const auto begun = Clock::now();
  for (int i = 0; i < buffers; ++i)
    subject.run();
  return std::chrono::duration<double, std::micro>(Clock::now() - begun).count() / buffers;
}

void measure(std::int64_t elements, int buffers) {
  const Tensors tensors(elements);
  Element element(tensors);
  GstMemory* const written = gst_buffer_peek_memory(element.output_buffer().get(), 0);
  Direct direct(tensors, element.input_memory(), written);
  const auto is_same = [&](const GstPtr<GstBuffer>& buffer) {
    return gst_buffer_peek_memory(buffer.get(), 0) == written;
  };
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
  if (!is_same(element.output_buffer()))
    fail("the element writes other memory");
  if (element.output() != tensors.to)
    fail("wrong bytes");
  direct.clear();
  direct.run();
  if (direct.output(tensors.to.size()) != tensors.to)
    fail("wrong bytes of the model");
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
  measure(std::int64_t{640} * 640 * 3, 4);
  gst_deinit();
  return 0;
}
