// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaitess: linear int8 or bfloat16 tensors -> accelerator tiles.
#include "gstsimaaitess.h"

#include <array>
#include <span>

#include <simaai/kernels/a65/tess.h>

#include "common/gstsimaaitensortransform.h"

namespace {

namespace kernel = simaai::kernels::a65::tess;
using simaai::kernels::DType;

/// The op as A65Adapter wants it.
struct TessOp {
  using Plan = kernel::Plan;
  using Request = kernel::Request;
  using Params = kernel::Params;

  static auto check(const Request& request) noexcept { return kernel::check_inference(request); }
  static simaai::kernels::Status
  execute(const Plan& plan, std::span<const simaai::kernels::ConstHostBuffer> inputs,
          std::span<const simaai::kernels::HostBuffer> outputs) noexcept {
    return kernel::execute(plan, inputs, outputs);
  }
  static Params params(const simaai::gst::OpParams& from) noexcept {
    return {from.int8_channel_padding};
  }
};

constexpr std::array kConversions{
    simaai::gst::Conversion{DType::Int8, DType::Int8},
    simaai::gst::Conversion{DType::BFloat16, DType::BFloat16},
};

constexpr simaai::gst::ElementDescription kDescription{
    "Tensor tessellate",
    "Lays linear int8 or bfloat16 tensors out in accelerator tiles (layout mla-tiled) without "
    "changing a value",
    {"tess", 2, kConversions, simaai::gst::PortKind::Linear, simaai::gst::PortKind::Tiled, true},
    simaai::gst::make_a65_adapter<TessOp>,
    simaai::gst::make_device_plan<TessOp>,
};

} // namespace

struct GstSimaaiTess {
  GstSimaaiTensorTransform parent;
};
struct GstSimaaiTessClass {
  GstSimaaiTensorTransformClass parent;
};

G_DEFINE_TYPE(GstSimaaiTess, gst_simaai_tess, GST_TYPE_SIMAAI_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(simaaitess, "simaaitess", GST_RANK_NONE, GST_TYPE_SIMAAI_TESS)

static void gst_simaai_tess_class_init(GstSimaaiTessClass* klass) {
  simaai::gst::configure_element(reinterpret_cast<GstSimaaiTensorTransformClass*>(klass),
                                 kDescription);
}

static void gst_simaai_tess_init(GstSimaaiTess* /*self*/) {}
