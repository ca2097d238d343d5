// SPDX-License-Identifier: LGPL-2.1-or-later
// The queue of jobs in flight, and its task.
#include "async_output.h"

#include <utility>

namespace simaai::gst {

GstFlowReturn AsyncOutput::reserve(std::size_t depth) noexcept {
  Lock lock(mutex_);
  changed_.wait(lock,
                [this, depth] { return flushing_ || flow_ != GST_FLOW_OK || buffers_ < depth; });
  return flushing_ ? GST_FLOW_FLUSHING : flow_;
}

void AsyncOutput::add(Flight flight, GstPtr<GstBuffer> input, GstPtr<GstBuffer> output) {
  Item item{nullptr, std::move(input), std::move(output), std::move(flight)};
  bool starts = false;
  {
    const Lock lock(mutex_);
    if (flushing_)
      return; // the item goes when the lock is gone
    items_.push_back(std::move(item));
    ++buffers_;
    starts = !std::exchange(running_, true);
  }
  changed_.notify_all();
  if (starts)
    gst_pad_start_task(pad_, run, this, nullptr);
}

bool AsyncOutput::add_event(GstEvent* event) {
  {
    const Lock lock(mutex_);
    if (flushing_ || flow_ != GST_FLOW_OK || (items_.empty() && !delivering_))
      return false;
    Item item;
    item.event.reset(event);
    items_.push_back(std::move(item));
  }
  changed_.notify_all();
  return true;
}

GstFlowReturn AsyncOutput::drain() noexcept {
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return flushing_ || (items_.empty() && !delivering_); });
  return flushing_ ? GST_FLOW_FLUSHING : flow_;
}

void AsyncOutput::forgive() noexcept {
  const Lock lock(mutex_);
  flow_ = GST_FLOW_OK;
}

std::vector<AsyncOutput::Item> AsyncOutput::take_all() noexcept {
  for (const Item& item : items_)
    if (!item.event)
      --buffers_;
  return std::exchange(items_, {});
}

void AsyncOutput::set_flushing(bool flushing) noexcept {
  std::vector<Item> forgotten; // jobs that are not retired are parked when it goes
  {
    const Lock lock(mutex_);
    flushing_ = flushing;
    if (!flushing) {
      forgotten = take_all();
      flow_ = GST_FLOW_OK;
    }
  }
  changed_.notify_all();
}

void AsyncOutput::pause() noexcept {
  gst_pad_pause_task(pad_);
  const Lock lock(mutex_);
  running_ = false;
}

void AsyncOutput::stop() noexcept {
  gst_pad_stop_task(pad_);
  std::vector<Item> forgotten;
  const Lock lock(mutex_);
  running_ = false;
  forgotten = take_all();
}

std::size_t AsyncOutput::in_flight() const noexcept {
  const Lock lock(mutex_);
  return buffers_;
}

GstFlowReturn AsyncOutput::deliver(Item& item) noexcept {
  if (item.event) {
    (void)gst_pad_push_event(pad_, item.event.release());
    return GST_FLOW_OK;
  }
  const GstFlowReturn landed = owner_.land(item.flight);
  return landed == GST_FLOW_OK ? gst_pad_push(pad_, item.output.release()) : landed;
}

/// One turn of the task.
void AsyncOutput::step() noexcept {
  Item item;
  {
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return flushing_ || !items_.empty(); });
    if (flushing_) {
      lock.unlock();
      gst_pad_pause_task(pad_); // from the task itself: does not wait
      return;
    }
    item = std::move(items_.front());
    items_.erase(items_.begin());
    delivering_ = true;
  }
  const bool is_buffer = !item.event;
  const GstFlowReturn flow = deliver(item);
  item = {};
  std::vector<Item> forgotten;
  {
    const Lock lock(mutex_);
    delivering_ = false;
    if (is_buffer)
      --buffers_;
    if (flow != GST_FLOW_OK && !flushing_) {
      flow_ = flow;
      forgotten = take_all();
    }
  }
  changed_.notify_all();
}

} // namespace simaai::gst
