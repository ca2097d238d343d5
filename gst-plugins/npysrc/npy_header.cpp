// SPDX-License-Identifier: LGPL-2.1-or-later
// The .npy container: prefix, Python literal of the header, and the header that is written.
#include "npy_header.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace simaai::gst {
namespace {

using kernels::DType;

constexpr std::string_view kMagic{"\x93NUMPY", 6};

/// A scanner over the dictionary literal of the header. It reads what numpy writes (strings
/// without escapes, True, False, tuples of integers) and stops at anything else.
class LiteralScanner {
public:
  explicit LiteralScanner(std::string_view text) : text_(text) {}

  bool accept(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }

  std::optional<std::string_view> string() {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return std::nullopt;
    const std::size_t close = text_.find(text_[at_], at_ + 1);
    if (close == std::string_view::npos)
      return std::nullopt;
    const auto word = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    return word;
  }

  std::optional<bool> boolean() {
    if (keyword("True"))
      return true;
    if (keyword("False"))
      return false;
    return std::nullopt;
  }

  /// The characters of one integer, with sign; the long suffix of Python 2 is dropped.
  std::optional<std::string_view> integer() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-')
      ++at_;
    const std::size_t digits = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
      ++at_;
    if (at_ == digits) {
      at_ = begin;
      return std::nullopt;
    }
    const auto word = text_.substr(begin, at_ - begin);
    if (at_ < text_.size() && text_[at_] == 'L')
      ++at_;
    return word;
  }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  /// What stands at the current position, short enough for a message.
  std::string here() {
    skip_blanks();
    if (at_ == text_.size())
      return "the end of the header";
    std::string shown = "'";
    for (const char c : text_.substr(at_, 24))
      shown += (c >= 0x20 && c < 0x7f) ? c : '?';
    return shown + "' at character " + std::to_string(at_);
  }

private:
  bool keyword(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct RawHeader {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::string_view>> extents;
};

using MaybeError = std::optional<NpyError>;

NpyError error(std::string what, std::string expected, std::string found) {
  return {std::move(what), std::move(expected), std::move(found)};
}

MaybeError scan_descr(LiteralScanner& scanner, RawHeader& raw) {
  const auto word = scanner.string();
  if (!word)
    return error("descr", "one scalar type in quotes (no structured array)", scanner.here());
  raw.descr = std::string(*word);
  return std::nullopt;
}

MaybeError scan_fortran_order(LiteralScanner& scanner, RawHeader& raw) {
  raw.fortran_order = scanner.boolean();
  if (!raw.fortran_order)
    return error("fortran_order", "True or False", scanner.here());
  return std::nullopt;
}

MaybeError scan_shape(LiteralScanner& scanner, RawHeader& raw) {
  if (!scanner.accept('('))
    return error("shape", "a tuple of integers", scanner.here());
  std::vector<std::string_view> extents;
  bool separated = true;
  while (!scanner.accept(')')) {
    const auto extent = separated ? scanner.integer() : std::nullopt;
    if (!extent)
      return error("shape", "a tuple of integers", scanner.here());
    extents.push_back(*extent);
    separated = scanner.accept(',');
  }
  if (extents.size() == 1 && !separated)
    return error("shape", "a tuple: one extent is written (n,)", "a number in parentheses");
  raw.extents = std::move(extents);
  return std::nullopt;
}

MaybeError scan_entry(LiteralScanner& scanner, RawHeader& raw) {
  const auto key = scanner.string();
  if (!key)
    return error("header", "a dictionary key in quotes", scanner.here());
  if (!scanner.accept(':'))
    return error("header", "':' after the key '" + std::string(*key) + "'", scanner.here());
  if (*key == "descr" && !raw.descr)
    return scan_descr(scanner, raw);
  if (*key == "fortran_order" && !raw.fortran_order)
    return scan_fortran_order(scanner, raw);
  if (*key == "shape" && !raw.extents)
    return scan_shape(scanner, raw);
  return error("header", "the keys descr, fortran_order and shape, once each",
               "the key '" + std::string(*key) + "'");
}

MaybeError scan_dictionary(std::string_view text, RawHeader& raw) {
  LiteralScanner scanner(text);
  if (!scanner.accept('{'))
    return error("header", "a Python dictionary", scanner.here());
  bool separated = true;
  while (!scanner.accept('}')) {
    if (!separated)
      return error("header", "',' or '}'", scanner.here());
    if (auto refused = scan_entry(scanner, raw))
      return refused;
    separated = scanner.accept(',');
  }
  if (!scanner.at_end())
    return error("header", "nothing after the dictionary", scanner.here());
  const char* missing = !raw.descr           ? "descr"
                        : !raw.fortran_order ? "fortran_order"
                        : !raw.extents       ? "shape"
                                             : nullptr;
  if (missing != nullptr)
    return error("header", "the keys descr, fortran_order and shape",
                 std::string("no key '") + missing + "'");
  return std::nullopt;
}

struct DescrWord {
  std::string_view word;
  DType dtype;
};

// Without the byte order. |V2 and <V2 are both in use for bfloat16.
constexpr std::array kDescrWords{
    DescrWord{"i1", DType::Int8},    DescrWord{"u1", DType::UInt8},
    DescrWord{"i4", DType::Int32},   DescrWord{"f2", DType::Float16},
    DescrWord{"f4", DType::Float32}, DescrWord{"V2", DType::BFloat16},
};

std::optional<DType> dtype_of_word(std::string_view word) {
  for (const auto& entry : kDescrWords)
    if (entry.word == word)
      return entry.dtype;
  return std::nullopt;
}

/// Width of any simple `descr` such as u2 or f8; 0 where it is none.
std::uint32_t width_of_word(std::string_view word) {
  static constexpr std::string_view kKinds = "biufV";
  std::uint32_t width = 0;
  if (word.size() < 2 || kKinds.find(word[0]) == std::string_view::npos)
    return 0;
  const auto [end, failed] = std::from_chars(word.data() + 1, word.data() + word.size(), width);
  return failed == std::errc{} && end == word.data() + word.size() ? width : 0;
}

std::string supported_words() {
  return "|i1, |u1, <i4, <f2, <f4 or <V2 (bfloat16), of either byte order, or a word of the same "
         "width as the dtype that is asked for";
}

MaybeError resolve_dtype(const std::string& descr, std::optional<DType> reinterpret,
                         NpyHeader& header) {
  const bool ordered =
      !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string::npos;
  const std::string_view word = ordered ? std::string_view(descr).substr(1) : std::string_view{};
  const std::uint32_t width = width_of_word(word);
  const auto native = reinterpret ? reinterpret : dtype_of_word(word);
  // '=' means the order of the machine that wrote the file: nothing to rely on beyond one byte.
  if (width == 0 || !native || (descr[0] == '=' && width > 1) ||
      (descr[0] == '|' && width > 1 && word[0] != 'V'))
    return error("descr", supported_words(), "'" + descr + "'");
  if (kernels::scalar_bytes(*native) != width)
    return error("descr",
                 "elements of " + std::to_string(kernels::scalar_bytes(*native)) +
                     " bytes, the width of the dtype that is asked for",
                 "'" + descr + "', " + std::to_string(width) + " bytes");
  header.dtype = *native;
  header.big_endian = descr[0] == '>' && width > 1;
  return std::nullopt;
}

MaybeError resolve_shape(const std::vector<std::string_view>& words, NpyHeader& header) {
  if (words.size() > kernels::kMaxRank)
    return error("shape", "at most " + std::to_string(kernels::kMaxRank) + " axes",
                 std::to_string(words.size()) + " axes");
  std::array<std::int64_t, kernels::kMaxRank> extents{};
  std::uint64_t bytes = kernels::scalar_bytes(header.dtype);
  bool empty = false;
  for (std::size_t axis = 0; axis < words.size(); ++axis) {
    const std::string_view word = words[axis];
    std::int64_t extent = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), extent);
    // Caps hold extents in 32 bits.
    if (parsed.ec != std::errc{} || extent < 0 || extent > std::numeric_limits<std::int32_t>::max())
      return error("shape", "extents from 0 to 2147483647", std::string(word));
    extents[axis] = extent;
    empty = empty || extent == 0;
  }
  for (std::size_t axis = 0; axis < words.size() && !empty; ++axis) {
    const auto extent = static_cast<std::uint64_t>(extents[axis]);
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / extent)
      return error("shape", "a size that fits in 63 bits of bytes", "a product that overflows");
    bytes *= extent;
  }
  header.shape = kernels::Shape(std::span<const std::int64_t>(extents.data(), words.size()));
  header.payload_bytes = empty ? 0 : bytes;
  return std::nullopt;
}

std::string hex(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    const auto value = std::to_integer<unsigned>(b);
    if (!text.empty())
      text += ' ';
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text.empty() ? "nothing" : text;
}

} // namespace

std::variant<NpyPrefix, NpyError> npy_prefix(std::span<const std::byte> start,
                                             std::uint64_t file_bytes) {
  const auto head = start.first(std::min(start.size(), kMagic.size()));
  const std::string_view magic(reinterpret_cast<const char*>(head.data()), head.size());
  if (magic != kMagic)
    return error("magic", "93 4e 55 4d 50 59 (\\x93NUMPY)", hex(head));
  const std::size_t version = start.size() > 6 ? std::to_integer<std::size_t>(start[6]) : 0;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (start.size() < 8 + length_bytes)
    return error("prefix", std::to_string(8 + length_bytes) + " bytes of magic, version and length",
                 std::to_string(start.size()) + " bytes");
  if (version < 1 || version > 3 || std::to_integer<unsigned>(start[7]) != 0)
    return error("version", "1.0, 2.0 or 3.0",
                 std::to_string(version) + "." +
                     std::to_string(std::to_integer<unsigned>(start[7])));
  NpyPrefix prefix{.text_offset_bytes = 8 + length_bytes};
  for (std::size_t i = 0; i < length_bytes; ++i)
    prefix.text_bytes |= std::to_integer<std::uint64_t>(start[8 + i]) << (8 * i);
  if (prefix.text_bytes > file_bytes - prefix.text_offset_bytes ||
      prefix.text_bytes > kNpyMaxHeaderBytes)
    return error("header",
                 "at most " +
                     std::to_string(std::min<std::uint64_t>(file_bytes - prefix.text_offset_bytes,
                                                            kNpyMaxHeaderBytes)) +
                     " bytes (the rest of the file, or 65536)",
                 std::to_string(prefix.text_bytes) + " bytes");
  return prefix;
}

std::variant<NpyHeader, NpyError> npy_parse_header(std::string_view text,
                                                   std::optional<DType> reinterpret) {
  RawHeader raw;
  NpyHeader header;
  if (auto refused = scan_dictionary(text, raw))
    return *refused;
  if (auto refused = resolve_dtype(*raw.descr, reinterpret, header))
    return *refused;
  if (auto refused = resolve_shape(*raw.extents, header))
    return *refused;
  header.fortran_order = *raw.fortran_order;
  return header;
}

kernels::TensorSpec npy_tensor_spec(const NpyHeader& header) {
  kernels::TensorSpec spec{header.shape, header.dtype, kernels::Contiguous{}};
  std::size_t wide_axes = 0;
  for (const std::int64_t extent : header.shape.extents())
    wide_axes += extent > 1 ? 1U : 0U;
  // With fewer than two axes to order, or with nothing in it, both orders are the same bytes.
  if (!header.fortran_order || wide_axes < 2 || header.payload_bytes == 0)
    return spec;
  kernels::Strided strided;
  std::int64_t stride = kernels::scalar_bytes(header.dtype);
  for (std::size_t axis = 0; axis < header.shape.rank(); ++axis) {
    strided.strides_bytes[axis] = stride;
    stride *= header.shape[axis];
  }
  spec.layout = strided;
  return spec;
}

std::string npy_build_header(DType dtype, std::span<const std::int64_t> extents) {
  std::string descr = kernels::scalar_bytes(dtype) == 1 ? "|" : "<";
  for (const auto& entry : kDescrWords)
    if (entry.dtype == dtype)
      descr += entry.word;
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(extents[axis]);
  text += extents.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlign = 64;
  const std::size_t total = (kPrefix + text.size() + 1 + kAlign - 1) / kAlign * kAlign;
  text.append(total - kPrefix - text.size() - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace simaai::gst
