// SPDX-License-Identifier: LGPL-2.1-or-later
// Header, payload, rename.
#include "npy_writer.h"

#include <array>
#include <cerrno>
#include <utility>

#include <glib.h>

#include <simaai/kernels/ops/requirement.h>

#include "common/linear_size.h"
#include "gather.h"
#include "npysrc/npy_header.h"
#include "part_file.h"

namespace simaai::gst {
std::variant<NpyWriter, std::string> NpyWriter::make(const kernels::TensorSpec& spec) {
  const auto need = kernels::ops::port_requirement(spec);
  if (const auto* refused = std::get_if<kernels::Error>(&need))
    return refused->message();
  NpyWriter writer;
  writer.spec_ = spec;
  writer.needed_bytes_ = std::get<kernels::ops::PortRequirement>(need).bytes;
  const bool linear = std::holds_alternative<kernels::Contiguous>(spec.layout) ||
                      std::holds_alternative<kernels::Strided>(spec.layout);
  if (!linear) {
    const std::array physical{static_cast<std::int64_t>(writer.needed_bytes_)};
    writer.header_ = npy_build_header(kernels::DType::UInt8, physical);
    return writer;
  }
  writer.header_ = npy_build_header(spec.dtype, spec.shape.extents());
  if (!is_dense(spec) && writer.needed_bytes_ > 0) {
    std::size_t bytes = kernels::scalar_bytes(spec.dtype);
    for (const std::int64_t extent : spec.shape.extents())
      bytes *= static_cast<std::size_t>(extent);
    writer.gathered_.resize(bytes);
  }
  return writer;
}

std::optional<std::string> NpyWriter::write(const std::string& path,
                                            std::span<const std::byte> tensor) {
  std::span<const std::byte> payload = tensor.first(static_cast<std::size_t>(needed_bytes_));
  if (gathers()) {
    gather_row_major(spec_, tensor.data(), gathered_.data());
    payload = gathered_;
  }
  auto place = find_file_place(path);
  if (auto* refused = std::get_if<std::string>(&place))
    return std::move(*refused);
  PartFile file(std::get<FilePlace>(std::move(place)));
  if (auto refused = file.create())
    return refused;
  if (!file.append(std::as_bytes(std::span(header_))) || !file.append(payload))
    return "file '" + file.name() + "': writing " +
           std::to_string(header_.size() + payload.size()) + " bytes failed: " + g_strerror(errno);
  if (!file.commit())
    return "file '" + path + "': cannot be put in place: " + std::string(g_strerror(errno));
  return std::nullopt;
}

} // namespace simaai::gst
