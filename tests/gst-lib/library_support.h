// SPDX-License-Identifier: LGPL-2.1-or-later
// What the tests of libgstsimaaitensor-1.0 share: owners, caps, reasons.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gst/simaai/tensor.h>

#include "gst/element_harness.h"

namespace simaai::test {

using gst::GstPtr;

struct FreeInfo {
  void operator()(GstSimaaiTensorInfo* info) const { gst_simaai_tensor_info_free(info); }
};
struct FreeSet {
  void operator()(GstSimaaiTensorSet* set) const { gst_simaai_tensor_set_free(set); }
};
using Info = std::unique_ptr<GstSimaaiTensorInfo, FreeInfo>;
using Set = std::unique_ptr<GstSimaaiTensorSet, FreeSet>;

/// Keeps the reason of the last refused call.
class Reason {
public:
  ~Reason() { g_clear_error(&error_); }
  GError** operator&() { // NOLINT: as a GError* variable is used
    g_clear_error(&error_);
    return &error_;
  }
  [[nodiscard]] std::string text() const { return error_ != nullptr ? error_->message : ""; }
  [[nodiscard]] int code() const {
    return error_ != nullptr && error_->domain == GST_SIMAAI_ERROR ? error_->code : -1;
  }

private:
  GError* error_ = nullptr;
};

inline GstPtr<GstCaps> caps_of(const std::string& text) {
  return GstPtr<GstCaps>(gst_caps_from_string(text.c_str()));
}
inline std::string text_of(GstCaps* caps) {
  const gst::GTextPtr text(gst_caps_to_string(caps));
  return text.get();
}
inline Info info_of(const std::string& caps) {
  return Info(gst_simaai_tensor_info_new_from_caps(caps_of(caps).get(), nullptr));
}
inline Set set_of(const std::string& caps) {
  Set set(gst_simaai_tensor_set_new_from_caps(caps_of(caps).get(), nullptr));
  EXPECT_NE(set, nullptr) << caps;
  return set;
}
inline std::vector<gint> shape_of(const Info& info) {
  gsize rank = 0;
  const gint* shape = gst_simaai_tensor_info_get_shape(info.get(), &rank);
  return {shape, shape + rank};
}
inline std::vector<gint64> strides_of(const Info& info) {
  gsize rank = 0;
  const gint64* strides = gst_simaai_tensor_info_get_strides(info.get(), &rank);
  return {strides, strides + rank};
}
inline guint64 size_of(const Info& info) {
  guint64 bytes = 0;
  EXPECT_TRUE(gst_simaai_tensor_info_get_size(info.get(), &bytes, nullptr));
  return bytes;
}

inline constexpr const char* kMember = "application/vnd.simaai.tensor,layout=contiguous,";

/// Caps of a set of two.
inline std::string set_caps(const std::string& first, const std::string& second) {
  return "application/vnd.simaai.tensor-set,framerate=25/1,tensors=(structure)<[" +
         std::string(kMember) + first + "],[" + kMember + second + "]>";
}

} // namespace simaai::test
