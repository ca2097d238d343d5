// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects that whichever thread needs them first makes, without a lock.
#pragma once

#include <atomic>
#include <memory>

namespace simaai::latency {

/// The object of `place`, made by whoever needs it first.
template <class T, class Make> T& made_once(std::atomic<T*>& place, Make make) noexcept {
  T* found = place.load(std::memory_order_acquire);
  if (found != nullptr)
    return *found;
  std::unique_ptr<T> fresh = make();
  if (place.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *found;
}

} // namespace simaai::latency
