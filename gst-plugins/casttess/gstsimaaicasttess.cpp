// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaicasttess: linear float tensors -> bfloat16 accelerator tiles in one pass.
#include "gstsimaaicasttess.h"

#include <array>
#include <span>

#include <simaai/kernels/a65/casttess.h>

#include "common/gstsimaaitensortransform.h"

namespace {

namespace kernel = simaai::kernels::a65::casttess;
using simaai::kernels::DType;

/// The op as A65Adapter wants it.
struct CastTessOp {
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
    simaai::gst::Conversion{DType::Float32, DType::BFloat16},
    simaai::gst::Conversion{DType::Float16, DType::BFloat16},
    simaai::gst::Conversion{DType::BFloat16, DType::BFloat16},
};

constexpr simaai::gst::ElementDescription kDescription{
    "Tensor cast and tessellate",
    "Converts linear float32, float16 or bfloat16 tensors to bfloat16 accelerator tiles (layout "
    "mla-tiled) in one pass",
    {"casttess", 3, kConversions, simaai::gst::PortKind::Linear, simaai::gst::PortKind::Tiled,
     false},
    simaai::gst::make_a65_adapter<CastTessOp>,
    simaai::gst::make_device_plan<CastTessOp>,
};

} // namespace

struct GstSimaaiCastTess {
  GstSimaaiTensorTransform parent;
};
struct GstSimaaiCastTessClass {
  GstSimaaiTensorTransformClass parent;
};

G_DEFINE_TYPE(GstSimaaiCastTess, gst_simaai_casttess, GST_TYPE_SIMAAI_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(simaaicasttess, "simaaicasttess", GST_RANK_NONE,
                            GST_TYPE_SIMAAI_CASTTESS)

static void gst_simaai_casttess_class_init(GstSimaaiCastTessClass* klass) {
  simaai::gst::configure_element(reinterpret_cast<GstSimaaiTensorTransformClass*>(klass),
                                 kDescription);
}

static void gst_simaai_casttess_init(GstSimaaiCastTess* /*self*/) {}
