// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads bufinfo, fdinfo and the log of SYNC calls.
#include "observer.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <variant>

#include <gtest/gtest.h>
#include <unistd.h>

#include <simaai/runtime/dma_buf.h>

namespace simaai::test {
namespace {

/// Also shows at the start that leaks and brackets would be seen.
class NothingLeft final : public ::testing::Environment {
public:
  void SetUp() override {
    before_ = living_dma_bufs();
    ASSERT_NE(before_, SIZE_MAX) << "bufinfo cannot be read";
    const auto heap = runtime::BufferSource::open(runtime::BufferSourceKind::DmaHeap);
    ASSERT_TRUE(std::holds_alternative<runtime::BufferSource>(heap));
    const auto one = std::get<runtime::BufferSource>(heap).allocate(4096);
    ASSERT_TRUE(std::holds_alternative<runtime::DmaBuf>(one));
    ASSERT_EQ(living_dma_bufs(), before_ + 1) << "leaks would not be seen";
    forget_brackets();
    const int fd = std::get<runtime::DmaBuf>(one).fd();
    (void)runtime::CpuAccess::begin(fd, runtime::MemoryKind::DmaBuf, runtime::CpuAccessMode::Read);
    ASSERT_EQ(brackets(::getpid())["read"], 1) << "sync_guard.cpp is not preloaded";
  }
  void TearDown() override {
    // Descriptors of a process that was just killed may go a moment later.
    for (int tries = 0; tries < 1000 && living_dma_bufs() != before_; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(living_dma_bufs(), before_);
  }

private:
  std::size_t before_ = 0;
};

} // namespace

std::size_t living_dma_bufs() {
  std::ifstream file("/sys/kernel/debug/dma_buf/bufinfo");
  std::string word;
  std::size_t last = SIZE_MAX;
  while (file >> word)
    if (word == "Total")
      file >> last;
  return last;
}

std::string exporter_of(int fd) {
  std::ifstream file("/proc/self/fdinfo/" + std::to_string(fd));
  std::string word;
  std::string exporter;
  while (file >> word)
    if (word == "exp_name:")
      file >> exporter;
  return exporter;
}

std::map<std::string, int> brackets(pid_t pid) {
  std::map<std::string, int> started;
  std::map<std::string, int> ended;
  std::ifstream log(std::getenv("SIMAAI_SYNC_LOG"));
  std::string writer;
  std::string inode;
  std::string what;
  while (log >> writer >> inode >> what) {
    std::string mode = what;
    if (what != "left")
      log >> mode;
    if (writer == std::to_string(pid))
      ++(what == "start" ? started : ended)[mode];
  }
  if (started != ended)
    return {{"unbalanced", -1}};
  return started;
}

void forget_brackets() {
  const std::ofstream empty(std::getenv("SIMAAI_SYNC_LOG"), std::ios::trunc);
  ASSERT_TRUE(empty.is_open());
}

void expect_no_dma_buf_left() { ::testing::AddGlobalTestEnvironment(new NothingLeft()); }

} // namespace simaai::test
