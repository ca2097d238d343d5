// SPDX-License-Identifier: LGPL-2.1-or-later
// One client of the modelled device: its address space, the objects mapped there, its jobs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <variant>

#include <simaai/runtime/capability.h>
#include <simaai/runtime/dma_buf.h>
#include <simaai/runtime/transport.h>

#include "firmware/model/device_model.h"
#include "runtime/attention.h"
#include "runtime/protocol.h"
#include "wire/packet.h"

namespace simaai::model {

/// What a port of a job is to be given. The descriptor is borrowed for the call.
struct PortRange {
  int fd = -1;
  std::uint32_t packet_offset = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  bool writes = false;
  const runtime::MemoryInfo* object =
      nullptr; ///< where it is known already; else the kernel is asked
};

/// Maps objects by what they are, (st_dev, st_ino), and not by descriptor, so that each is mapped once for reading and at
/// most once more for writing, and keeps them mapped for later jobs until room is needed. A mapping holds the object
/// itself: its descriptor and its inode number stay taken.
///
/// admit() and run() may be called by different threads; run() by one at a time.
class ClientSpace {
  struct Object;

public:
  /// Mappings that a client may leave behind before unused ones are given up. With at most half as many jobs at a time
  /// there are never more, and so never more descriptors.
  static constexpr std::size_t kMaxObjects = 128;

  explicit ClientSpace(const ModelConfig& config) : model_(config) {}
  ClientSpace(const ClientSpace&) = delete;
  ClientSpace& operator=(const ClientSpace&) = delete;
  ~ClientSpace() = default;

  /// A packet with both addresses filled in. Its objects stay mapped until it was run or dropped. Move-only; must not
  /// outlive the space.
  class Job {
  public:
    Job(Job&& other) noexcept;
    Job& operator=(Job&&) = delete;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    ~Job();

    /// So short that handing it to another thread would take longer than running it.
    [[nodiscard]] bool is_brief() const noexcept {
      return accessed_bytes_ <= runtime::kBriefBytes && !space_->is_delayed() &&
             !space_->checks_all();
    }
    [[nodiscard]] std::uint64_t accessed_bytes() const noexcept { return accessed_bytes_; }

  private:
    friend class ClientSpace;
    Job(ClientSpace& space, runtime::JobId id) noexcept : space_(&space), id_(id) {}
    ClientSpace* space_;
    runtime::JobId id_;
    alignas(kernels::wire::kPacketAlignment)
        std::array<std::byte, kernels::wire::kMaxPacketBytes> packet_{};
    std::uint32_t packet_bytes_ = 0;
    std::uint64_t accessed_bytes_ = 0; ///< of both ports
    std::array<Object*, 2> objects_{};
  };

  /// Judges packet, relocations and memory without trust in who sent them, and maps. Nothing of it is run.
  [[nodiscard]] std::variant<Job, runtime::protocol::RefusalReason>
  admit(runtime::JobId id, std::span<const std::byte> packet,
        std::span<const PortRange, 2> ports) noexcept;

  /// Runs the job to its end.
  [[nodiscard]] runtime::Completion run(const Job& job) noexcept;

  [[nodiscard]] runtime::CapabilityTable capabilities() const noexcept;
  /// True where every job is made to last.
  [[nodiscard]] bool is_delayed() const noexcept { return model_.config().latency_us != 0; }
  /// True where jobs take a hundred times as long.
  [[nodiscard]] bool checks_all() const noexcept {
    return model_.config().checking == Checking::Full;
  }

private:
  struct Object {
    runtime::MemoryInfo info;
    runtime::UniqueFd fd;
    runtime::CpuMapping mapping;
    std::uint64_t address = 0; ///< of its first byte, as the device counts
    std::uint32_t users = 0;
    std::uint64_t last_use = 0;
  };
  using Reason = runtime::protocol::RefusalReason;

  /// Finds or maps the object, and counts the user.
  [[nodiscard]] std::variant<Object*, Reason> pin(const PortRange& port,
                                                  const runtime::MemoryInfo& info);
  [[nodiscard]] std::variant<Object*, Reason> map(const PortRange& port,
                                                  const runtime::MemoryInfo& info);
  void unpin(Object* object) noexcept;
  [[nodiscard]] bool evict_one() noexcept;

  DeviceModel model_;
  std::mutex mutex_; ///< objects_ and uses_
  std::list<Object> objects_;
  std::uint64_t uses_ = 0;
};

} // namespace simaai::model
