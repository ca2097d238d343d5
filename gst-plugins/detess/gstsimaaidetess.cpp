// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaidetess: int8 or bfloat16 accelerator tiles -> linear tensors.
#include "gstsimaaidetess.h"

#include <array>
#include <span>

#include <simaai/kernels/a65/detess.h>

#include "common/gstsimaaitensortransform.h"

namespace {

namespace kernel = simaai::kernels::a65::detess;
using simaai::kernels::DType;

/// The op as A65Adapter wants it.
struct DetessOp {
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
    simaai::gst::Conversion{DType::Int8, DType::Int8},
    simaai::gst::Conversion{DType::BFloat16, DType::BFloat16},
};

constexpr simaai::gst::ElementDescription kDescription{
    "Tensor detessellate",
    "Brings int8 or bfloat16 tensors from accelerator tiles (layout mla-tiled or mla-cblocked) "
    "back to linear order without changing a value",
    {"detess", 4, kConversions, simaai::gst::PortKind::Tiled, simaai::gst::PortKind::Linear, false},
    simaai::gst::make_a65_adapter<DetessOp>,
    simaai::gst::make_device_plan<DetessOp>,
};

} // namespace

struct GstSimaaiDetess {
  GstSimaaiTensorTransform parent;
};
struct GstSimaaiDetessClass {
  GstSimaaiTensorTransformClass parent;
};

G_DEFINE_TYPE(GstSimaaiDetess, gst_simaai_detess, GST_TYPE_SIMAAI_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(simaaidetess, "simaaidetess", GST_RANK_NONE, GST_TYPE_SIMAAI_DETESS)

static void gst_simaai_detess_class_init(GstSimaaiDetessClass* klass) {
  simaai::gst::configure_element(reinterpret_cast<GstSimaaiTensorTransformClass*>(klass),
                                 kDescription);
}

static void gst_simaai_detess_init(GstSimaaiDetess* /*self*/) {}
