// SPDX-License-Identifier: LGPL-2.1-or-later
// Starting and ending the server.
#include "server_process.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simaai/runtime/unique_fd.h>

namespace simaai::runtime::test {

ServerProcess::ServerProcess(const std::vector<std::string>& options, std::size_t descriptor_limit)
    : options_(options), descriptor_limit_(descriptor_limit) {
  std::string pattern = std::filesystem::temp_directory_path() / "simaai-ev74d-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    std::abort();
  folder_ = pattern;
  start();
}

void ServerProcess::start() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    std::abort();
  const UniqueFd said(pipe[0]);
  UniqueFd says(pipe[1]);
  const std::string program = SIMAAI_EV74D;
  std::vector<std::string> words{program};
  words.insert(words.end(), options_.begin(), options_.end());
  words.push_back(path());
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    // A test that crashes must not leave it behind.
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)::dup2(says.get(), STDOUT_FILENO);
    if (descriptor_limit_ != 0) {
      const rlimit limit{descriptor_limit_, descriptor_limit_};
      (void)::setrlimit(RLIMIT_NOFILE, &limit);
    }
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  says.reset();
  std::array<char, 256> text{};
  if (pid_ < 0 || ::read(said.get(), text.data(), text.size() - 1) <= 0) {
    std::fprintf(stderr, "%s did not start\n", program.c_str());
    std::abort();
  }
}

void ServerProcess::kill() {
  ::kill(pid_, SIGKILL);
  (void)::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int ServerProcess::stop() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  (void)::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::size_t ServerProcess::descriptors() const {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/fd"))
    ++count;
  return count;
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0)
    kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

} // namespace simaai::runtime::test
