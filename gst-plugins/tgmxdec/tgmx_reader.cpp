// SPDX-License-Identifier: LGPL-2.1-or-later
// The reader of TGMX byte streams.
#include "tgmx_reader.h"

#include <simaai/kernels/matrix/tgmx_file.h>

namespace simaai::gst {

namespace matrix = kernels::matrix;

TgmxStep TgmxReader::refuse(const matrix::DecodeError& error) {
  clear();
  refused_ = true;
  TgmxStep step;
  step.kind = TgmxStep::Refused;
  step.reason = matrix::message(error);
  return step;
}

TgmxStep TgmxReader::next() {
  TgmxStep step;
  if (left() < matrix::kHeaderBytes)
    return step;
  std::byte header[matrix::kHeaderBytes];
  gst_adapter_copy(adapter_, header, 0, sizeof header);
  const auto shape = matrix::peek_shape(header);
  if (!shape)
    return refuse(shape.error());
  const std::size_t bytes = matrix::encoded_bytes(shape.value().rows, shape.value().cols);
  if (left() < bytes)
    return step;
  step.pts = gst_adapter_prev_pts(adapter_, nullptr);
  step.gathered = gst_adapter_available_fast(adapter_) < bytes;
  const auto* stream = static_cast<const std::byte*>(gst_adapter_map(adapter_, bytes));
  auto decoded = matrix::DynMatrix::decode({stream, bytes}, matrix::DynOrder::RowMajor);
  gst_adapter_unmap(adapter_);
  gst_adapter_flush(adapter_, bytes);
  if (!decoded)
    return refuse(decoded.error());
  step.kind = TgmxStep::Matrix;
  step.matrix.emplace(std::move(decoded).value());
  return step;
}

} // namespace simaai::gst
