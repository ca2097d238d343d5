// SPDX-License-Identifier: LGPL-2.1-or-later
// Abstract base of the op elements: a tensor or a set in, the same out, an OpAdapter in between.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "export.h"
#include "op_adapter.h"

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_TRANSFORM (gst_simaai_tensor_transform_get_type())

struct GstSimaaiTensorTransform {
  GstBaseTransform parent;
};

struct GstSimaaiTensorTransformClass {
  GstBaseTransformClass parent;
  /// Set by each element's class_init through configure_element(); static storage.
  const simaai::gst::OpTraits* traits;
  simaai::gst::AdapterFactory factory;
  simaai::gst::PlanFactory device_plan;
};

SIMAAI_GST_API GType gst_simaai_tensor_transform_get_type(void);
G_END_DECLS

namespace simaai::gst {

/// What a concrete element says about itself. Static storage.
struct ElementDescription {
  const char* long_name;
  const char* description;
  OpTraits traits;
  AdapterFactory factory;
  PlanFactory device_plan;
};

/// The whole class_init of a concrete element: metadata, pad templates, properties, adapter.
SIMAAI_GST_API void configure_element(GstSimaaiTensorTransformClass* klass,
                                      const ElementDescription& description);

} // namespace simaai::gst
