// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrices as text: what simaai-tgmx prints and reads.
#include <charconv>
#include <vector>

#include "formats.h"

namespace simaai::kernels::matrix::tool {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kSeparators = ",;";
constexpr std::string_view kEndsOfNumbers = " \t,;";
/// Spreadsheets write it in front of UTF-8.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void skip_blanks(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
}

/// Takes one separator where the line begins with one.
bool take_separator(std::string_view& line) {
  if (line.empty() || kSeparators.find(line.front()) == std::string_view::npos)
    return false;
  line.remove_prefix(1);
  return true;
}

/// Takes the next cell of a line, up to and with its separator: blanks alone are one too. `more` says whether another follows.
std::string_view take_cell(std::string_view& line, bool& more) {
  skip_blanks(line);
  const std::string_view cell = line.substr(0, line.find_first_of(kEndsOfNumbers));
  line.remove_prefix(cell.size());
  skip_blanks(line);
  more = take_separator(line) || !line.empty();
  return cell;
}

/// A line up to its comment; it ends with LF, CR LF or CR.
std::string_view take_line(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_of("\r\n"), text.size());
  std::string_view line = text.substr(0, length);
  text.remove_prefix(length);
  text.remove_prefix(text.starts_with("\r\n") ? 2 : std::min<std::size_t>(1, text.size()));
  return line.substr(0, line.find('#'));
}

std::string place(std::size_t line, std::size_t col) {
  return "line " + std::to_string(line) + ", number " + std::to_string(col) + ": ";
}

/// A cell of a readable length: text of a damaged file can be anything.
std::string quoted(std::string_view word) {
  std::string result = "\"";
  for (const char letter : word.substr(0, 20))
    result += letter >= ' ' && letter <= '~' ? letter : '?';
  return result + (word.size() > 20 ? "...\"" : "\"");
}

std::optional<std::string> parse_element(std::string_view word, std::int8_t& element) {
  if (word.empty())
    return std::string("the cell is empty");
  int value = 0;
  const char* end = word.data() + word.size();
  const char* begin = word.data() + (word.front() == '+' && !word.starts_with("+-") ? 1 : 0);
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range || (stop == end && (value < -128 || value > 127)))
    return quoted(word) + " is outside -128 to 127";
  if (error != std::errc{} || stop != end)
    return quoted(word) + " is not a whole number";
  element = static_cast<std::int8_t>(value);
  return std::nullopt;
}

struct TextMatrix {
  std::vector<std::int8_t> elements;
  std::size_t rows = 0;
  std::size_t cols = 0;
};

std::optional<std::string> parse_row(std::string_view line, std::size_t line_number,
                                     TextMatrix& matrix) {
  skip_blanks(line);
  if (line.empty())
    return std::nullopt; // blank or comment
  std::size_t cols = 0;
  for (bool more = true; more;) {
    const std::string_view cell = take_cell(line, more);
    ++cols;
    std::int8_t element = 0;
    if (const auto problem = parse_element(cell, element))
      return place(line_number, cols) + *problem;
    matrix.elements.push_back(element);
  }
  if (matrix.rows > 0 && cols != matrix.cols)
    return "line " + std::to_string(line_number) + " has " + std::to_string(cols) +
           " numbers, the lines before it have " + std::to_string(matrix.cols);
  matrix.cols = cols;
  ++matrix.rows;
  return std::nullopt;
}

} // namespace

Read parse_text(std::string_view content) {
  if (content.starts_with(kByteOrderMark))
    content.remove_prefix(kByteOrderMark.size());
  TextMatrix text;
  for (std::size_t line = 1; !content.empty(); ++line)
    if (const auto problem = parse_row(take_line(content), line, text))
      return *problem;
  if (text.rows == 0)
    return std::string("the text holds no number");
  const auto view = DynMatrixRef::create(text.elements, text.rows, text.cols, DynOrder::RowMajor);
  if (!view)
    return "the text is " + std::to_string(text.rows) + " x " + std::to_string(text.cols) +
           "; both dimensions must be 1 to " + std::to_string(kCoordSpace);
  return DynMatrix::relocated(*view, DynOrder::RowMajor);
}

std::string format_text(const DynMatrix& matrix) {
  std::string text;
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    for (std::size_t col = 0; col < matrix.cols(); ++col) {
      text += std::to_string(matrix.get(row, col));
      text += col + 1 < matrix.cols() ? ' ' : '\n';
    }
  return text;
}

} // namespace simaai::kernels::matrix::tool
