// SPDX-License-Identifier: LGPL-2.1-or-later
// The process behind the test driver, module/model_process.cpp.
#pragma once

#include <string>

#include <sys/types.h>

namespace simaai::test {

inline constexpr const char* kNode = "/dev/simaai-ev74";
inline constexpr const char* kNodeUri = "dev:/dev/simaai-ev74";

/// Starts it and waits until the device can be opened. Killed and reaped when destroyed.
class DeviceProcess {
public:
  /// `options` as after model:.
  explicit DeviceProcess(const std::string& options = "");
  ~DeviceProcess() { kill(); }
  DeviceProcess(const DeviceProcess&) = delete;
  DeviceProcess& operator=(const DeviceProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill();

private:
  pid_t pid_ = -1;
};

} // namespace simaai::test
