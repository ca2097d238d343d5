// SPDX-License-Identifier: LGPL-2.1-or-later
// Accounting of one pipeline: takes (time, pad, identity), knows nothing of GStreamer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distribution.h"
#include "entry_table.h"
#include "frame_table.h"
#include "identity.h"
#include "jobs.h"
#include "span_log.h"

namespace simaai::latency {

// What a user may ask for.
inline constexpr std::uint64_t kLeastWindow = 2;
inline constexpr std::uint64_t kMostWindow = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostSpans = std::uint64_t{1} << 22;

struct Settings {
  std::uint64_t warmup = 0;  ///< frames of each origin that are not recorded
  std::uint64_t samples = 0; ///< frames of each origin recorded after those; 0: all
  std::size_t spans = 0;     ///< capacity of the span log; 0: none is kept
  std::size_t window = 1024; ///< frames of which an element remembers when they entered
};

enum class Direction : std::uint8_t { Source, Sink };

struct Element;
class Recorder;

/// What was recorded at a pad. Counters are of buffers, measured or not, unless said otherwise.
struct Figures {
  static constexpr std::size_t kOrigins = 4;

  Figures(Direction direction, bool ends_streams);

  Word buffers{0};
  Distribution processing; ///< calls into the element through this pad

  // Source pads.
  std::array<Word, kCarriers> recognised{}; ///< buffers that left, by what they were recognised
  Word appeared{0};                         ///< buffers that left and never entered
  Word ambiguous{0}; ///< buffers that left and could have entered at several times
  Word reshaped{0};  ///< buffers that left and are not one input as a whole: a part, or several
  Word remade{0}; ///< buffers that left with other data than came, and may be the one or the other
  std::unique_ptr<Distribution> residence;
  std::unique_ptr<Distribution> waiting;
  std::unique_ptr<Distribution> thread; ///< residence without waiting and jobs

  // Sink pads.
  Word untagged{0}; ///< buffers that entered without a tag: their end cannot be seen
  std::unique_ptr<Distribution> interval; ///< between consecutive buffers
  // Elements that end streams.
  Word arrived{0};                     ///< measured buffers
  Word distinct{0};                    ///< measured frames: the parts of one count once
  std::array<Word, kOrigins> frames{}; ///< the same, by Pad::origins
  std::unique_ptr<std::array<Distribution, kOrigins>> latency; ///< by Pad::origins
};

/// Jobs of measured buffers, each buffer once.
struct JobFigures {
  std::atomic<const char*> device{nullptr}; ///< where the latest ran; interned
  Distribution queued;
  Distribution working;
  Distribution retirement;
};

/// A pad. Lives as long as its recorder.
struct Pad {
  Pad(Recorder& recorder, Element& on, std::string called, Direction which, std::uint32_t at);
  ~Pad();
  Pad(const Pad&) = delete;
  Pad& operator=(const Pad&) = delete;

  Recorder* owner;
  Element* element;
  std::string name;
  Direction direction;
  std::uint32_t index;

  /// Where a thread records and how. The first thread has its figures for itself, all others share
  /// some, which are allocated when the second one comes: a pad rarely changes its thread.
  struct Writing {
    Figures& figures;
    Access access;
  };
  [[nodiscard]] Writing writing(std::uint32_t thread) noexcept {
    return first_thread_.load(std::memory_order_relaxed) == thread ? Writing{own_, Access::Own}
                                                                   : writing_other(thread);
  }
  /// Both; the second is null where there was one thread only.
  [[nodiscard]] std::array<const Figures*, 2> figures() const noexcept {
    return {&own_, others_.load(std::memory_order_acquire)};
  }
  [[nodiscard]] std::uint64_t sum(Word Figures::*word) const noexcept;

  Word previous_ns{0}; ///< time of the previous buffer; 0: an interval begins

  // Source pads.
  Word frames{0};  ///< that began here
  Word last_id{0}; ///< frame of the last buffer that entered before
  std::atomic<JobFigures*> jobs{nullptr};

  // Sink pads.
  std::unique_ptr<EntryTable> entries;
  std::unique_ptr<AliasTable> aliases;
  std::unique_ptr<ArrivalRing> arrivals;
  std::unique_ptr<AliasTable>
      complete;                  ///< frames that arrived by their origin; elements that end streams
  std::atomic<bool> timed{true}; ///< its buffers are timed: a stream of bytes is not
  /// Index of the origin pad plus one, 0: free. Elements that end streams.
  std::array<std::atomic<std::uint32_t>, Figures::kOrigins> origins{};

private:
  [[nodiscard]] Writing writing_other(std::uint32_t thread) noexcept;

  Figures own_;
  std::atomic<std::uint32_t> first_thread_{0};
  std::atomic<Figures*> others_{nullptr};
};

/// An element.
struct Element {
  static constexpr std::size_t kSinks = 64;

  std::string name;
  std::string path; ///< with the bins around it, "outer/inner/name"
  std::string factory;
  bool ends_streams = false; ///< has no source pad and will never have one
  /// Its input may be packets or chunks: some hold nothing that leaves, and that is no drop.
  bool repacks = false;
  /// Its output are frames of its own, even where one has the timestamp of an input.
  bool demuxes = false;
  /// The same where bytes come in and not frames, as their segment says.
  bool parses = false;
  /// Makes a buffer of what its inputs have at a time, even where it has one input.
  bool aggregates = false;
  /// Takes one buffer of each input for an output, and not all of its time: a mixer of video.
  bool picks = false;
  std::uint32_t index = 0;

  std::array<std::atomic<Pad*>, kSinks> sinks{};
  std::atomic<std::size_t> sink_count{0};

  Word ended{0};      ///< measured frames that entered, did not leave and ended
  Word flushed{0};    ///< the same, thrown away by a flush
  Word unfinished{0}; ///< the same, when the pipeline was stopped
  Word forgotten{0};  ///< measured frames inside whose entries made room for later ones
  Word missed{0};     ///< measured buffers that left, perhaps of such frames
};

/// One call into an element that is going on.
struct Call {
  Pad* pad = nullptr; ///< null: the callee is not measured, only taken off the caller
  const void* key = nullptr;
  std::uint64_t id = 0;
  std::uint64_t begun_ns = 0;
  std::uint64_t nested_ns = 0;
  std::uint32_t buffers = 0;
  bool measured = false;
};

/// Calls of one thread, innermost last. Deeper calls than the array holds are not measured.
struct CallStack {
  static constexpr std::size_t kDepth = 1024;
  std::array<Call, kDepth> calls;
  std::size_t depth = 0;
  std::uint32_t thread = 0; ///< its number, from 1
  PendingJobs jobs;         ///< of the buffer that leaves next

  /// Makes the innermost call with the key the top one; false where there is none.
  [[nodiscard]] bool unwind(const void* key) noexcept {
    // Calls deeper than the array are not kept: the end is taken for that of the innermost one.
    for (std::size_t at = depth; at > 0; --at) {
      if (at <= kDepth && calls[at - 1].key != key)
        continue;
      depth = at;
      return true;
    }
    return false;
  }

  [[nodiscard]] Call* top() noexcept {
    return depth != 0 && depth <= kDepth ? &calls[depth - 1] : nullptr;
  }
};

/// Thread-safe; leave, enter, begin, end and the frame_ functions neither lock nor allocate.
class Recorder {
public:
  static constexpr std::size_t kPads = 8192;

  explicit Recorder(const Settings& settings);

  // Topology. Null where there is no place for one more.
  Element* add_element(std::string name, std::string factory, bool ends_streams,
                       std::string path = {});
  Pad* add_pad(Element& element, std::string name, Direction direction);

  /// A buffer leaves the element of `source`. The result is the frame that it belongs to; the buffer
  /// should carry it from now on.
  FrameTag leave(CallStack& stack, std::uint64_t now_ns, Pad& source,
                 const Identity& identity) noexcept;
  /// A buffer of frame `tag` enters the element of `sink`. `identity.tag` is empty where the buffer
  /// does not carry the tag.
  void enter(CallStack& stack, std::uint64_t now_ns, Pad& sink, const FrameTag& tag,
             const Identity& identity) noexcept;

  /// A further frame that the buffer stands for left the element of `source` with it.
  void also_left(Pad* source, std::uint64_t id) noexcept;

  /// A call into `pad` begins and ends on this thread. Calls of which the end was not seen are
  /// forgotten when one around them ends; an end without its beginning is ignored: `key` tells.
  static void begin(CallStack& stack, std::uint64_t now_ns, Pad* pad, const FrameTag& tag,
                    std::uint32_t buffers, const void* key = nullptr) noexcept;
  /// A call that met a flush did not take its frame: no drop.
  enum class Outcome : std::uint8_t { Taken, Flushing };
  static void end(CallStack& stack, std::uint64_t now_ns, const void* key = nullptr,
                  Outcome outcome = Outcome::Taken) noexcept;

  /// One more or one less buffer carries the frame.
  void frame_carried(std::uint64_t id) noexcept { frames_.add(id); }
  void frame_released(std::uint64_t id) noexcept;

  /// What has entered until now may be thrown away without being a drop; intervals begin anew.
  void flushed() noexcept;
  /// The same from now on, because the run ends; or no longer, because it begins again.
  void stopping(bool yes) noexcept { stopping_.store(yes, std::memory_order_relaxed); }
  /// Intervals begin anew: data pause here without being late.
  void paused() noexcept;

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const SpanLog& log() const noexcept { return log_; }
  [[nodiscard]] const FrameTable& frames() const noexcept { return frames_; }
  /// Pads for which there was no place.
  [[nodiscard]] std::uint64_t unfollowed_pads() const noexcept { return get(unfollowed_pads_); }
  [[nodiscard]] std::vector<const Element*> elements() const;
  [[nodiscard]] std::vector<const Pad*> pads() const;
  /// Measured frames that have arrived of the origin and at the sink that has the fewest; empty without a sink.
  [[nodiscard]] std::optional<std::uint64_t> arrived() const;
  /// Measured frames that have arrived, of all origins at all sinks.
  [[nodiscard]] std::uint64_t arrived_in_all() const;
  /// Frames that have begun, measured or not.
  [[nodiscard]] std::uint64_t begun() const;
  /// Whether some origin has begun all frames that are to be measured.
  [[nodiscard]] bool measured_have_begun() const;

private:
  struct Match {
    Entry entry;
    Pad* pad = nullptr;
    Carrier carrier = Carrier::Meta;
    bool ambiguous = false;
    bool combined = false; ///< made of several inputs, of which this is the newest
  };

  void arrive(CallStack& stack, std::uint64_t now_ns, Pad& sink, const Pad::Writing& writing,
              const FrameTag& tag) noexcept;
  [[nodiscard]] static std::size_t place_of(Pad& sink, const FrameTag& tag) noexcept;
  [[nodiscard]] std::uint64_t arrived_at(const Pad& sink) const;
  [[nodiscard]] static Match recognise(const Element& element, const Identity& identity) noexcept;
  [[nodiscard]] static Match of_one(const Element& element, const Identity& identity) noexcept;
  [[nodiscard]] static Match by_tag(const Element& element, const Identity& identity) noexcept;
  [[nodiscard]] static Match by_alias(const Element& element, std::uint64_t name,
                                      Carrier carrier) noexcept;
  [[nodiscard]] static Match combined(const Element& element, const Identity& identity) noexcept;
  [[nodiscard]] static Match joined(const Element& element, const Identity& identity,
                                    const Match& match) noexcept;
  FrameTag appear(const CallStack& stack, std::uint64_t now_ns, Pad& source) noexcept;
  FrameTag account(CallStack& stack, std::uint64_t now_ns, Pad& source, const Match& match,
                   const Identity& identity, std::span<const Job> jobs,
                   const Pad::Writing& writing) noexcept;
  static void note_shape(Pad& source, const Match& match, const Identity& identity,
                         const Pad::Writing& writing) noexcept;
  void note_jobs(const CallStack& stack, Pad& source, const FrameTag& tag,
                 std::span<const Job> jobs) noexcept;
  void name_by_timestamp(Pad& sink, std::uint64_t id, std::uint64_t timestamp) noexcept;
  static void refused(Pad& pad, std::uint64_t id) noexcept;
  static void note_interval(Pad& pad, const Pad::Writing& writing, std::uint64_t now_ns,
                            bool measured) noexcept;

  Settings settings_;
  FrameTable frames_;
  SpanLog log_;
  Word next_id_{1};
  Word flush_before_{0};
  std::atomic<bool> stopping_{false};

  mutable std::mutex topology_; // guards the two deques; readers of pads_ need no lock
  std::deque<Element> element_store_;
  std::deque<Pad> pad_store_;
  std::array<std::atomic<Pad*>, kPads> pads_{};
  std::atomic<std::size_t> pad_count_{0};
  Word unfollowed_pads_{0};
};

} // namespace simaai::latency
