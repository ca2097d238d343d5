// SPDX-License-Identifier: LGPL-2.1-or-later
// Test program with GStreamer initialised. LEAK_ON_PURPOSE in the environment: leaks.py looks whether leaks are seen.
#include <cstdlib>

#include <gtest/gtest.h>

#include <gst/gst.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gst_init(&argc, &argv);
  if (std::getenv("LEAK_ON_PURPOSE") != nullptr)
    (void)gst_bin_new("leaked");
  const int result = RUN_ALL_TESTS();
  gst_deinit();
  return result;
}
