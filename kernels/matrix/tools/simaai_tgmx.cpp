// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-tgmx: shows, checks and converts matrices in the TGMX wire form.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "formats.h"

namespace {

using namespace simaai::kernels::matrix;
using namespace simaai::kernels::matrix::tool;

constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kUsage = 2;

constexpr const char* kHelp =
    "usage: simaai-tgmx info FILE...\n"
    "       simaai-tgmx print FILE\n"
    "       simaai-tgmx verify FILE...\n"
    "       simaai-tgmx convert [--from FORMAT] [--to FORMAT] [--order ORDER] INPUT OUTPUT\n"
    "\n"
    "info     shape, bytes and the range of the elements\n"
    "print    the elements as text, one row a line\n"
    "verify   says nothing about a sound file, else why it is refused\n"
    "convert  between tgmx, npy (int8, rank 2) and text; the format is that of the extension\n"
    "         (.tgmx .npy .txt .csv) unless FORMAT (tgmx, npy, text) says so; ORDER (row, column)\n"
    "         is how the elements of an .npy output are stored, row by row by default\n"
    "\n"
    "Text has one row a line, numbers apart by blanks, or by one comma or semicolon; # starts a\n"
    "comment. Files are read whole; - is standard input or output, with --from and --to.\n"
    "Exit status: 0 done, 1 a file was refused, 2 wrong usage.\n";

int usage(const std::string& problem) {
  std::fprintf(stderr, "simaai-tgmx: %s\n\n%s", problem.c_str(), kHelp);
  return kUsage;
}

int refuse(const std::string& path, const std::string& reason) {
  std::fprintf(stderr, "simaai-tgmx: %s: %s\n", path.c_str(), reason.c_str());
  return kRefused;
}

int show_info(const std::string& path) {
  const Read matrix = read_matrix(path, Format::Tgmx);
  if (!matrix)
    return refuse(input_name(path), matrix.error());
  const DynMatrix& elements = matrix.value();
  const auto [least, greatest] = std::ranges::minmax(elements.storage());
  std::printf("%s: %zu x %zu, %zu bytes, elements %d to %d\n", input_name(path).c_str(),
              elements.rows(), elements.cols(), encoded_bytes(elements.rows(), elements.cols()),
              least, greatest);
  return kDone;
}

int verify(const std::string& path) {
  const Read matrix = read_matrix(path, Format::Tgmx);
  return matrix ? kDone : refuse(input_name(path), matrix.error());
}

int print(const std::string& path) {
  const Read matrix = read_matrix(path, Format::Tgmx);
  if (!matrix)
    return refuse(input_name(path), matrix.error());
  const std::string text = format_text(matrix.value());
  (void)std::fwrite(text.data(), 1, text.size(), stdout); // main() sees whether it failed
  return kDone;
}

/// Runs a command on each file and remembers whether one was refused.
int on_each(int (*command)(const std::string&), std::span<const std::string> paths) {
  int status = kDone;
  for (const std::string& path : paths)
    status = std::max(status, command(path));
  return status;
}

struct Conversion {
  std::optional<Format> from;
  std::optional<Format> to;
  std::optional<DynOrder> order;
  std::vector<std::string> paths;
};

/// Empty, or what is wrong with the option.
std::string set_option(Conversion& conversion, const std::string& option,
                       const std::string& value) {
  if (option == "--order") {
    if (value != "row" && value != "column")
      return "--order is row or column, not \"" + value + "\"";
    conversion.order = value == "row" ? DynOrder::RowMajor : DynOrder::ColMajor;
    return {};
  }
  if (option != "--from" && option != "--to")
    return "unknown option " + option;
  const auto format = format_from_name(value);
  if (!format)
    return option + " is tgmx, npy or text, not \"" + value + "\"";
  (option == "--from" ? conversion.from : conversion.to) = format;
  return {};
}

std::string parse_conversion(Conversion& conversion, std::span<const std::string> arguments) {
  bool names_only = false; // behind --
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    std::string option = arguments[n];
    if (names_only || !option.starts_with("--")) {
      conversion.paths.push_back(option);
      continue;
    }
    names_only = option == "--";
    if (names_only)
      continue;
    std::string value;
    if (const std::size_t equals = option.find('='); equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (n + 1 == arguments.size()) {
      return option + " needs a value";
    } else {
      value = arguments[++n];
    }
    if (std::string problem = set_option(conversion, option, value); !problem.empty())
      return problem;
  }
  if (conversion.paths.size() != 2)
    return "convert takes an input and an output";
  if (!conversion.from)
    conversion.from = format_from_path(conversion.paths[0]);
  if (!conversion.to)
    conversion.to = format_from_path(conversion.paths[1]);
  if (!conversion.from)
    return conversion.paths[0] + ": the extension names no format; use --from";
  if (!conversion.to)
    return conversion.paths[1] + ": the extension names no format; use --to";
  if (conversion.order && conversion.to != Format::Npy)
    return "--order is for npy outputs";
  return {};
}

int convert(std::span<const std::string> arguments) {
  Conversion conversion;
  if (const std::string problem = parse_conversion(conversion, arguments); !problem.empty())
    return usage(problem);
  const std::string& input = conversion.paths[0];
  const std::string& output = conversion.paths[1];
  const Read matrix = read_matrix(input, *conversion.from);
  if (!matrix)
    return refuse(input_name(input), matrix.error());
  if (const Written problem = write_matrix(output, *conversion.to, matrix.value(),
                                           conversion.order.value_or(DynOrder::RowMajor)))
    return refuse(output, *problem);
  return kDone;
}

bool asks_for_help(std::span<const std::string> arguments) {
  const auto options = arguments.first(
      static_cast<std::size_t>(std::ranges::find(arguments, "--") - arguments.begin()));
  return options.front() == "help" || std::ranges::find(options, "--help") != options.end() ||
         std::ranges::find(options, "-h") != options.end();
}

int run(std::span<const std::string> arguments) {
  if (arguments.empty())
    return usage("a command is missing");
  if (asks_for_help(arguments)) {
    (void)std::fputs(kHelp, stdout);
    return kDone;
  }
  const std::string& command = arguments.front();
  auto rest = arguments.subspan(1);
  if (command == "convert")
    return convert(rest);
  if (command != "info" && command != "verify" && command != "print")
    return usage("unknown command " + command);
  if (!rest.empty() && rest.front() == "--")
    rest = rest.subspan(1);
  if (rest.empty())
    return usage(command + " needs a file");
  if (command != "print")
    return on_each(command == "info" ? show_info : verify, rest);
  return rest.size() == 1 ? print(rest.front()) : usage("print takes one file");
}

} // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const int status = run(arguments);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return status;
  (void)refuse("standard output", std::string("cannot be written: ") + std::strerror(errno));
  return std::max(status, kRefused);
}
