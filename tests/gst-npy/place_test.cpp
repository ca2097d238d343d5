// SPDX-License-Identifier: LGPL-2.1-or-later
// simaainpysink: where its files go. Links are followed, permissions stay, anything that is no file is left alone.
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "run.h"

namespace {

namespace fs = std::filesystem;
using namespace simaai;
using namespace simaai::test;

const Input one_byte{"application/vnd.simaai.tensor,dtype=uint8,layout=contiguous,shape=<1>", {1}};
constexpr std::size_t kFileBytes = 128 + 1;

mode_t mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

mode_t type_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & S_IFMT;
}

std::string write_to(const std::string& path) {
  return run_sink({{"location", path}}, {one_byte}).error;
}

TEST(SinkPlace, LinksAreFollowedAndStay) {
  const TempFolder folder;
  fs::create_directory(folder.path("kept"));
  write_file(folder.path("kept/target.npy"), {1, 2, 3});
  ASSERT_EQ(chmod(folder.path("kept/target.npy").c_str(), 0600), 0);
  fs::create_symlink("kept/target.npy", folder.path("near.npy"));            // relative
  fs::create_symlink(folder.path("near.npy"), folder.path("far.npy"));       // absolute, two steps
  fs::create_symlink("../kept/new.npy", folder.path("kept/to-nothing.npy")); // dangling
  for (const char* link : {"near.npy", "far.npy"}) {
    write_file(folder.path("kept/target.npy"), {1, 2, 3});
    EXPECT_EQ(write_to(folder.path(link)), "");
    EXPECT_EQ(type_of(folder.path(link)), S_IFLNK) << link;
    EXPECT_EQ(read_file(folder.path("kept/target.npy")).size(), kFileBytes);
    EXPECT_EQ(mode_of(folder.path("kept/target.npy")), 0600U);
  }
  EXPECT_EQ(write_to(folder.path("kept/to-nothing.npy")), "");
  EXPECT_EQ(type_of(folder.path("kept/to-nothing.npy")), S_IFLNK);
  EXPECT_EQ(read_file(folder.path("kept/new.npy")).size(), kFileBytes);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"far.npy", "kept", "near.npy"}));
  EXPECT_FALSE(fs::exists(folder.path("kept/target.npy.part")));
}

TEST(SinkPlace, ALoopOfLinksIsRefused) {
  const TempFolder folder;
  fs::create_symlink("b.npy", folder.path("a.npy"));
  fs::create_symlink("a.npy", folder.path("b.npy"));
  const std::string error = write_to(folder.path("a.npy"));
  EXPECT_NE(error.find("a.npy'"), std::string::npos) << error;
  EXPECT_NE(error.find("links"), std::string::npos) << error;
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"a.npy", "b.npy"}));
}

TEST(SinkPlace, AFileKeepsItsPermissionsAndANewOneHasTheUsualOnes) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  for (const mode_t mode : {0600U, 0640U, 0666U, 0755U}) {
    write_file(path, {1});
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(write_to(path), "");
    EXPECT_EQ(read_file(path).size(), kFileBytes);
    EXPECT_EQ(mode_of(path), mode);
  }
  const mode_t usual = umask(027);
  EXPECT_EQ(write_to(folder.path("new.npy")), "");
  umask(usual);
  EXPECT_EQ(mode_of(folder.path("new.npy")), 0640U);
}

/// A part that another run left behind counts for nothing, and its permissions neither.
TEST(SinkPlace, AStalePartIsReplaced) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path + ".part", Bytes(1000, 7));
  ASSERT_EQ(chmod((path + ".part").c_str(), 0600), 0);
  const mode_t usual = umask(022);
  EXPECT_EQ(write_to(path), "");
  umask(usual);
  EXPECT_EQ(read_file(path).size(), kFileBytes);
  EXPECT_EQ(mode_of(path), 0644U);
}

/// Refused when the sink starts, by name, and still there.
void expect_refused(const std::string& path, const std::string& at, const char* what) {
  const mode_t type = type_of(at);
  const GstPtr<GstElement> sink(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("simaainpysink", nullptr))));
  const GstPtr<GstBus> bus(gst_bus_new());
  gst_element_set_bus(sink.get(), bus.get());
  g_object_set(sink.get(), "location", path.c_str(), nullptr);
  EXPECT_EQ(gst_element_set_state(sink.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << what;
  gst_element_set_state(sink.get(), GST_STATE_NULL);
  gst_element_set_bus(sink.get(), nullptr);
  const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  ASSERT_NE(message, nullptr) << what;
  GError* raw = nullptr;
  gst_message_parse_error(message.get(), &raw, nullptr);
  const GstPtr<GError> error(raw);
  EXPECT_EQ(error->domain, GST_RESOURCE_ERROR);
  EXPECT_EQ(error->code, GST_RESOURCE_ERROR_OPEN_WRITE);
  for (const std::string& word : {path, std::string(what), std::string("expected a regular file")})
    EXPECT_NE(std::string(error->message).find(word), std::string::npos) << error->message;
  EXPECT_EQ(type_of(at), type);
}

TEST(SinkPlace, WhatIsNoFileIsRefusedBeforeTheFirstBuffer) {
  const TempFolder folder;
  const std::string pipe = folder.path("pipe.npy");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, pipe, "a pipe (FIFO)");
  fs::create_symlink("pipe.npy", folder.path("link.npy"));
  expect_refused(folder.path("link.npy"), pipe, "a pipe (FIFO)");
  EXPECT_EQ(type_of(folder.path("link.npy")), S_IFLNK);
  fs::create_directory(folder.path("folder.npy"));
  expect_refused(folder.path("folder.npy"), folder.path("folder.npy"), "a folder");
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = folder.path("socket.npy");
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::copy(name.begin(), name.end(), address.sun_path);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  expect_refused(name, name, "a socket");
  close(fd);
  // Of the series f%d.npy the file that comes first.
  ASSERT_EQ(mkfifo(folder.path("f0.npy").c_str(), 0600), 0);
  EXPECT_NE(run_sink({{"location", folder.path("f%d.npy")}}, {one_byte}).error.find("f0.npy"),
            std::string::npos);
}

TEST(SinkPlace, DevicesAreRefused) {
  const TempFolder folder;
  const std::string path = folder.path("null.npy");
  // Numbers of the null device, on a node of this test.
  if (mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    GTEST_SKIP() << "this process may not make device nodes";
  expect_refused(path, path, "a character device");
}

TEST(SinkPlace, ALaterFileOfASeriesIsRefusedToo) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo(folder.path("f1.npy").c_str(), 0600), 0);
  const Outcome outcome = run_sink({{"location", folder.path("f%d.npy")}}, {one_byte, one_byte});
  EXPECT_NE(outcome.error.find("f1.npy' is a pipe (FIFO)"), std::string::npos) << outcome.error;
  EXPECT_EQ(type_of(folder.path("f1.npy")), S_IFIFO);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"f0.npy", "f1.npy"}));
}

/// Opening it would wait for a reader, or write into what a link points at.
TEST(SinkPlace, APartThatIsNoFileIsRefused) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path, {1, 2, 3});
  write_file(folder.path("victim"), {4, 5});
  ASSERT_EQ(mkfifo((path + ".part").c_str(), 0600), 0);
  EXPECT_NE(write_to(path).find("a.npy.part' is a pipe (FIFO)"), std::string::npos);
  fs::remove(path + ".part");
  fs::create_symlink("victim", path + ".part");
  EXPECT_NE(write_to(path).find("a.npy.part' is a link"), std::string::npos);
  EXPECT_EQ(read_file(path), (Bytes{1, 2, 3}));
  EXPECT_EQ(read_file(folder.path("victim")), (Bytes{4, 5}));
}

/// Limits the size of files of this process, without the signal.
class FileLimit {
public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(SinkPlace, AFailedWriteKeepsTheOldFile) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path, {1, 2, 3});
  const Input large{"application/vnd.simaai.tensor,dtype=uint8,layout=contiguous,shape=<8000>",
                    Bytes(8000)};
  std::string error;
  {
    const FileLimit limit(4096);
    error = run_sink({{"location", path}}, {large}).error;
  }
  EXPECT_NE(error.find("a.npy.part': writing 8128 bytes failed: File too large"), std::string::npos)
      << error;
  EXPECT_EQ(read_file(path), (Bytes{1, 2, 3}));
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a.npy"});
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
