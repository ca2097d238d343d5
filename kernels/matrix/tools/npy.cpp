// SPDX-License-Identifier: LGPL-2.1-or-later
// NumPy's .npy for int8 matrices: magic, version, header length, a Python dictionary, the elements.
#include <algorithm>
#include <charconv>
#include <vector>

#include "formats.h"

namespace simaai::kernels::matrix::tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

struct Header {
  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;
};

/// Reads the dictionary's few kinds of values; every take fails without moving.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token))
      return false;
    text_.remove_prefix(token.size());
    return true;
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return text_.empty();
  }
  std::optional<std::string> take_string() {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"'))
      return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  std::optional<bool> take_bool() {
    if (take("True"))
      return true;
    if (take("False"))
      return false;
    return std::nullopt;
  }
  std::optional<std::vector<std::size_t>> take_shape() {
    if (!take("("))
      return std::nullopt;
    std::vector<std::size_t> extents;
    while (!take(")")) {
      std::size_t extent = 0;
      skip_blanks();
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc{})
        return std::nullopt;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      extents.push_back(extent);
      if (!take(",") && !text_.starts_with(')'))
        return std::nullopt;
    }
    return extents;
  }

private:
  void skip_blanks() {
    const std::size_t blanks = std::min(text_.find_first_not_of(" \n"), text_.size());
    text_.remove_prefix(blanks);
  }
  std::string_view text_;
};

bool take_entry(Scanner& scanner, Header& header) {
  const auto key = scanner.take_string();
  if (!key || !scanner.take(":"))
    return false;
  if (*key == "descr") {
    const auto value = scanner.take_string();
    header.descr = value.value_or("");
    return value.has_value();
  }
  if (*key == "fortran_order")
    return (header.fortran_order = scanner.take_bool()).has_value();
  return *key == "shape" && (header.shape = scanner.take_shape()).has_value();
}

std::optional<Header> parse_header(std::string_view text) {
  Scanner scanner(text);
  Header header;
  if (!scanner.take("{"))
    return std::nullopt;
  while (!scanner.take("}")) {
    if (!take_entry(scanner, header))
      return std::nullopt;
    scanner.take(",");
  }
  if (!scanner.at_end() || header.descr.empty() || !header.fortran_order || !header.shape)
    return std::nullopt;
  return header;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t n = bytes.size(); n > 0; --n)
    value = value << 8 | static_cast<unsigned char>(bytes[n - 1]);
  return value;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (std::size_t n = 0; n < shape.size(); ++n)
    text += (n == 0 ? "" : ", ") + std::to_string(shape[n]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Read matrix_of(const Header& header, std::string_view data) {
  if (header.descr != "|i1" && header.descr != "<i1" && header.descr != ">i1")
    return "the .npy elements are \"" + header.descr.substr(0, 20) +
           "\", only int8 (\"|i1\") is a matrix element";
  const std::vector<std::size_t>& shape = *header.shape;
  if (shape.size() != 2)
    return "the .npy shape " + shape_text(shape) + " has rank " + std::to_string(shape.size()) +
           ", a matrix has rank 2";
  if (!dimension_in_space(shape[0]) || !dimension_in_space(shape[1]))
    return "the .npy shape is " + shape_text(shape) + "; both dimensions must be 1 to " +
           std::to_string(kCoordSpace);
  if (data.size() != shape[0] * shape[1])
    return "the .npy shape " + shape_text(shape) + " needs " + std::to_string(shape[0] * shape[1]) +
           " bytes of elements, there are " + std::to_string(data.size());
  DynMatrix matrix = *DynMatrix::create(
      shape[0], shape[1], *header.fortran_order ? DynOrder::ColMajor : DynOrder::RowMajor);
  std::transform(data.begin(), data.end(), matrix.storage_mut().begin(),
                 [](char byte) { return static_cast<std::int8_t>(byte); });
  return matrix;
}

} // namespace

Read parse_npy(std::string_view content) {
  if (!content.starts_with(kMagic))
    return std::string("not .npy: the first six bytes belong to another format");
  if (content.size() < 12)
    return std::string("the .npy header is truncated");
  const auto version = static_cast<unsigned char>(content[6]);
  if (version < 1 || version > 3)
    return "version " + std::to_string(version) + " of .npy is not supported";
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t length = little_endian(content.substr(8, length_bytes));
  content.remove_prefix(8 + length_bytes);
  if (length > content.size())
    return std::string("the .npy header is truncated");
  const auto header = parse_header(content.substr(0, length));
  if (!header)
    return std::string("the .npy header is malformed");
  return matrix_of(*header, content.substr(length));
}

std::string format_npy(const DynMatrix& matrix, DynOrder order) {
  std::string header = std::string("{'descr': '|i1', 'fortran_order': ") +
                       (order == DynOrder::ColMajor ? "True" : "False") +
                       ", 'shape': " + shape_text({matrix.rows(), matrix.cols()}) + ", }";
  // Magic, version, length and header end on a multiple of the alignment, with a line feed.
  const std::size_t prefix = kMagic.size() + 4;
  header.append(kAlignment - 1 - (prefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
              static_cast<char>(header.size() >> 8)};
  content += header;
  const DynMatrix stored = DynMatrix::relocated(matrix, order);
  for (const std::int8_t element : stored.storage())
    content += static_cast<char>(element);
  return content;
}

} // namespace simaai::kernels::matrix::tool
