// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-ev74-packet: shows EV74 packets.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <simaai/kernels/ev74/describe.h>

namespace {

constexpr const char* kUsage = "usage: simaai-ev74-packet dump FILE\n"
                               "Prints every field of the EV74 packet in FILE (- reads standard "
                               "input) and whether a device would take it.\n"
                               "Exit status: 0 valid, 1 not valid, 2 cannot be read.\n";

/// Far above any packet; what is longer is not one.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

struct Close {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};

std::optional<std::vector<std::byte>> read_all(const char* path) {
  const bool standard = std::string_view(path) == "-";
  const std::unique_ptr<std::FILE, Close> opened(standard ? nullptr : std::fopen(path, "rb"));
  std::FILE* file = standard ? stdin : opened.get();
  if (file == nullptr)
    return std::nullopt;
  std::vector<std::byte> bytes;
  std::array<std::byte, 4096> part{};
  while (bytes.size() < kMostBytes) {
    const std::size_t got = std::fread(part.data(), 1, part.size(), file);
    bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    if (got < part.size())
      break;
  }
  if (std::ferror(file) != 0)
    return std::nullopt;
  return bytes;
}

} // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--help") {
    (void)std::fputs(kUsage, stdout);
    return 0;
  }
  if (count != 3 || std::string_view(arguments[1]) != "dump") {
    (void)std::fputs(kUsage, stderr);
    return 2;
  }
  const auto bytes = read_all(arguments[2]);
  if (!bytes) {
    (void)std::fprintf(stderr, "simaai-ev74-packet: %s: %s\n", arguments[2], std::strerror(errno));
    return 2;
  }
  const std::string text = simaai::kernels::ev74::describe_packet(*bytes);
  (void)std::fputs(text.c_str(), stdout);
  return text.find("verdict: valid") != std::string::npos ? 0 : 1;
}
