// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of simaainpysrc: properties and the virtual functions of GstBaseSrc.
#include "gstsimaainpysrc.h"

#include "common/element_stats.h"
#include "common/errors.h"
#include "common/fd_memory.h"
#include "common/negotiation.h"
#include "npy_source.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_npy_src_debug);
#define GST_CAT_DEFAULT gst_simaai_npy_src_debug

namespace {

using simaai::gst::GstPtr;
using simaai::gst::NpySource;
using simaai::gst::NpySourceSettings;
using simaai::gst::ObjectLock;

struct NpySrcPrivate {
  explicit NpySrcPrivate(GstBaseSrc* element) : source(element) {}
  NpySourceSettings settings; ///< object lock
  GstPtr<GstCaps> caps;       ///< property, object lock
  NpySource source;           ///< streaming thread, apart from stats()
};

} // namespace

struct _GstSimaaiNpySrc {
  GstPushSrc parent;
  NpySrcPrivate* priv;
};

#define gst_simaai_npy_src_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiNpySrc, gst_simaai_npy_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(
    simaainpysrc, "simaainpysrc", GST_RANK_NONE, GST_TYPE_SIMAAI_NPY_SRC,
    GST_DEBUG_CATEGORY_INIT(gst_simaai_npy_src_debug, "simaainpysrc", 0, "numpy file source"))

namespace {

enum Property : guint {
  PropLocation = 1,
  PropStartIndex,
  PropStopIndex,
  PropLoop,
  PropDType,
  PropCaps,
  PropFramerate,
  PropMinBuffers,
  PropMaxBuffers,
  PropStats,
};

// 0 is "auto", the others are DType + 1.
constexpr GEnumValue kDTypeValues[] = {
    {0, "As the file says", "auto"}, {1, "8-bit integers", "int8"},
    {2, "8-bit naturals", "uint8"},  {3, "32-bit integers", "int32"},
    {4, "IEEE binary16", "float16"}, {5, "Upper half of binary32", "bfloat16"},
    {6, "IEEE binary32", "float32"}, {0, nullptr, nullptr},
};
static_assert(static_cast<int>(simaai::kernels::DType::Float32) == 5);

GType dtype_enum_type() {
  static const GType type = g_enum_register_static("GstSimaaiNpySrcDType", kDTypeValues);
  return type;
}

GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS("application/vnd.simaai.tensor; application/vnd.simaai.tensor(memory:DMABuf)"));

NpySrcPrivate& priv_of(gpointer object) noexcept { return *GST_SIMAAI_NPY_SRC(object)->priv; }

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) noexcept {
  NpySrcPrivate& priv = priv_of(object);
  const ObjectLock lock(object);
  switch (id) {
  case PropLocation: {
    const char* location = g_value_get_string(value);
    priv.settings.location = location != nullptr ? location : "";
    break;
  }
  case PropStartIndex:
    priv.settings.start_index = g_value_get_int(value);
    break;
  case PropStopIndex:
    priv.settings.stop_index = g_value_get_int(value);
    break;
  case PropLoop:
    priv.settings.loop = g_value_get_boolean(value) != FALSE;
    break;
  case PropDType: {
    const int choice = g_value_get_enum(value);
    priv.settings.reinterpret.reset();
    if (choice > 0)
      priv.settings.reinterpret = static_cast<simaai::kernels::DType>(choice - 1);
    break;
  }
  case PropCaps: {
    const GstCaps* caps = gst_value_get_caps(value);
    priv.caps.reset(caps != nullptr ? gst_caps_copy(caps) : nullptr);
    break;
  }
  case PropFramerate:
    priv.settings.framerate = {gst_value_get_fraction_numerator(value),
                               gst_value_get_fraction_denominator(value)};
    break;
  case PropMinBuffers:
    priv.settings.pool.min_buffers = g_value_get_uint(value);
    break;
  case PropMaxBuffers:
    priv.settings.pool.max_buffers = g_value_get_uint(value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) noexcept {
  const NpySrcPrivate& priv = priv_of(object);
  if (id == PropStats) {
    g_value_take_boxed(value, priv.source.stats());
    return;
  }
  const ObjectLock lock(object);
  const NpySourceSettings& settings = priv.settings;
  switch (id) {
  case PropLocation:
    g_value_set_string(value, settings.location.c_str());
    break;
  case PropStartIndex:
    g_value_set_int(value, static_cast<int>(settings.start_index));
    break;
  case PropStopIndex:
    g_value_set_int(value, static_cast<int>(settings.stop_index));
    break;
  case PropLoop:
    g_value_set_boolean(value, settings.loop);
    break;
  case PropDType:
    g_value_set_enum(value, settings.reinterpret ? static_cast<int>(*settings.reinterpret) + 1 : 0);
    break;
  case PropCaps:
    gst_value_set_caps(value, priv.caps.get());
    break;
  case PropFramerate:
    gst_value_set_fraction(value, settings.framerate.first, settings.framerate.second);
    break;
  case PropMinBuffers:
    g_value_set_uint(value, settings.pool.min_buffers);
    break;
  case PropMaxBuffers:
    g_value_set_uint(value, settings.pool.max_buffers);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

gboolean start(GstBaseSrc* src) noexcept {
  NpySrcPrivate& priv = priv_of(src);
  NpySourceSettings settings;
  GstPtr<GstCaps> caps;
  {
    const ObjectLock lock(src);
    settings = priv.settings;
    if (priv.caps != nullptr)
      caps.reset(gst_caps_ref(priv.caps.get()));
  }
  return priv.source.start(settings, std::move(caps)) ? TRUE : FALSE;
}

gboolean stop(GstBaseSrc* src) noexcept {
  priv_of(src).source.stop();
  return TRUE;
}

/// The same caps in DMA-BUFs, for a downstream that takes nothing else; null where this machine has no source of them.
GstPtr<GstCaps> in_dma_bufs(const GstCaps* caps) {
  const auto allocator = simaai::gst::shared_fd_allocator();
  if (!simaai::gst::gives_dma_bufs(allocator.get()))
    return nullptr;
  GstPtr<GstCaps> made(gst_caps_copy(caps));
  gst_caps_set_features_simple(made.get(),
                               gst_caps_features_new(simaai::gst::kDmaBufFeature, nullptr));
  return made;
}

/// The caps are those of the next file: there is nothing to choose but the memory.
gboolean negotiate(GstBaseSrc* src) noexcept {
  const GstPtr<GstCaps> caps = priv_of(src).source.caps();
  if (caps == nullptr)
    return FALSE;
  const auto accepted = [src](GstCaps* offered) {
    return gst_pad_peer_query_accept_caps(GST_BASE_SRC_PAD(src), offered) != FALSE;
  };
  if (!accepted(caps.get()))
    if (const auto in_others = in_dma_bufs(caps.get());
        in_others != nullptr && accepted(in_others.get()))
      return gst_base_src_set_caps(src, in_others.get());
  if (!accepted(caps.get())) {
    const GstPtr<GstCaps> wanted(gst_pad_peer_query_caps(GST_BASE_SRC_PAD(src), nullptr));
    simaai::gst::Report report;
    report.reason = "downstream does not accept the tensor of the file";
    report.src_caps = caps.get();
    const simaai::gst::GTextPtr text(gst_caps_to_string(wanted.get()));
    report.reason += "; it accepts " + std::string(text.get());
    simaai::gst::post_error(GST_ELEMENT_CAST(src), simaai::gst::ErrorKind::Negotiation, report);
    return FALSE;
  }
  return gst_base_src_set_caps(src, caps.get());
}

gboolean decide_allocation(GstBaseSrc* src, GstQuery* query) noexcept {
  return priv_of(src).source.decide_allocation(query) ? TRUE : FALSE;
}

gboolean is_seekable(GstBaseSrc*) noexcept { return FALSE; }

GstFlowReturn create(GstPushSrc* src, GstBuffer** into) noexcept {
  GstPtr<GstBuffer> buffer;
  const GstFlowReturn flow = priv_of(src).source.create(buffer);
  if (flow == GST_FLOW_OK)
    *into = buffer.release();
  return flow;
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_NPY_SRC(object)->priv;
  G_OBJECT_CLASS(gst_simaai_npy_src_parent_class)->finalize(object);
}

void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, PropLocation,
      g_param_spec_string("location", "Location",
                          "File to read, or a pattern with one %d, %5d or %05d that names a "
                          "series; %% stands for a percent sign",
                          "", flags));
  g_object_class_install_property(klass, PropStartIndex,
                                  g_param_spec_int("start-index", "Start index",
                                                   "Number of the first file of a series", 0,
                                                   G_MAXINT, 0, flags));
  g_object_class_install_property(
      klass, PropStopIndex,
      g_param_spec_int("stop-index", "Stop index",
                       "Number of the last file of a series; -1 stops before the first file that "
                       "is missing",
                       -1, G_MAXINT, -1, flags));
  g_object_class_install_property(
      klass, PropLoop,
      g_param_spec_boolean("loop", "Loop",
                           "Start again after the last file (of a series, or the single one) "
                           "until num-buffers is reached",
                           FALSE, flags));
  g_object_class_install_property(
      klass, PropDType,
      g_param_spec_enum("dtype", "Scalar type",
                        "What the elements of the file stand for, where its type word cannot say "
                        "it, such as bfloat16 kept as <u2; the width must be the same",
                        dtype_enum_type(), 0, flags));
  g_object_class_install_property(
      klass, PropCaps,
      g_param_spec_boxed("caps", "Tensor caps",
                         "Fixed tensor caps that the file holds the physical bytes of, as a "
                         "one-dimensional |u1 array (tiled and strided tensors)",
                         GST_TYPE_CAPS, flags));
  g_object_class_install_property(
      klass, PropFramerate,
      gst_param_spec_fraction("framerate", "Frame rate",
                              "Tensors a second, for timestamps and caps; 0/1 leaves buffers "
                              "without timestamps, unless property caps has a frame rate",
                              0, 1, G_MAXINT, 1, 0, 1, flags));
  simaai::gst::install_pool_limits(klass, PropMinBuffers, PropMaxBuffers);
  simaai::gst::install_stats_property(
      klass, PropStats,
      "Counters since the element was started: frames, bytes-in (of files), bytes-out (of "
      "tensors), "
      "copies, conversions (files in another byte order), allocations, p50-ns, p95-ns, p99-ns and "
      "max-ns of opening and reading a file (all uint64); memory and memory-source (strings)");
}

} // namespace

static void gst_simaai_npy_src_class_init(GstSimaaiNpySrcClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(
      element_class, "Tensor source for numpy files", "Source/File/Tensor",
      "Pushes the tensors of .npy files; caps follow from the headers", "SimaKernels");
  gst_type_mark_as_plugin_api(dtype_enum_type(), static_cast<GstPluginAPIFlags>(0));

  auto* base_class = GST_BASE_SRC_CLASS(klass);
  base_class->start = start;
  base_class->stop = stop;
  base_class->negotiate = negotiate;
  base_class->decide_allocation = decide_allocation;
  base_class->is_seekable = is_seekable;
  GST_PUSH_SRC_CLASS(klass)->create = create;
}

static void gst_simaai_npy_src_init(GstSimaaiNpySrc* self) {
  self->priv = new NpySrcPrivate(GST_BASE_SRC(self));
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
