// SPDX-License-Identifier: LGPL-2.1-or-later
// The simaai-oracle commands.
#include "commands.h"

#include <algorithm>
#include <exception>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "linear.h"
#include "npy.h"
#include "numerics.h"
#include "options.h"
#include "random_tensor.h"
#include "tiles.h"

namespace simaai::oracle {

using kernels::DType;
using kernels::Layout;
using kernels::Shape;

namespace {

constexpr std::string_view kUsage =
    R"(usage: simaai-oracle COMMAND ...
  random OUT --dtype T --shape LIST --seed N       random tensor with special values
  cast IN OUT --to T                               linear to linear
  tess|casttess IN OUT LAYOUT [--fill N]           linear to physical bytes
  detess IN OUT --dtype T --shape LIST LAYOUT      physical bytes to linear
  detesscast IN OUT --to T --shape LIST LAYOUT     physical bytes of bfloat16 to linear
  scatter IN OUT --strides LIST [--hole N]         linear to strided bytes
  gather IN OUT --strides LIST --dtype T --shape LIST
  compare A B                                      reports the first difference, status 1
LAYOUT: --axes D,H,W,C --tile D,H,W,C --storage compact|pad16, or --tile D,H,W,C --cblocked.
With --strides, tess and casttess read strided bytes (give --dtype and --shape too), and detess and
detesscast write them, with --hole N between the elements; cast has --src-strides, --dst-strides.
T: int8 uint8 int32 float16 bfloat16 float32. Physical and strided bytes are 1-D uint8 arrays,
bfloat16 arrays are '<V2'. --fill is the channel padding of int8.
)";

/// Input of an operation: an array in logical form, or strided bytes.
Tensor read_linear(const Options& options, const std::string& path, std::string_view strides) {
  if (!options.has(strides))
    return read_npy(path);
  const Shape shape = options.shape("shape");
  const DType dtype = options.dtype("dtype");
  const Layout layout = options.linear_layout(strides);
  const Bytes bytes = read_npy_bytes(path);
  const std::uint64_t needed = linear_span(shape, dtype, layout);
  if (bytes.size() < needed)
    throw std::invalid_argument(path + ": the strides need " + std::to_string(needed) +
                                " bytes, the file has " + std::to_string(bytes.size()));
  return gather(bytes.data(), shape, dtype, layout);
}

void write_linear(const Options& options, const std::string& path, const Tensor& tensor,
                  std::string_view strides) {
  if (!options.has(strides)) {
    write_npy(path, tensor);
    return;
  }
  const Layout layout = options.linear_layout(strides);
  Bytes bytes(linear_span(tensor.shape, tensor.dtype, layout), options.byte("hole"));
  scatter(tensor, layout, bytes.data());
  write_npy_bytes(path, bytes);
}

int random_command(const Options& options) {
  write_npy(options.positional(0, "OUT"),
            random_tensor(options.shape("shape"), options.dtype("dtype"),
                          static_cast<std::uint64_t>(options.integer("seed", 1))));
  options.expect_all_used(1);
  return 0;
}

int linear_command(const Options& options, std::string_view from, std::string_view to) {
  Tensor tensor = read_linear(options, options.positional(0, "IN"), from);
  if (options.has("to"))
    tensor = convert(tensor, options.dtype("to"));
  write_linear(options, options.positional(1, "OUT"), tensor, to);
  options.expect_all_used(2);
  return 0;
}

int tile_command(const Options& options, bool cast) {
  Tensor tensor = read_linear(options, options.positional(0, "IN"), "strides");
  if (cast)
    tensor = convert(tensor, DType::BFloat16);
  write_npy_bytes(options.positional(1, "OUT"),
                  tile(tensor, options.tiled_layout(), {options.byte("fill")}));
  options.expect_all_used(2);
  return 0;
}

int untile_command(const Options& options, bool cast) {
  const DType tiled_dtype = cast ? DType::BFloat16 : options.dtype("dtype");
  Tensor tensor = untile(read_npy_bytes(options.positional(0, "IN")), options.shape("shape"),
                         tiled_dtype, options.tiled_layout());
  if (cast)
    tensor = convert(tensor, options.dtype("to"));
  write_linear(options, options.positional(1, "OUT"), tensor, "strides");
  options.expect_all_used(2);
  return 0;
}

std::string describe(const Tensor& tensor) {
  std::string text(dtype_name(tensor.dtype));
  text += " [";
  for (std::size_t axis = 0; axis < tensor.shape.rank(); ++axis)
    text += (axis == 0 ? "" : ",") + std::to_string(tensor.shape[axis]);
  return text + "]";
}

std::string hexadecimal(std::uint32_t bits, DType dtype) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setfill('0')
       << std::setw(2 * static_cast<int>(kernels::scalar_bytes(dtype))) << bits;
  return text.str();
}

int compare_command(const Options& options, std::ostream& output) {
  const std::string& name_a = options.positional(0, "A");
  const std::string& name_b = options.positional(1, "B");
  options.expect_all_used(2);
  const Tensor a = read_npy(name_a);
  const Tensor b = read_npy(name_b);
  if (a.dtype != b.dtype || a.shape != b.shape) {
    output << name_a << " is " << describe(a) << ", " << name_b << " is " << describe(b) << '\n';
    return 1;
  }
  const auto [at_a, at_b] = std::mismatch(a.bits.begin(), a.bits.end(), b.bits.begin());
  if (at_a == a.bits.end()) {
    output << "equal: " << describe(a) << '\n';
    return 0;
  }
  std::uint64_t differing = 0;
  for (std::size_t i = 0; i < a.bits.size(); ++i)
    differing += a.bits[i] != b.bits[i] ? 1U : 0U;
  Odometer at({a.shape.extents().begin(), a.shape.extents().end()});
  for (auto skip = at_a - a.bits.begin(); skip > 0; --skip)
    at.advance();
  output << "first difference at [";
  for (std::size_t axis = 0; axis < a.shape.rank(); ++axis)
    output << (axis == 0 ? "" : ",") << at.coordinate()[axis];
  output << "]: " << name_a << " has " << hexadecimal(*at_a, a.dtype) << ", " << name_b << " has "
         << hexadecimal(*at_b, b.dtype) << "; " << differing << " of " << a.bits.size()
         << " elements differ\n";
  return 1;
}

int dispatch(const std::string& command, const Options& options, std::ostream& output) {
  if (command == "random")
    return random_command(options);
  if (command == "cast") {
    if (!options.has("to"))
      throw std::invalid_argument("--to is missing");
    return linear_command(options, "src-strides", "dst-strides");
  }
  if (command == "scatter" || command == "gather") {
    if (!options.has("strides"))
      throw std::invalid_argument("--strides is missing");
    return command == "scatter" ? linear_command(options, "", "strides")
                                : linear_command(options, "strides", "");
  }
  if (command == "tess" || command == "casttess")
    return tile_command(options, command == "casttess");
  if (command == "detess" || command == "detesscast")
    return untile_command(options, command == "detesscast");
  if (command == "compare")
    return compare_command(options, output);
  throw std::invalid_argument("unknown command '" + command + "'");
}

} // namespace

int run_command(std::span<const std::string> arguments, std::ostream& output,
                std::ostream& errors) {
  if (arguments.empty()) {
    errors << kUsage;
    return 2;
  }
  if (arguments[0] == "help" || arguments[0] == "--help") {
    output << kUsage;
    return 0;
  }
  try {
    return dispatch(arguments[0], Options(arguments.subspan(1)), output);
  } catch (const std::exception& error) {
    errors << "simaai-oracle " << arguments[0] << ": " << error.what() << '\n';
    return 2;
  }
}

} // namespace simaai::oracle
