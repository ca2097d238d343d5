// SPDX-License-Identifier: LGPL-2.1-or-later
// Clocks of elements and of their neighbours, which know nothing of the tracer.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/tracers/traced_run.h"

namespace simaai::latency::test {

inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

inline void sleep_ms(unsigned ms) {
  if (ms != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// More than 1 % and 50 us.
inline bool is_off(std::uint64_t ns, std::uint64_t right_ns) {
  return std::max(ns, right_ns) - std::min(ns, right_ns) > right_ns / 100 + 50'000;
}

/// Times of buffers at one place, by their timestamps.
class Marks {
public:
  /// Nothing is done between reading the clock and returning but what the map needs no more.
  void set_last(GstClockTime stamp) {
    const std::lock_guard lock(mutex_);
    std::uint64_t& place = times_ns_[stamp];
    place = now_ns();
  }
  void set(GstClockTime stamp, std::uint64_t ns) {
    const std::lock_guard lock(mutex_);
    times_ns_[stamp] = ns;
  }
  [[nodiscard]] std::uint64_t of(GstClockTime stamp) const {
    const std::lock_guard lock(mutex_);
    return times_ns_.at(stamp);
  }
  /// Of the buffers of a pad: before they wait for an element that is busy.
  void watch(GstElement* element, const char* pad_name) {
    const gst::GstPtr<GstPad> pad(gst_element_get_static_pad(element, pad_name));
    const auto on_buffer = [](GstPad*, GstPadProbeInfo* info, gpointer self) {
      const std::uint64_t now = now_ns();
      static_cast<Marks*>(self)->set(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)), now);
      return GST_PAD_PROBE_OK;
    };
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_buffer, this, nullptr);
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<GstClockTime, std::uint64_t> times_ns_;
};

/// One buffer of the element that is looked at.
struct Reading {
  std::uint64_t own_ns = 0; ///< by the element's clock
  std::uint64_t around_ns =
      0;                 ///< from before its neighbour pushed it until after the next one got it
  bool is_within = true; ///< the own clock was read by the element itself, not at its pads
};

/// Of one element.
class Clocks {
public:
  Marks before; ///< when the neighbour before it pushed
  Marks beside; ///< the same, of its second input
  Marks after;  ///< when the neighbour behind it got it

  /// The buffer leaves. `other` went into it too, where there is one.
  void left(GstClockTime stamp, std::uint64_t since_ns, std::uint64_t now_ns,
            GstClockTime other = GST_CLOCK_TIME_NONE, bool is_within = true) {
    left_.push_back({stamp, other, now_ns - since_ns, is_within});
  }
  /// In the order in which they left, after the run.
  [[nodiscard]] std::vector<Reading> readings() const {
    std::vector<Reading> result;
    for (const Left& one : left_) {
      std::uint64_t from = before.of(one.stamp);
      if (GST_CLOCK_TIME_IS_VALID(one.other))
        from = std::max(from, beside.of(one.other));
      result.push_back({one.own_ns, after.of(one.stamp) - from, one.is_within});
    }
    return result;
  }

private:
  struct Left {
    GstClockTime stamp;
    GstClockTime other;
    std::uint64_t own_ns;
    bool is_within;
  };
  std::vector<Left> left_;
};

/// For an element of others: its pads are watched. What is read there is within on neither side.
class Stopwatch {
public:
  Stopwatch(GstElement* element, Clocks& clocks) : clocks_(clocks) {
    entered_.watch(element, "sink");
    const gst::GstPtr<GstPad> pad(gst_element_get_static_pad(element, "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, &on_leave, this, nullptr);
  }

private:
  static GstPadProbeReturn on_leave(GstPad* /*pad*/, GstPadProbeInfo* info, gpointer self) {
    const std::uint64_t now = now_ns();
    auto& watch = *static_cast<Stopwatch*>(self);
    const GstClockTime stamp = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
    watch.clocks_.left(stamp, watch.entered_.of(stamp), now, GST_CLOCK_TIME_NONE, false);
    return GST_PAD_PROBE_OK;
  }

  Clocks& clocks_;
  Marks entered_;
};

/// A neighbour before: waits, reads its clock, pushes.
inline std::unique_ptr<Behaviour> hands_on(Marks& marks, unsigned ms) {
  return each([&marks, ms](GstPad* source, BufferPtr buffer) {
    sleep_ms(ms);
    marks.set_last(GST_BUFFER_PTS(buffer.get()));
    return gst_pad_push(source, buffer.release());
  });
}

/// A neighbour behind: reads its clock, waits, pushes.
inline std::unique_ptr<Behaviour> takes(Marks& marks, unsigned ms) {
  return each([&marks, ms](GstPad* source, BufferPtr buffer) {
    const std::uint64_t now = now_ns();
    marks.set(GST_BUFFER_PTS(buffer.get()), now);
    sleep_ms(ms);
    return gst_pad_push(source, buffer.release());
  });
}

} // namespace simaai::latency::test
