// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaidetesscast: bfloat16 accelerator tiles -> linear float32 or bfloat16 in one pass.
#include "gstsimaaidetesscast.h"

#include <array>
#include <span>

#include <simaai/kernels/a65/detesscast.h>

#include "common/gstsimaaitensortransform.h"

namespace {

namespace kernel = simaai::kernels::a65::detesscast;
using simaai::kernels::DType;

/// The op as A65Adapter wants it.
struct DetessCastOp {
  using Plan = kernel::Plan;
  using Request = kernel::Request;
  using Params = kernel::Params;

  static auto check(const Request& request) noexcept { return kernel::check_inference(request); }
  static simaai::kernels::Status
  execute(const Plan& plan, std::span<const simaai::kernels::ConstHostBuffer> inputs,
          std::span<const simaai::kernels::HostBuffer> outputs) noexcept {
    return kernel::execute(plan, inputs, outputs);
  }
  static Params params(const simaai::gst::OpParams& /*from*/) noexcept { return {}; }
};

constexpr std::array kConversions{
    simaai::gst::Conversion{DType::BFloat16, DType::Float32},
    simaai::gst::Conversion{DType::BFloat16, DType::BFloat16},
};

constexpr simaai::gst::ElementDescription kDescription{
    "Tensor detessellate and cast",
    "Brings bfloat16 tensors from accelerator tiles (layout mla-tiled or mla-cblocked) back to "
    "linear order, as float32 or bfloat16, in one pass",
    {"detesscast", 5, kConversions, simaai::gst::PortKind::Tiled, simaai::gst::PortKind::Linear,
     false},
    simaai::gst::make_a65_adapter<DetessCastOp>,
    simaai::gst::make_device_plan<DetessCastOp>,
};

} // namespace

struct GstSimaaiDetessCast {
  GstSimaaiTensorTransform parent;
};
struct GstSimaaiDetessCastClass {
  GstSimaaiTensorTransformClass parent;
};

G_DEFINE_TYPE(GstSimaaiDetessCast, gst_simaai_detesscast, GST_TYPE_SIMAAI_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(simaaidetesscast, "simaaidetesscast", GST_RANK_NONE,
                            GST_TYPE_SIMAAI_DETESSCAST)

static void gst_simaai_detesscast_class_init(GstSimaaiDetessCastClass* klass) {
  simaai::gst::configure_element(reinterpret_cast<GstSimaaiTensorTransformClass*>(klass),
                                 kDescription);
}

static void gst_simaai_detesscast_init(GstSimaaiDetessCast* /*self*/) {}
