// SPDX-License-Identifier: LGPL-2.1-or-later
// Faults of one job: the first few in full, all of them counted.
#pragma once

#include "firmware/model/device_model.h"

namespace simaai::model {

class FaultLog {
public:
  void add(FaultKind kind, std::uint32_t worker, std::uint64_t address,
           std::uint64_t bytes) noexcept {
    if (count_ < kMaxReportedFaults)
      faults_[count_] = {kind, worker, address, bytes};
    ++count_;
  }
  void copy_to(RunResult& result) const noexcept {
    result.fault_count = count_;
    result.faults = faults_;
  }

private:
  std::uint64_t count_ = 0;
  std::array<Fault, kMaxReportedFaults> faults_{};
};

} // namespace simaai::model
