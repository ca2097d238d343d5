// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes TGMX files and words refusals.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <simaai/kernels/matrix/tgmx_file.h>

#include "matrix/whole_file.h"

namespace simaai::kernels::matrix {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

/// Appends until `bytes` holds `wanted` bytes or the file ends; false on a read error. Grows by
/// chunks, so that a short file with a large shape costs little.
bool read_up_to(std::FILE* file, std::size_t wanted, std::vector<std::byte>& bytes) {
  while (bytes.size() < wanted) {
    const std::size_t old = bytes.size();
    bytes.resize(std::min(wanted, old + kChunkBytes));
    const std::size_t got = std::fread(bytes.data() + old, 1, bytes.size() - old, file);
    bytes.resize(old + got);
    if (got == 0)
      return std::ferror(file) == 0;
  }
  return true;
}

std::string number(std::size_t value) { return std::to_string(value); }

std::string pair(std::uint16_t first, std::uint16_t second) {
  return "(" + number(first) + ", " + number(second) + ")";
}

std::string shape(std::uint16_t rows, std::uint16_t cols) {
  return number(rows) + " x " + number(cols);
}

std::string shape_message(const DecodeError& error) {
  if (error.expected_row == 0)
    return "the stated shape is " + shape(error.found_row, error.found_col) +
           "; both dimensions must be 1 to " + number(kCoordSpace);
  return "the stated shape is " + shape(error.found_row, error.found_col) + " instead of " +
         shape(error.expected_row, error.expected_col);
}

std::string record_message(const DecodeError& error, const char* fault) {
  return "the record at byte " + number(error.offset) + " names coordinate " +
         pair(error.found_row, error.found_col) + fault +
         pair(error.expected_row, error.expected_col);
}

} // namespace

std::string message(const EncodeError& error) {
  switch (error.code) {
  case EncodeError::BufferTooSmall:
    return "the stream needs " + number(error.needed) + " bytes, the buffer has " +
           number(error.available);
  }
  return {};
}

std::string message(const DecodeError& error) {
  switch (error.code) {
  case DecodeError::TooShort:
    return "too short: a header has " + number(error.expected) + " bytes, there are " +
           number(error.found);
  case DecodeError::BadMagic:
    return "not TGMX: the first four bytes belong to another format";
  case DecodeError::UnsupportedVersion:
    return "version " + number(error.found) + " is not supported, only " + number(error.expected);
  case DecodeError::ShapeMismatch:
    return shape_message(error);
  case DecodeError::Truncated:
    return "truncated: the shape needs " + number(error.expected) + " bytes, there are " +
           number(error.found);
  case DecodeError::TrailingBytes:
    return "trailing bytes behind the " + number(error.expected) + " that the shape accounts for";
  case DecodeError::CoordinateOutOfRange:
    return record_message(error, ", which is outside the matrix, instead of ");
  case DecodeError::CoordinateMismatch:
    return record_message(error, " instead of its own position ");
  }
  return {};
}

std::string FileError::message() const {
  switch (code) {
  case CannotOpen:
    return std::string("cannot be opened: ") + std::strerror(system_error);
  case CannotRead:
    return std::string("cannot be read: ") + std::strerror(system_error);
  case CannotWrite:
    return std::string("cannot be written: ") + std::strerror(system_error);
  case Refused:
    return matrix::message(refusal);
  }
  return {};
}

Result<DynMatrix, FileError> read_tgmx(const std::string& path, DynOrder order) {
  const FilePtr file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return FileError{FileError::CannotOpen, errno, {}};
  std::vector<std::byte> bytes;
  if (!read_up_to(file.get(), kHeaderBytes, bytes))
    return FileError{FileError::CannotRead, errno, {}};
  const auto shape = peek_shape(bytes);
  if (!shape)
    return FileError{FileError::Refused, 0, shape.error()};
  // One byte more than the shape needs tells trailing bytes.
  const std::size_t wanted = encoded_bytes(shape.value().rows, shape.value().cols) + 1;
  if (!read_up_to(file.get(), wanted, bytes))
    return FileError{FileError::CannotRead, errno, {}};
  auto decoded = DynMatrix::decode(bytes, order);
  if (!decoded)
    return FileError{FileError::Refused, 0, decoded.error()};
  return std::move(decoded).value();
}

Result<void, FileError> write_tgmx(const std::string& path, DynMatrixRef matrix) {
  std::vector<std::byte> bytes(encoded_bytes(matrix.rows(), matrix.cols()));
  (void)matrix.encode(bytes); // the buffer has the needed size
  const WriteOutcome outcome = write_whole_file(path, bytes.data(), bytes.size());
  if (outcome.step == WriteStep::Open)
    return FileError{FileError::CannotOpen, outcome.system_error, {}};
  if (outcome.step == WriteStep::Write)
    return FileError{FileError::CannotWrite, outcome.system_error, {}};
  return {};
}

} // namespace simaai::kernels::matrix
