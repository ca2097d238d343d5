// SPDX-License-Identifier: LGPL-2.1-or-later
// How the main loop of the demo ends.
#include <gtest/gtest.h>

#include "gst-plugins/tools/runner.h"

namespace {

using simaai::demo::build_pipeline;
using simaai::demo::run_pipeline;
using simaai::demo::RunResult;
using simaai::demo::stop_pipeline;

RunResult run(const char* text) {
  std::string error;
  const auto pipeline = build_pipeline(text, error);
  EXPECT_TRUE(pipeline) << error;
  RunResult result = run_pipeline(pipeline.get(), 1);
  stop_pipeline(pipeline.get());
  return result;
}

TEST(DemoRunner, EndsWithTheStream) {
  EXPECT_EQ(run("videotestsrc num-buffers=2 ! fakesink").error, "");
}

TEST(DemoRunner, LongStreamsOutliveTheLimit) {
  // 60 frames on the clock: two seconds, twice the limit.
  const RunResult result = run("videotestsrc is-live=true num-buffers=60 ! fakesink sync=true");
  EXPECT_EQ(result.error, "");
}

TEST(DemoRunner, NamesTheFirstError) {
  EXPECT_NE(run("filesrc name=file location=missing ! fakesink").error.find("file"),
            std::string::npos);
}

TEST(DemoRunner, SourceWithoutDataEndsWithAnError) {
  EXPECT_NE(run("appsrc ! fakesink").error.find("no picture arrived"), std::string::npos);
}

} // namespace
