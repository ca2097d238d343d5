// SPDX-License-Identifier: LGPL-2.1-or-later
// A small .npy codec for the oracle's own use.
#include "npy.h"

#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "linear.h"

namespace simaai::oracle {

using kernels::DType;
using kernels::Shape;

namespace {

struct Name {
  std::string_view descr;
  DType dtype;
};
// The first spelling of a dtype is the one written.
constexpr Name kNames[] = {{"|i1", DType::Int8},     {"|u1", DType::UInt8},
                           {"<i4", DType::Int32},    {"<f2", DType::Float16},
                           {"<V2", DType::BFloat16}, {"<f4", DType::Float32},
                           {"|V2", DType::BFloat16}, {"<u2", DType::BFloat16},
                           {"<i1", DType::Int8},     {"<u1", DType::UInt8}};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

/// Text of the header's value for `key`, up to the end of the header.
std::string_view value_of(const std::string& path, std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    fail(path, "the npy header has no " + std::string(key));
  std::string_view rest = header.substr(at + quoted.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

DType parse_descr(const std::string& path, std::string_view text) {
  for (const Name& name : kNames)
    if (text.starts_with("'" + std::string(name.descr) + "'"))
      return name.dtype;
  fail(path, "unsupported descr " + std::string(text.substr(0, text.find(','))));
}

Shape parse_shape(const std::string& path, std::string_view text) {
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos)
    fail(path, "the npy shape is not a tuple");
  std::vector<std::int64_t> extents;
  std::int64_t value = 0;
  bool digits = false;
  for (const char c : text.substr(1, close)) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (value > (INT64_MAX - 9) / 10)
        fail(path, "an extent is too large");
      value = value * 10 + (c - '0');
      digits = true;
    } else if (c == ',' || c == ')') {
      if (digits)
        extents.push_back(value);
      value = 0;
      digits = false;
    } else if (c != ' ') {
      fail(path, "the npy shape holds an unexpected character");
    }
  }
  if (extents.size() > kernels::kMaxRank)
    fail(path, "rank " + std::to_string(extents.size()) + " is above six");
  return Shape(extents);
}

} // namespace

Tensor read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail(path, "cannot be opened");
  const Bytes all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string_view text(reinterpret_cast<const char*>(all.data()), all.size());
  if (all.size() < 12 || !text.starts_with("\x93NUMPY"))
    fail(path, "is not an npy file");
  const std::uint8_t major = all[6];
  if (major < 1 || major > 3)
    fail(path, "npy version " + std::to_string(major) + " is unknown");
  std::size_t length = all[8] + (std::size_t{all[9]} << 8);
  if (major > 1)
    length |= (std::size_t{all[10]} << 16) | (std::size_t{all[11]} << 24);
  const std::size_t start = major == 1 ? 10 : 12;
  if (all.size() - start < length)
    fail(path, "the npy header is cut short");
  const std::string_view header = text.substr(start, length);
  if (!value_of(path, header, "fortran_order").starts_with("False"))
    fail(path, "Fortran order is not supported");
  const DType dtype = parse_descr(path, value_of(path, header, "descr"));
  const Shape shape = parse_shape(path, value_of(path, header, "shape"));
  const std::uint64_t expected = element_count(shape) * kernels::scalar_bytes(dtype);
  const std::uint64_t found = all.size() - start - length;
  if (found != expected)
    fail(path,
         "expected " + std::to_string(expected) + " data bytes, found " + std::to_string(found));
  return gather(all.data() + start + length, shape, dtype, kernels::Contiguous{});
}

void write_npy(const std::string& path, const Tensor& tensor) {
  std::string header = "{'descr': '";
  for (const Name& name : kNames)
    if (name.dtype == tensor.dtype) {
      header += name.descr;
      break;
    }
  header += "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : tensor.shape.extents())
    header += std::to_string(extent) + ", ";
  if (tensor.shape.rank() > 1)
    header.resize(header.size() - 2);
  else if (tensor.shape.rank() == 1)
    header.resize(header.size() - 1);
  header += "), }";
  // Magic, version and length take 10 bytes; data starts at a multiple of 64.
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';

  Bytes data(element_count(tensor.shape) * kernels::scalar_bytes(tensor.dtype));
  scatter(tensor, kernels::Contiguous{}, data.data());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const char prefix[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
  file.write(prefix, sizeof prefix);
  file.put(static_cast<char>(header.size() & 0xff));
  file.put(static_cast<char>(header.size() >> 8));
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  file.close();
  if (!file)
    fail(path, "cannot be written");
}

Bytes read_npy_bytes(const std::string& path) {
  const Tensor tensor = read_npy(path);
  if (tensor.dtype != DType::UInt8 || tensor.shape.rank() != 1)
    fail(path, "physical bytes are a one-dimensional uint8 array");
  return {tensor.bits.begin(), tensor.bits.end()};
}

void write_npy_bytes(const std::string& path, const Bytes& bytes) {
  write_npy(
      path,
      {{static_cast<std::int64_t>(bytes.size())}, DType::UInt8, {bytes.begin(), bytes.end()}});
}

} // namespace simaai::oracle
