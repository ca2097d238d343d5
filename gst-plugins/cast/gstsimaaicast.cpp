// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaicast: float32 <-> bfloat16 of linear tensors.
#include "gstsimaaicast.h"

#include <array>
#include <span>

#include <simaai/kernels/a65/cast.h>

#include "common/gstsimaaitensortransform.h"

namespace {

namespace kernel = simaai::kernels::a65::cast;
using simaai::kernels::DType;

/// The op as A65Adapter wants it.
struct CastOp {
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
    simaai::gst::Conversion{DType::BFloat16, DType::Float32},
};

constexpr simaai::gst::ElementDescription kDescription{
    "Tensor cast",
    "Converts linear tensors between float32 and bfloat16, bit for bit by the Cast rule; strides "
    "may differ on both sides",
    {"cast", 1, kConversions, simaai::gst::PortKind::Linear, simaai::gst::PortKind::Linear, false},
    simaai::gst::make_a65_adapter<CastOp>,
    simaai::gst::make_device_plan<CastOp>,
};

} // namespace

struct GstSimaaiCast {
  GstSimaaiTensorTransform parent;
};
struct GstSimaaiCastClass {
  GstSimaaiTensorTransformClass parent;
};

G_DEFINE_TYPE(GstSimaaiCast, gst_simaai_cast, GST_TYPE_SIMAAI_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(simaaicast, "simaaicast", GST_RANK_NONE, GST_TYPE_SIMAAI_CAST)

static void gst_simaai_cast_class_init(GstSimaaiCastClass* klass) {
  simaai::gst::configure_element(reinterpret_cast<GstSimaaiTensorTransformClass*>(klass),
                                 kDescription);
}

static void gst_simaai_cast_init(GstSimaaiCast* /*self*/) {}
