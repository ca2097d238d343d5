// SPDX-License-Identifier: LGPL-2.1-or-later
// English text of runtime errors.
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include <simaai/runtime/error.h>

namespace simaai::runtime {
namespace {

constexpr std::array<std::string_view, 6> kOperationNames{"none",     "cast",   "tess",
                                                          "casttess", "detess", "detesscast"};
constexpr std::array<std::string_view, 5> kStateNames{"pending", "submitted", "completed", "failed",
                                                      "parked"};

std::string number(std::int64_t value) { return std::to_string(value); }

template <std::size_t N>
std::string name_of(const std::array<std::string_view, N>& names, std::int64_t value) {
  if (value < 0 || value >= static_cast<std::int64_t>(N))
    return number(value);
  return std::string(names[static_cast<std::size_t>(value)]);
}

std::string bytes(std::int64_t count) { return number(count) + (count == 1 ? " byte" : " bytes"); }

std::string jobs(std::int64_t count) { return number(count) + (count == 1 ? " job" : " jobs"); }

std::string hex(std::int64_t value) {
  std::string text;
  auto bits = static_cast<std::uint64_t>(value);
  do {
    text.insert(text.begin(), "0123456789abcdef"[bits & 0xf]);
    bits >>= 4;
  } while (bits != 0);
  return "0x" + text;
}

std::string cause(const Error& error) {
  if (error.system_error == 0)
    return {};
  std::array<char, 128> room{};
  // The GNU variant returns a pointer that need not be the room.
  return std::string(": ") + strerror_r(error.system_error, room.data(), room.size());
}

std::string_view port_name(Port port) {
  switch (port) {
  case Port::None:
    return "";
  case Port::Source:
    return "source: ";
  case Port::Destination:
    return "destination: ";
  }
  return "";
}

std::string expected_found(const std::string& expected, const std::string& found) {
  return "expected " + expected + ", found " + found;
}

std::string reason(const Error& error) {
  const std::int64_t expected = error.expected;
  const std::int64_t found = error.found;
  switch (error.code) {
  case ErrorCode::Kernel:
    return error.kernel.message();
  case ErrorCode::UnknownScheme:
    return "the device URI begins with no scheme that this program knows";
  case ErrorCode::BadDeviceOption:
    return "the device URI has an option that cannot be read, at character " + number(found);
  case ErrorCode::DeviceUnavailable:
    return "the device cannot be opened";
  case ErrorCode::ProtocolMismatch:
    return "protocol of the device server: " +
           expected_found("version " + number(expected), number(found));
  case ErrorCode::JobsStillParked:
    return jobs(found) + " of an earlier session on this device did not retire yet; their buffers "
                         "are kept until the device confirms";
  case ErrorCode::OperationMissing:
    return "the device does not offer operation " + name_of(kOperationNames, found);
  case ErrorCode::VersionMissing:
    return "packet version: " +
           expected_found(number(expected) + ", which the device reads", number(found));
  case ErrorCode::FlagMissing:
    return "packet flags: " +
           expected_found("none outside the device's mask " + hex(expected), hex(found));
  case ErrorCode::SourceDTypeMissing:
    return "source dtype tag: " +
           expected_found("one of the device's mask " + hex(expected), number(found));
  case ErrorCode::DestinationDTypeMissing:
    return "destination dtype tag: " +
           expected_found("one of the device's mask " + hex(expected), number(found));
  case ErrorCode::BadDescriptor:
    return "file descriptor " + number(found) + " cannot be used";
  case ErrorCode::UnsupportedMemory:
    return "memory: " +
           expected_found("a DMA-BUF or a memfd", "an object of file-system type " + hex(found));
  case ErrorCode::NotSealed:
    return "memory: " + expected_found("a memfd with F_SEAL_SHRINK, which cannot be cut short "
                                       "while the device uses it",
                                       "one without that seal");
  case ErrorCode::NotWritable:
    return "memory: " + expected_found("a descriptor open for writing", "a read-only one");
  case ErrorCode::BufferTooSmall:
    return "memory: " + expected_found("at least " + bytes(expected), bytes(found));
  case ErrorCode::BufferMisaligned:
    return "offset: " +
           expected_found("a multiple of " + bytes(expected), "a remainder of " + bytes(found));
  case ErrorCode::BuffersOverlap:
    return "memory: " + expected_found("no byte in common with the source", bytes(found));
  case ErrorCode::SyncFailed:
    return "the kernel refused to prepare the memory for the CPU";
  case ErrorCode::OutOfMemory:
    return "no memory for " + bytes(expected);
  case ErrorCode::AddressSpaceFull:
    return "no free range of " + bytes(expected) + " in the device's address space";
  case ErrorCode::WrongState:
    return "state of the job: " +
           expected_found(name_of(kStateNames, expected), name_of(kStateNames, found));
  case ErrorCode::WrongBackend:
    return "the plan was prepared for the other backend";
  case ErrorCode::QueueFull:
    return "the device has all the " + jobs(expected) + " that it takes; try again later";
  case ErrorCode::TimedOut:
    return "the job did not retire within " + number(expected) +
           " ms; its buffers are kept until it does";
  case ErrorCode::Cancelled:
    return "waiting for the job was ended; its buffers are kept until it retires";
  case ErrorCode::DeviceLost:
    return "the device was lost";
  case ErrorCode::EntryRefused:
    return "the device's native entry refused the packet with status " + number(found);
  case ErrorCode::DeviceFault:
    return "the device stopped the job with fault " + number(found);
  case ErrorCode::JobRefused:
    return "the device server refused the job with reason " + number(found);
  }
  return "error " + number(static_cast<std::int64_t>(error.code));
}

} // namespace

std::string Error::message() const {
  return std::string(port_name(port)) + reason(*this) + cause(*this);
}

} // namespace simaai::runtime
