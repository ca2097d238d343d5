// SPDX-License-Identifier: LGPL-2.1-or-later
// Starting and ending the device behind the test driver.
#include "device_process.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace simaai::test {

DeviceProcess::DeviceProcess(const std::string& options) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    // A test that crashes must not leave it behind.
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)::dup2(pipe[1], STDOUT_FILENO);
    ::execl(SIMAAI_MODEL_PROCESS, SIMAAI_MODEL_PROCESS, options.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(pipe[1]);
  char said = 0;
  if (pid_ < 0 || ::read(pipe[0], &said, 1) != 1) {
    std::fprintf(stderr, "%s did not start\n", SIMAAI_MODEL_PROCESS);
    std::abort();
  }
  ::close(pipe[0]);
}

void DeviceProcess::kill() {
  if (pid_ <= 0)
    return;
  ::kill(pid_, SIGKILL);
  (void)::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

} // namespace simaai::test
