// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaicast on float32 frames of 1 MiB beside an element that copies as many bytes as the cast reads and writes, both with outputs of
// the same kind of pool.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "candidate.h"
#include "common/gstsimaaitensorpool.h"
#include "common/pool_query.h"
#include "dense.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"

namespace {

using simaai::bench::Candidate;
using simaai::bench::dense;
using namespace simaai::kernels;
namespace oracle = simaai::oracle;

constexpr int kRounds = 201;
constexpr int kBuffers = 20;
constexpr std::size_t kFrameBytes = 1 << 20;
/// Reads and writes half of what the cast does together: 1 MiB + 0.5 MiB.
constexpr std::size_t kCopied = (kFrameBytes + kFrameBytes / 2) / 2;

} // namespace

struct BenchCopy {
  GstBaseTransform parent;
};
struct BenchCopyClass {
  GstBaseTransformClass parent;
};
G_DEFINE_TYPE(BenchCopy, bench_copy, GST_TYPE_BASE_TRANSFORM)

static void bench_copy_init(BenchCopy* /*self*/) {}

static void bench_copy_class_init(BenchCopyClass* klass) {
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "Copy", "Filter", "memcpy", "SimaKernels");
  for (const GstPadDirection direction : {GST_PAD_SINK, GST_PAD_SRC})
    gst_element_class_add_pad_template(
        element, gst_pad_template_new(direction == GST_PAD_SINK ? "sink" : "src", direction,
                                      GST_PAD_ALWAYS, GST_CAPS_ANY));
  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->decide_allocation = [](GstBaseTransform*, GstQuery* query) -> gboolean {
    return simaai::gst::negotiate_pool(query, kCopied, {}) ? TRUE : FALSE;
  };
  base->transform_size = [](GstBaseTransform*, GstPadDirection, GstCaps*, gsize, GstCaps*,
                            gsize* size) -> gboolean {
    *size = kCopied;
    return TRUE;
  };
  base->transform = [](GstBaseTransform*, GstBuffer* input, GstBuffer* output) -> GstFlowReturn {
    const simaai::gst::BufferMap from(input, GST_MAP_READ);
    const simaai::gst::BufferMap to(output, GST_MAP_WRITE);
    std::memcpy(to.data(), from.data(), kCopied);
    return GST_FLOW_OK;
  };
}

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  {
    const auto frame = oracle::random_tensor({1, 512, 512}, DType::Float32, 1);
    const auto bytes = dense(frame);
    const std::string caps =
        "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<1,512,512>";
    GstElement* cast = gst_element_factory_make("simaaicast", nullptr);
    if (cast != nullptr)
      gst_util_set_object_arg(G_OBJECT(cast), "backend", "a65");
    std::vector<std::unique_ptr<Candidate>> candidates;
    candidates.push_back(std::make_unique<Candidate>(
        "memcpy", GST_ELEMENT(g_object_new(bench_copy_get_type(), nullptr)), caps, bytes,
        oracle::Bytes(bytes.begin(), bytes.begin() + kCopied)));
    candidates.push_back(std::make_unique<Candidate>(
        "simaaicast", cast, caps, bytes, dense(oracle::convert(frame, DType::BFloat16))));
    simaai::bench::measure_in_rounds(candidates, kRounds, kBuffers);
    std::printf("%d rounds of %d frames of 1 MiB, in random order within a round; ratio compares\n"
                "slices of one round: throughput of the cast to that of memcpy\n",
                kRounds, kBuffers);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < candidates[0]->samples().size(); ++i)
      ratios.push_back(candidates[0]->samples()[i] / candidates[1]->samples()[i]);
    for (const auto& candidate : candidates)
      std::printf("%-12s %8.1f us a frame\n", candidate->name(),
                  simaai::bench::quantile(candidate->samples(), 0.5) / 1000);
    std::printf("ratio        %8.2f (quartiles %.2f to %.2f)\n",
                simaai::bench::quantile(ratios, 0.5), simaai::bench::quantile(ratios, 0.25),
                simaai::bench::quantile(ratios, 0.75));
  }
  gst_deinit();
  return 0;
}
