// SPDX-License-Identifier: LGPL-2.1-or-later
// The same path without GStreamer: pictures from a file or a pipe, kernels of the library, memory that a device could be given.
//
//   kernels_only WIDTHxHEIGHT <pictures.rgb >values.f32
//
// Reads RGB pictures, 3 bytes a pixel, and writes rows of float32. Prints the time of each step. Exits with 0, with 1 where something
// went wrong, with 2 where the arguments are no use; the reason is a line on standard error.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <simaai/kernels/a65/casttess.h>
#include <simaai/kernels/a65/detesscast.h>
#include <simaai/runtime/dma_buf.h>

namespace k = simaai::kernels;
namespace runtime = simaai::runtime;

namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;
constexpr const char* kUsage = "kernels_only WIDTHxHEIGHT <pictures.rgb >values.f32";

[[noreturn]] void stop(const std::string& why, int status = kFailed) {
  std::fprintf(stderr, "kernels_only: %s\n", why.c_str());
  std::exit(status);
}

/// The value of a result, or the end with the reason of its refusal.
template <class T, class E> T need(std::variant<T, E>&& result) {
  if (const auto* refused = std::get_if<E>(&result))
    stop(refused->message());
  return std::get<T>(std::move(result));
}

/// Memory with a descriptor, which a driver could be given, and its place in this process.
class SharedMemory {
public:
  SharedMemory(const runtime::BufferSource& source, std::uint64_t bytes)
      : buffer_(need(source.allocate(bytes))),
        mapping_(need(runtime::CpuMapping::map(buffer_.fd(), 0, bytes, true))) {}

  [[nodiscard]] std::byte* data() const { return mapping_.data(); }
  [[nodiscard]] std::size_t size() const { return mapping_.size_bytes(); }
  /// Around each access of the CPU, so that devices see what it wrote and it sees what they wrote.
  [[nodiscard]] runtime::CpuAccess access(runtime::CpuAccessMode mode) const {
    return need(runtime::CpuAccess::begin(buffer_.fd(), buffer_.kind(), mode));
  }

private:
  runtime::DmaBuf buffer_;
  runtime::CpuMapping mapping_;
};

/// The plans of both conversions, made once, and the memory between them.
class Path {
public:
  Path(const runtime::BufferSource& source, std::int64_t height, std::int64_t width)
      : Path(source, k::Shape{1, height, width, 3}) {}

  /// Turns each picture into its negative on the way. Takes and returns rows of values.
  void convert(const std::vector<float>& picture, std::vector<float>& values) {
    const auto begun = std::chrono::steady_clock::now();
    {
      const auto writing = tiles_.access(runtime::CpuAccessMode::Write);
      const std::array from{k::ConstHostBuffer{picture.data(), picture.size() * sizeof(float)}};
      const std::array to{k::HostBuffer{tiles_.data(), tiles_.size()}};
      check(k::a65::casttess::execute(into_tiles_, from, to));
    }
    const auto tiled = std::chrono::steady_clock::now();
    negate();
    const auto answered = std::chrono::steady_clock::now();
    {
      const auto reading = tiles_.access(runtime::CpuAccessMode::Read);
      const std::array from{k::ConstHostBuffer{tiles_.data(), tiles_.size()}};
      const std::array to{k::HostBuffer{values.data(), values.size() * sizeof(float)}};
      check(k::a65::detesscast::execute(out_of_tiles_, from, to));
    }
    const auto ended = std::chrono::steady_clock::now();
    const auto micros = [](auto time) {
      return std::chrono::duration<double, std::micro>(time).count();
    };
    std::fprintf(stderr, "casttess %.0f us, application %.0f us, detesscast %.0f us\n",
                 micros(tiled - begun), micros(answered - tiled), micros(ended - answered));
  }

private:
  Path(const runtime::BufferSource& source, const k::Shape& shape)
      : into_tiles_(plan_into(shape)), out_of_tiles_(plan_out_of(shape)),
        tiles_(source, into_tiles_.output_requirement().bytes) {}

  static k::TensorSpec tiled(const k::Shape& shape) {
    k::MlaTiled layout;
    layout.axes = {-1, 1, 2, 3};
    layout.tile_shape = {1, 16, 16, 3};
    layout.channels = k::ChannelStorage::PadTo16;
    return {shape, k::DType::BFloat16, layout};
  }
  static k::a65::casttess::Plan plan_into(const k::Shape& shape) {
    const std::array inputs{k::TensorSpec{shape, k::DType::Float32}};
    const std::array outputs{tiled(shape)};
    return need(k::a65::casttess::check_inference({inputs, outputs, {}}));
  }
  static k::a65::detesscast::Plan plan_out_of(const k::Shape& shape) {
    const std::array inputs{tiled(shape)};
    const std::array outputs{k::TensorSpec{shape, k::DType::Float32}};
    return need(k::a65::detesscast::check_inference({inputs, outputs}));
  }
  static void check(const k::Status& status) {
    if (!status.ok())
      stop(status.message());
  }

  /// Stands for a job of an accelerator, which would be given the descriptor. With 16 channels stored a pixel is 32 bytes: the low
  /// bytes of all channels, then the high ones with the signs.
  void negate() {
    const auto both = tiles_.access(runtime::CpuAccessMode::ReadWrite);
    for (std::size_t pixel = 0; pixel + 32 <= tiles_.size(); pixel += 32)
      for (std::size_t channel = 0; channel < 3; ++channel)
        tiles_.data()[pixel + 16 + channel] ^= std::byte{0x80};
  }

  k::a65::casttess::Plan into_tiles_;
  k::a65::detesscast::Plan out_of_tiles_;
  SharedMemory tiles_;
};

struct Size {
  int width;
  int height;
};

/// A number of digits alone; 0 where it is none, or too large.
int number_of(const std::string& text) {
  constexpr long kMost = 65536;
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  const long number = std::strtol(text.c_str(), nullptr, 10);
  return number <= kMost ? static_cast<int>(number) : 0;
}

Size parse(int argc, char** argv) {
  const std::string word = argc == 2 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::printf("%s\nRGB pictures, 3 bytes a pixel, become rows of float32.\n", kUsage);
    std::exit(std::fflush(stdout) == 0 ? 0 : kFailed);
  }
  const auto cross = word.find('x');
  const Size size{number_of(word.substr(0, cross)),
                  cross != std::string::npos ? number_of(word.substr(cross + 1)) : 0};
  if (size.width == 0 || size.height == 0)
    stop("expected WIDTHxHEIGHT, each from 1 to 65536, found " +
             (argc == 2 ? "'" + word + "'" : std::to_string(argc - 1) + " arguments"),
         kMisused);
  return size;
}

/// Reads one picture; false at the end of the input.
bool read_picture(std::vector<unsigned char>& pixels) {
  const std::size_t found = std::fread(pixels.data(), 1, pixels.size(), stdin);
  if (std::ferror(stdin) != 0)
    stop("the pictures cannot be read");
  if (found != 0 && found != pixels.size())
    stop("the last picture is cut short: " + std::to_string(found) + " of " +
         std::to_string(pixels.size()) + " bytes");
  return found != 0;
}

void convert_all(Size size) {
  const auto elements =
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
  const auto source = runtime::BufferSource::best();
  Path path(source, size.height, size.width);
  std::vector<unsigned char> pixels(elements);
  std::vector<float> picture(elements);
  std::vector<float> values(elements);
  int frames = 0;
  for (; read_picture(pixels); ++frames) {
    for (std::size_t i = 0; i < elements; ++i)
      picture[i] = (static_cast<float>(pixels[i]) - 127.5F) * 0.0078125F;
    path.convert(picture, values);
    // What is not flushed would be lost without a word at the end.
    if (std::fwrite(values.data(), sizeof(float), elements, stdout) != elements ||
        std::fflush(stdout) != 0)
      stop("the results cannot be written");
  }
  if (frames == 0)
    stop("no picture arrived");
  std::fprintf(stderr, "%d frames, tiles in memory of %s\n", frames, source.name());
}

/// Takes the numbers of closed standard descriptors, which memory would get otherwise. Their use still fails: each is opened the wrong
/// way round.
void keep_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 &&
        ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      stop("a standard descriptor is closed, and /dev/null cannot stand in for it");
}

} // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  const Size size = parse(argc, argv);
  try {
    convert_all(size);
  } catch (const std::bad_alloc&) {
    stop("no memory for pictures of this size");
  }
  return 0;
}
