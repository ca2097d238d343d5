// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of the formats, whole files, and the choice of reader and writer.
#include "formats.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include <simaai/kernels/matrix/tgmx_file.h>

#include "matrix/whole_file.h"

namespace simaai::kernels::matrix::tool {
namespace {

// No matrix needs more, not even as text: sign, three digits and a separator an element.
constexpr std::size_t kLargestFile = 5 * kCoordSpace * kCoordSpace + (std::size_t{1} << 20);

constexpr std::array<std::pair<std::string_view, Format>, 3> kNames = {
    {{"tgmx", Format::Tgmx}, {"npy", Format::Npy}, {"text", Format::Text}}};
constexpr std::array<std::pair<std::string_view, Format>, 4> kExtensions = {
    {{".tgmx", Format::Tgmx},
     {".npy", Format::Npy},
     {".txt", Format::Text},
     {".csv", Format::Text}}};

bool is_standard_input(std::string_view path) { return path == "-" || path == "/dev/stdin"; }
bool is_standard_output(std::string_view path) { return path == "-" || path == "/dev/stdout"; }

std::string system_text(const char* what, int error = errno) {
  return std::string(what) + std::strerror(error);
}

Read parse_tgmx(std::string_view content) {
  auto matrix = DynMatrix::decode(std::as_bytes(std::span(content)), DynOrder::RowMajor);
  if (!matrix)
    return message(matrix.error());
  return std::move(matrix).value();
}

Read read_with(Read (*parse)(std::string_view), const std::string& path) {
  std::string content;
  if (const Written problem = read_file(path, content))
    return *problem;
  return parse(content);
}

Read read_tgmx_file(const std::string& path) {
  if (is_standard_input(path))
    return read_with(parse_tgmx, path);
  auto matrix = read_tgmx(path, DynOrder::RowMajor);
  if (!matrix)
    return matrix.error().message();
  return std::move(matrix).value();
}

Written write_tgmx_file(const std::string& path, const DynMatrix& matrix) {
  if (is_standard_output(path)) {
    std::string stream(encoded_bytes(matrix.rows(), matrix.cols()), '\0');
    (void)matrix.encode(std::as_writable_bytes(std::span(stream))); // it has the needed size
    return write_file(path, stream);
  }
  const auto written = write_tgmx(path, matrix);
  if (!written)
    return written.error().message();
  return std::nullopt;
}

} // namespace

std::optional<Format> format_from_name(std::string_view name) {
  for (const auto& [known, format] : kNames)
    if (name == known)
      return format;
  return std::nullopt;
}

std::optional<Format> format_from_path(std::string_view path) {
  for (const auto& [extension, format] : kExtensions)
    if (path.ends_with(extension))
      return format;
  return std::nullopt;
}

std::string input_name(const std::string& path) {
  return is_standard_input(path) ? "standard input" : path;
}

Written read_file(const std::string& path, std::string& content) {
  const FilePtr opened(is_standard_input(path) ? nullptr : std::fopen(path.c_str(), "rb"));
  std::FILE* const file = is_standard_input(path) ? stdin : opened.get();
  if (file == nullptr)
    return system_text("cannot be opened: ");
  std::array<char, 65536> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file)) {
    content.append(chunk.data(), got);
    if (content.size() > kLargestFile)
      return "larger than any matrix";
  }
  if (std::ferror(file) != 0)
    return system_text("cannot be read: ");
  return std::nullopt;
}

Written write_file(const std::string& path, std::string_view content) {
  if (is_standard_output(path)) {
    (void)std::fwrite(content.data(), 1, content.size(), stdout);
    return std::nullopt;
  }
  const WriteOutcome outcome = write_whole_file(path, content.data(), content.size());
  if (outcome.step == WriteStep::Open)
    return system_text("cannot be opened: ", outcome.system_error);
  if (outcome.step == WriteStep::Write)
    return system_text("cannot be written: ", outcome.system_error);
  return std::nullopt;
}

Read read_matrix(const std::string& path, Format format) {
  switch (format) {
  case Format::Tgmx:
    return read_tgmx_file(path);
  case Format::Npy:
    return read_with(parse_npy, path);
  case Format::Text:
    return read_with(parse_text, path);
  }
  return std::string("unknown format");
}

Written write_matrix(const std::string& path, Format format, const DynMatrix& matrix,
                     DynOrder order) {
  switch (format) {
  case Format::Tgmx:
    return write_tgmx_file(path, matrix);
  case Format::Npy:
    return write_file(path, format_npy(matrix, order));
  case Format::Text:
    return write_file(path, format_text(matrix));
  }
  return std::string("unknown format");
}

} // namespace simaai::kernels::matrix::tool
