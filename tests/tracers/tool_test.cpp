// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of simaai-latency that need no pipeline: conditions, ratios, forms of output.
#include <utility>

#include <gtest/gtest.h>

#include "tests/tracers/synthetic.h"
#include "tools/latency/attach.h"
#include "tools/latency/check.h"
#include "tools/latency/ratio.h"
#include "tracers/output.h"
#include "tracers/svg.h"

namespace simaai::latency::test {
namespace {

Report example(const std::string& filter = "filter") {
  Settings settings;
  settings.spans = 256;
  Synthetic line(settings);
  Pad& src = line.source("camera");
  Pad& in = line.sink(filter);
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const FrameTag tag = line.push(1'000'000 * i, src, in, plain());
    const std::uint64_t sent = 1'000'000 * i + 10'000;
    line.stack.jobs.add(64, "model:<1>", {sent, sent + 20'000, sent + 50'000, sent + 55'000});
    line.push(1'000'000 * i + 100'000, out, end, tagged(tag));
    line.back(1'000'000 * i + 150'000);
    line.back(1'000'000 * i + 160'000);
  }
  Report report = line.report();
  report.environment = {{"processor", "one, \"quoted\""}};
  report.text = "camera ! filter ! screen";
  return report;
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST(LatencyChecks, AreRead) {
  const auto plain_check = parse_check("filter.p50 < 2ms");
  ASSERT_TRUE(plain_check);
  EXPECT_EQ(plain_check->subject, "filter");
  EXPECT_EQ(plain_check->metric, "residence");
  EXPECT_EQ(plain_check->figure, "p50");
  EXPECT_EQ(plain_check->bound, 2e6);
  const auto long_check = parse_check("a.b.waiting.p99>=1.5us");
  ASSERT_TRUE(long_check);
  EXPECT_EQ(long_check->subject, "a.b");
  EXPECT_EQ(long_check->metric, "waiting");
  EXPECT_EQ(long_check->comparison, Comparison::GreaterOrEqual);
  EXPECT_EQ(long_check->bound, 1500);
  ASSERT_TRUE(parse_check("queue0.drops<1"));
  for (const char* bad : {"", "p50<2ms", "a.p50<2", "a.p50<ms", "a.p51<2ms", "a.p50=2ms", "<2ms",
                          "a.drops<1ms", "a.p50<-1ms", "a.p50<nanms", "a.p50<infms",
                          "a.p50>=nan(1)s", "a.drops<inf", "a.p50<2m", " .p50<2ms", "a.p50<2ms<"})
    EXPECT_FALSE(parse_check(bad)) << bad;
}

TEST(LatencyChecks, NamesMayHaveAnyCharacter) {
  for (const char* name :
       {"my filter", "a<b", "a>=b", "a.b", "a.waiting", "\"quoted\", too", "two\nlines", "a:b c"}) {
    const Report report = example(name);
    Watched watched;
    read_status(csv_text(report), watched);
    for (const Report* judged : {&report, static_cast<const Report*>(&watched.reports.at(0))}) {
      for (const char* figure : {".residence.p50 <= 100 us", ".drops<1"}) {
        const auto check = parse_check("  " + std::string(name) + figure);
        ASSERT_TRUE(check) << name;
        EXPECT_EQ(check->subject, name);
        EXPECT_TRUE(concerns(*check, *judged)) << name;
        EXPECT_TRUE(holds(*check, value_of(*check, *judged))) << name;
      }
    }
  }
}

TEST(LatencyChecks, ElementsOfOneNameAreMeantByTheirPaths) {
  Report report = example();
  report.pipeline = "main";
  ElementReport other = report.elements[1];
  other.drops = 7;
  report.elements[1].name = report.elements[1].path = "left/filter";
  other.name = other.path = "right/filter";
  report.elements.push_back(other);
  const auto value = [&report](const char* text) { return value_of(*parse_check(text), report); };
  EXPECT_EQ(value("left/filter.drops<1"), 0);
  EXPECT_EQ(value("right/filter.drops<1"), 7);
  EXPECT_EQ(value("main/right/filter.drops<1"), 7);
  EXPECT_FALSE(value("filter.drops<1")) << "either could be meant";
  EXPECT_EQ(why_unknown(*parse_check("filter.drops<1"), report),
            "n/a: several elements are called so: left/filter, right/filter");
  EXPECT_TRUE(concerns(*parse_check("filter.drops<1"), report));
  EXPECT_FALSE(concerns(*parse_check("lter.drops<1"), report));
  report.elements[1].name = "filter"; // the only one of that name in the report
  EXPECT_EQ(value("filter.drops<1"), 0);
}

TEST(LatencyTool, KeepsOtherTracersOfTheEnvironment) {
  std::string error;
  const std::string text =
      tracer_text(Options{}, "/tmp/x/status.csv", "latency(flags=pipeline);stats", error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(text.starts_with("simaailatency(")) << text;
  EXPECT_TRUE(text.ends_with(",status=/tmp/x/status.csv);latency(flags=pipeline);stats")) << text;
}

TEST(LatencyChecks, AreJudgedByTheReport) {
  const Report report = example();
  const auto result = [&report](const char* text) {
    const auto check = parse_check(text);
    return check && holds(*check, value_of(*check, report));
  };
  EXPECT_TRUE(result("filter.p50<=100us"));
  EXPECT_FALSE(result("filter.p50<100us"));
  EXPECT_TRUE(result("filter.processing.max<=110us"));
  EXPECT_TRUE(result("filter.waiting.max<1ns"));
  EXPECT_TRUE(result("filter.thread.p50<=45us"));
  EXPECT_FALSE(result("filter.thread.p50<45us"));
  EXPECT_TRUE(result("filter.drops<1"));
  EXPECT_TRUE(result("total.p50<=100us"));
  EXPECT_FALSE(result("total.p50<100us"));
  EXPECT_TRUE(result("total.max>99us"));
  EXPECT_TRUE(result("screen.processing.p50<=50us"));
  EXPECT_TRUE(result("filter.queued.p50<=20us"));
  EXPECT_FALSE(result("filter.working.p99<30us"));
  EXPECT_TRUE(result("filter.working.p99<=30us"));
  EXPECT_TRUE(result("filter.retirement.max<=5us"));
  EXPECT_FALSE(result("screen.working.p50<1s")) << "it names no jobs";
  EXPECT_FALSE(result("screen.p50<1s")) << "a sink has no residence: not known is not met";
  EXPECT_FALSE(result("nobody.p50<1s"));
}

TEST(LatencyChecks, ATotalFromInsideIsNotKnown) {
  Report report = example();
  const auto check = parse_check("total.p99<1s");
  EXPECT_TRUE(holds(*check, value_of(*check, report)));
  report.paths[0].from_source = false;
  Watched watched;
  read_status(csv_text(report), watched);
  for (const Report* judged : {&std::as_const(report), &std::as_const(watched.reports.at(0))}) {
    EXPECT_FALSE(value_of(*check, *judged));
    EXPECT_TRUE(concerns(*check, *judged));
    EXPECT_NE(why_unknown(*check, *judged).find("inside the pipeline"), std::string::npos);
  }
  EXPECT_EQ(html_text(report).find("p50 source to sink"), std::string::npos);
  // One sink of two: the slowest path is not known either.
  report.paths.push_back(report.paths[0]);
  report.paths[1].sink = "other:sink";
  report.paths[1].from_source = true;
  EXPECT_FALSE(value_of(*check, report));
}

TEST(LatencyRatio, IntervalsAreOrderStatistics) {
  const Ratio seven = ratio_of({1.3, 1.0, 1.1, 1.2, 0.9, 1.4, 1.5});
  EXPECT_EQ(seven.median, 1.2);
  EXPECT_EQ(seven.low, 0.9);
  EXPECT_EQ(seven.high, 1.5);
  EXPECT_NEAR(seven.coverage, 1 - 2.0 / 128, 1e-12);
  const Ratio nine = ratio_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(nine.low, 2);
  EXPECT_EQ(nine.high, 8);
  EXPECT_NEAR(nine.coverage, 1 - 2.0 * 10 / 512, 1e-12);
  EXPECT_EQ(ratio_of({2.0}).coverage, 0);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

TEST(LatencyOutput, CsvKeepsTheFigures) {
  const Report report = example();
  Watched watched;
  read_status(csv_text(report), watched);
  const Report& read = watched.reports.at(0);
  EXPECT_EQ(read.pipeline, report.pipeline);
  ASSERT_EQ(read.elements.size(), report.elements.size());
  for (std::size_t i = 0; i < report.elements.size(); ++i) {
    const ElementReport& was = report.elements[i];
    const ElementReport& is = read.elements[i];
    EXPECT_EQ(is.name, was.name);
    EXPECT_EQ(is.drops, was.drops);
    ASSERT_EQ(is.residence.has_value(), was.residence.has_value());
    if (was.residence) {
      EXPECT_EQ(is.residence->p50, was.residence->p50);
      EXPECT_EQ(is.residence->max, was.residence->max);
      EXPECT_EQ(is.residence->exact, was.residence->exact);
      EXPECT_EQ(is.thread->p50, was.thread->p50);
    }
    ASSERT_EQ(is.jobs.has_value(), was.jobs.has_value());
    if (was.jobs) {
      EXPECT_EQ(is.jobs->queued->p50, was.jobs->queued->p50);
      EXPECT_EQ(is.jobs->working->p99, was.jobs->working->p99);
      EXPECT_EQ(is.jobs->retirement->max, was.jobs->retirement->max);
    }
  }
  ASSERT_EQ(read.paths.size(), 1U);
  EXPECT_EQ(read.paths[0].origin, "camera:src");
  EXPECT_EQ(read.paths[0].sink, "screen:sink");
  EXPECT_EQ(read.paths[0].frames, 10U);
  EXPECT_EQ(read.paths[0].latency.p95, report.paths[0].latency.p95);
}

TEST(LatencyOutput, ThePageIsWholeAndLoadsNothing) {
  const std::string page = html_text(example("filter<&>"));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("filter<&>"), std::string::npos) << "names are escaped";
  EXPECT_NE(page.find("filter&lt;&amp;&gt;"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"text\">model:&lt;1&gt;</td><td>20 us</td>"), std::string::npos);
  // In the stacked bar, in the row of the stage, and in each of the two waterfalls.
  for (const char* part : {"queued", "device", "retirement"})
    EXPECT_EQ(occurrences(page, "<rect class=\"" + std::string(part)), 4U) << part;
  EXPECT_EQ(occurrences(page, "<svg"), 6U)
      << "time, histogram, two waterfalls, the stages and their sum";
}

TEST(LatencyOutput, BarsArePartedAsTheMeans) {
  // The element waits in every second frame, so that no median shows it: the bar has to.
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& in = line.sink("filter");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 11; ++i) {
    const std::uint64_t now = 1'000'000 * i;
    const FrameTag tag = line.push(now, src, in, plain());
    const bool waits = i % 2 == 0;
    if (waits)
      line.back(now + 100'000); // the call is over, the frame leaves later
    line.push(now + (waits ? 300'000 : 100'000), out, end, tagged(tag));
    line.back(now + 400'000);
    if (!waits)
      line.back(now + 400'000);
  }
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].waiting->p50, 0U);
  const std::string page = html_text(report);
  EXPECT_GE(occurrences(page, "<rect class=\"wait"), 2U);
}

TEST(LatencyOutput, DurationsHaveTheUnitThatSuitsThem) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(950), "950 ns");
  EXPECT_EQ(duration_text(1250), "1.25 us");
  EXPECT_EQ(duration_text(33'400'000), "33.4 ms");
  EXPECT_EQ(duration_text(2.5e9), "2.5 s");
}

} // namespace
} // namespace simaai::latency::test
