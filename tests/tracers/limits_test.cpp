// SPDX-License-Identifier: LGPL-2.1-or-later
// What the accounting cannot know is said and not guessed: frames that are joined or split, rooms that are too small, equal names.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracers/synthetic.h"
#include "tracers/output.h"

namespace simaai::latency::test {
namespace {

constexpr std::uint64_t kTick = 10; // duration of a frame that comes

/// A buffer with data of its own.
Identity data(const FrameTag& tag, std::uint64_t content, std::uint64_t timestamp,
              std::uint64_t duration) {
  return {tag, timestamp, content, content, duration};
}

/// camera -> element -> screen.
struct Chain {
  explicit Chain(const Settings& settings = {}) : line(settings) {}

  FrameTag come(std::uint64_t i, std::uint64_t duration = kTick) {
    const std::uint64_t timestamp = in.timed ? kTick * i : kNoTimestamp;
    const FrameTag tag = line.push(1000 * i, src, in, data({}, 64, timestamp, duration));
    line.recorder.frame_carried(tag.id);
    return tag;
  }
  void go(std::uint64_t i, const Identity& identity) {
    line.push(1000 * i + 100, out, end, identity);
    line.back(1000 * i + 110);
  }
  void done(std::uint64_t i, const FrameTag& tag) {
    line.back(1000 * i + 200);
    line.recorder.frame_released(tag.id);
  }
  [[nodiscard]] ElementReport element() const { return line.report().elements[1]; }

  Synthetic line;
  Pad& src = line.source("camera");
  Pad& in = line.sink("element");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
};

Settings with_spans(std::size_t spans = 4096) {
  Settings settings;
  settings.spans = spans;
  return settings;
}

bool has_note(const Report& report, const std::string& words) {
  return std::any_of(report.notes.begin(), report.notes.end(), [&words](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

TEST(LatencyDrops, OfAnElementThatJoinsFramesAreNotKnown) {
  // As an encoder of sound does: two frames in one, which has the time of the first or the metas of the second.
  for (const bool by_meta : {false, true}) {
    Chain chain;
    for (std::uint64_t i = 0; i < 8; i += 2) {
      const FrameTag first = chain.come(i);
      chain.done(i, first);
      const FrameTag second = chain.come(i + 1);
      chain.go(i + 1, by_meta ? data(second, 128, kTick * (i + 1), 2 * kTick)
                              : data({}, 128, kTick * i, 2 * kTick));
      chain.done(i + 1, second);
    }
    EXPECT_EQ(chain.element().residence->count, 4U);
    EXPECT_FALSE(chain.element().drops) << by_meta;
  }
}

TEST(LatencyDrops, OfAnElementThatSplitsFramesAreNotKnown) {
  for (const bool by_meta : {false, true}) {
    Chain chain;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const FrameTag tag = chain.come(i);
      for (std::uint64_t part = 0; part < 3; ++part)
        chain.go(i, data(by_meta ? tag : FrameTag{}, 128 + part, kTick * i, kNoTimestamp));
      chain.done(i, tag);
    }
    EXPECT_EQ(chain.element().residence->count, 12U);
    EXPECT_FALSE(chain.element().drops) << by_meta;
  }
}

TEST(LatencyDrops, OfAnElementThatRepacksAreNotKnown) {
  Chain chain;
  chain.in.element->repacks = true;
  for (std::uint64_t i = 0; i < 8; ++i) {
    const FrameTag tag = chain.come(i);
    if (i % 2 == 0) // every second one is a header
      chain.go(i, data(tag, 64, kTick * i, kTick));
    chain.done(i, tag);
  }
  EXPECT_EQ(chain.element().residence->count, 4U);
  EXPECT_FALSE(chain.element().drops);
}

TEST(LatencyLimits, PartsOfAFrameInsideAtOnceAreToldApart) {
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("payloader");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& store = line.sink("queue");
  Pad& stored = line.also(store, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  const FrameTag frame = line.push(1000, src, in, data({}, 64, 5, kTick));
  std::vector<FrameTag> parts;
  for (std::uint64_t part = 0; part < 3; ++part) {
    parts.push_back(line.push(1100 + 10 * part, out, store, data(frame, 128 + part, 5, kTick)));
    line.back(1101 + 10 * part);
  }
  EXPECT_EQ(parts[0].id, frame.id);
  for (std::uint64_t part = 0; part < 3; ++part) {
    line.push(2000 + 20 * part, stored, end, data(parts[part], 128 + part, 5, kTick));
    line.back(2001 + 20 * part);
  }
  const Report report = line.report();
  EXPECT_EQ(report.elements[2].ambiguous, 0U);
  EXPECT_EQ(report.elements[2].residence->count, 3U);
  EXPECT_EQ(report.elements[2].residence->min, 900U);
  EXPECT_EQ(report.elements[2].residence->max, 920U);
  EXPECT_EQ(report.paths.at(0).frames, 1U);
  EXPECT_EQ(report.paths.at(0).latency.max, 1040U);
}

TEST(LatencyLimits, ADemuxerOrAParserOfBytesMakesFrames) {
  // By the timestamp, by the metas of the chunk that a frame was in, and a chunk that is a frame.
  for (const bool demuxes : {false, true}) {
    Chain chain;
    chain.in.element->demuxes = demuxes;
    chain.in.element->parses = !demuxes;
    chain.in.timed = demuxes;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const FrameTag tag = chain.come(i);
      chain.go(i, data(i < 2 ? FrameTag{} : tag, i == 3 ? 64 : 128, kTick * i, kTick));
      chain.done(i, tag);
    }
    EXPECT_EQ(chain.element().appeared, 3U) << demuxes;
    EXPECT_FALSE(chain.element().drops);
    const Report report = chain.line.report();
    ASSERT_EQ(report.paths.size(), 2U);
    EXPECT_EQ(report.paths[0].origin, "element:src");
    EXPECT_EQ(report.paths[0].frames, 3U);
    EXPECT_EQ(report.paths[1].origin, "camera:src");
    EXPECT_EQ(report.paths[1].frames, 1U);
  }
}

TEST(LatencyDrops, OfAnElementThatConvertsAreKnown) {
  // New data of the same duration, or the same data with another one: nothing is joined or split.
  for (const bool same_data : {false, true}) {
    Chain chain;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const FrameTag tag = chain.come(i);
      if (i % 4 != 3)
        chain.go(i, data(tag, same_data ? 64 : 128, kTick * i, same_data ? 2 * kTick : kTick));
      if (i % 4 == 2 && same_data)
        chain.go(i, data(tag, 64, kTick * i, kTick)); // repeated
      chain.done(i, tag);
    }
    EXPECT_EQ(chain.element().drops, 2U) << same_data;
  }
}

TEST(LatencyDrops, WithoutDurationsOnlyNoneIsANumber) {
  for (const bool loses : {false, true}) {
    Chain chain;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const FrameTag tag = chain.come(i, kNoTimestamp);
      if (!loses || i % 4 != 3)
        chain.go(i, data(tag, 128, kTick * i, kNoTimestamp));
      chain.done(i, tag);
    }
    if (loses)
      EXPECT_FALSE(chain.element().drops);
    else
      EXPECT_EQ(chain.element().drops, 0U);
  }
}

TEST(LatencyLimits, FramesAreCountedAndNotTheirParts) {
  Settings settings = with_spans();
  settings.warmup = 2;
  settings.samples = 5;
  for (const bool by_meta : {false, true}) {
    Chain chain(settings);
    for (std::uint64_t i = 0; i < 10; ++i) {
      const FrameTag tag = chain.come(i);
      for (std::uint64_t part = 0; part < 3; ++part)
        chain.go(i, data(by_meta ? tag : FrameTag{}, 128 + part, kTick * i, kNoTimestamp));
      chain.done(i, tag);
      const std::uint64_t counted = i < 2 ? 0 : std::min<std::uint64_t>(i - 1, 5);
      EXPECT_EQ(chain.line.recorder.arrived(), counted) << i;
    }
    const PathReport path = chain.line.report().paths.at(0);
    EXPECT_EQ(path.frames, 5U);
    EXPECT_EQ(path.latency.count, 15U);
    EXPECT_NE(table_text(chain.line.report()).find("15 buffers of   5 frames"), std::string::npos);
  }
}

TEST(LatencyLimits, TwoOriginsAreNotTakenForOneFrame) {
  Synthetic line;
  Pad& one = line.source("one");
  Pad& two = line.source("two");
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 0; i < 5; ++i) {
    for (Pad* source : {&one, &two}) {
      line.push(1000 * i, *source, end, plain());
      line.back(1000 * i + 1);
    }
  }
  EXPECT_EQ(line.recorder.arrived_in_all(), 10U);
  EXPECT_EQ(line.recorder.arrived(), 5U) << "of each";
  for (const PathReport& path : line.report().paths)
    EXPECT_EQ(path.frames, 5U);
}

TEST(LatencyLimits, FramesInASegmentOfBytesGoOn) {
  // As from an application that says nothing of time, through an element that copies metas.
  Chain chain;
  chain.in.timed = false;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const FrameTag tag = chain.come(i);
    chain.go(i, data(tag, 128, kNoTimestamp, kNoTimestamp));
    chain.done(i, tag);
  }
  const Report report = chain.line.report();
  EXPECT_EQ(report.elements[1].residence->count, 4U);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
}

TEST(LatencyLimits, MoreFramesInsideThanTheWindowAreSaid) {
  Settings settings = with_spans();
  settings.window = 8;
  for (const bool by_meta : {true, false}) {
    Chain chain(settings);
    std::vector<FrameTag> held;
    for (std::uint64_t i = 0; i < 12; ++i) {
      held.push_back(chain.come(i));
      chain.line.back(1000 * i + 1);
    }
    // In the order in which they came: of the first four the entries are gone.
    for (std::uint64_t i = 0; i < 12; ++i)
      chain.go(20 + i, data(by_meta ? held[i] : FrameTag{}, 64, kTick * i, kTick));
    const Report report = chain.line.report();
    const ElementReport& element = report.elements[1];
    EXPECT_EQ(element.forgotten, 4U);
    EXPECT_FALSE(element.residence) << "the longest stays are not among what is known";
    EXPECT_FALSE(element.waiting);
    EXPECT_FALSE(element.thread);
    EXPECT_FALSE(element.outputs[0].residence);
    EXPECT_FALSE(element.drops);
    EXPECT_TRUE(has_note(report, "element: 4 frames stayed while 8 later ones came"));
  }
}

TEST(LatencyLimits, FramesThatEndLaterThanTheWindowMakeDropsUnknown) {
  Settings settings;
  settings.window = 8;
  Chain chain(settings);
  std::vector<FrameTag> kept; // by another branch
  for (std::uint64_t i = 0; i < 12; ++i) {
    kept.push_back(chain.come(i));
    chain.line.back(1000 * i + 1);
  }
  for (const FrameTag& tag : kept)
    chain.line.recorder.frame_released(tag.id);
  EXPECT_FALSE(chain.element().drops);
  EXPECT_TRUE(has_note(chain.line.report(), "element: 4 frames"));
}

TEST(LatencyLimits, NamesOfFramesInsideAtOnceAreKept) {
  // Addresses as an allocator hands them out, and timestamps of many rates; an eighth of the window is inside.
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    AliasTable table(1024);
    const std::uint64_t base = random() >> 20 << 4;
    const std::uint64_t step =
        round % 2 == 0 ? 16 * (random() % 64 + 1) : random() % 100'000'000 + 1;
    const auto name = [&](std::uint64_t i) {
      return round % 2 == 0 ? AliasTable::of_pointer(base + step * i)
                            : AliasTable::of_timestamp(step * i);
    };
    std::size_t lost = 0;
    for (std::uint64_t i = 1; i <= 2000; ++i) {
      table.insert(name(i), i, false);
      lost += i > 128 && table.find(name(i - 128)).id != i - 128 ? 1U : 0U;
    }
    EXPECT_LE(lost, 2U) << round << " step " << step;
  }
}

TEST(LatencyLimits, AnElementThatHoldsLessHasNoNote) {
  Settings settings;
  settings.window = 8;
  Chain chain(settings);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const FrameTag tag = chain.come(i);
    if (i % 3 != 0)
      chain.go(i, data(tag, 64, kTick * i, kTick));
    chain.done(i, tag);
  }
  EXPECT_EQ(chain.element().drops, 34U);
  EXPECT_EQ(chain.element().forgotten, 0U);
  EXPECT_TRUE(chain.line.report().notes.empty());
}

TEST(LatencyLimits, SpansThatAreUsedUpAreSaidInEveryForm) {
  Chain chain(with_spans(10));
  for (std::uint64_t i = 0; i < 8; ++i) {
    const FrameTag tag = chain.come(i);
    chain.go(i, data(tag, 64, kTick * i, kTick));
    chain.done(i, tag);
  }
  const Report report = chain.line.report();
  EXPECT_FALSE(report.spans_complete);
  EXPECT_FALSE(report.elements[1].residence->exact);
  EXPECT_EQ(report.elements[1].residence->count, 8U);
  for (const auto form : {&table_text, &json_text, &csv_text, &html_text, &trace_text})
    EXPECT_NE(form(report).find("room for 10 intervals was used up"), std::string::npos);
  EXPECT_FALSE(has_note(Chain(with_spans()).line.report(), "room")) << "only then";
}

TEST(LatencyLimits, MoreOriginsThanASinkHasLinesForAreSaid) {
  Synthetic line;
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 0; i < Figures::kOrigins + 2; ++i) {
    line.push(1000 * i, line.source("source" + std::to_string(i)), end, plain());
    line.back(1000 * i + 1);
  }
  EXPECT_TRUE(has_note(line.report(), "screen:sink: 2 buffers of more than 4 origins"));
}

TEST(LatencyLimits, InputsThatAreNotFollowedAreSaid) {
  Synthetic line;
  Pad& first = line.sink("funnel");
  for (std::size_t i = 1; i < Element::kSinks; ++i)
    line.also(first, "sink", Direction::Sink);
  EXPECT_TRUE(line.report().notes.empty());
  EXPECT_EQ(line.recorder.add_pad(*first.element, "sink", Direction::Sink), nullptr);
  EXPECT_TRUE(has_note(line.report(), "1 pad could not be followed"));
}

TEST(LatencyNames, ElementsOfOneNameAreToldApart) {
  Recorder recorder{Settings{}};
  for (const char* path : {"left/filter", "right/filter", "right/filter", "other"}) {
    const std::string name = std::string(path).substr(std::string(path).find('/') + 1);
    Element* element = recorder.add_element(name, "identity", false, path);
    recorder.add_pad(*element, "src", Direction::Source);
  }
  const Report report = make_report(recorder, "names", false);
  ASSERT_EQ(report.elements.size(), 4U);
  EXPECT_EQ(report.elements[0].name, "left/filter");
  EXPECT_EQ(report.elements[1].name, "right/filter");
  EXPECT_EQ(report.elements[2].name, "right/filter#2") << "one after the other";
  EXPECT_EQ(report.elements[3].name, "other");
  EXPECT_EQ(report.elements[3].path, "other");
  EXPECT_EQ(report.pads[1].element, "right/filter");
}

TEST(LatencyAccounting, TheThreadsPartIsTheRestOfTheResidence) {
  for (const bool exact : {true, false}) {
    Chain chain(exact ? with_spans() : Settings{});
    for (std::uint64_t i = 1; i <= 10; ++i) {
      const FrameTag tag = chain.come(i);
      const std::uint64_t sent = 1000 * i + 10;
      if (i % 2 == 0)
        chain.line.stack.jobs.add(64, "model:", {sent, sent + 20, sent + 50, sent + 55});
      chain.go(i, data(tag, 64, kTick * i, kTick));
      chain.done(i, tag);
    }
    const ElementReport element = chain.element();
    EXPECT_EQ(element.thread->exact, exact);
    EXPECT_EQ(element.thread->count, 10U);
    EXPECT_EQ(element.thread->min, 45U) << "55 of 100 are its job's";
    EXPECT_EQ(element.thread->max, 100U);
    EXPECT_EQ(element.waiting->max, 0U);
  }
}

} // namespace
} // namespace simaai::latency::test
