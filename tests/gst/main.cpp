// SPDX-License-Identifier: LGPL-2.1-or-later
// Test program with GStreamer initialised.
#include <gtest/gtest.h>

#include <gst/gst.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gst_init(&argc, &argv);
  const int result = RUN_ALL_TESTS();
  gst_deinit();
  return result;
}
