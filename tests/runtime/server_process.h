// SPDX-License-Identifier: LGPL-2.1-or-later
// A running simaai-ev74d on a socket of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace simaai::runtime::test {

/// Starts the server in a fresh folder and waits until it says that it listens. Killed and reaped when destroyed.
class ServerProcess {
public:
  /// `descriptor_limit`: how many descriptors it may have; 0: as many as this process.
  explicit ServerProcess(const std::vector<std::string>& options = {},
                         std::size_t descriptor_limit = 0);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/socket"; }
  [[nodiscard]] std::string uri() const { return "unix:" + path(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// SIGKILL: no chance to say anything.
  void kill();
  /// SIGTERM; returns the exit status, or -1 where a signal ended it.
  int stop();
  /// The same socket again, by a new process.
  void start();
  /// Open descriptors of the process.
  [[nodiscard]] std::size_t descriptors() const;

private:
  std::string folder_;
  std::vector<std::string> options_;
  std::size_t descriptor_limit_;
  pid_t pid_ = -1;
};

} // namespace simaai::runtime::test
