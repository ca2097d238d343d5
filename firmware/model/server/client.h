// SPDX-License-Identifier: LGPL-2.1-or-later
// One connection of the device server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include <simaai/runtime/transport.h>
#include <simaai/runtime/unique_fd.h>

#include "firmware/model/transport/client_space.h"
#include "runtime/attention.h"

namespace simaai::model {

/// What reading from a client came to.
enum class Received : std::uint8_t {
  Nothing, ///< no message is waiting
  Queued,  ///< a job was added to the queue
  Refused, ///< a job was answered without running it
  Gone,    ///< the client closed, or sent what is no message: drop it
};

/// Queue, address space and socket of a client. The server's lock protects every member but the space.
class Client {
public:
  Client(runtime::UniqueFd socket, const ModelConfig& config, std::size_t queue_limit) noexcept
      : socket_(std::move(socket)), space_(config), queue_limit_(queue_limit) {}

  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  [[nodiscard]] ClientSpace& space() noexcept { return space_; }

  /// The first message. False where the client does not take it.
  [[nodiscard]] bool greet() noexcept;
  /// Reads one message.
  [[nodiscard]] Received receive() noexcept;
  /// Sends a completion, or keeps it until flush() where the client does not read.
  void complete(const runtime::Completion& completion) noexcept;
  /// Sends what was kept.
  void flush() noexcept;
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
  /// That it was last seen on.
  [[nodiscard]] std::uint32_t processor() const noexcept { return processor_; }
  /// A client that asks and asks but takes no answer.
  [[nodiscard]] bool stuck() const noexcept { return unsent_.size() > 2 * queue_limit_; }

private:
  [[nodiscard]] bool send(const runtime::Completion& completion) noexcept;
  [[nodiscard]] Received refuse(runtime::JobId job, runtime::JobOutcome outcome,
                                std::uint32_t detail) noexcept;

  runtime::UniqueFd socket_;
  ClientSpace space_;
  std::size_t queue_limit_;
  std::deque<runtime::Completion> unsent_;
  std::uint32_t processor_ = runtime::kNoProcessor;

public:
  // After the space, which jobs must not outlive.
  std::deque<ClientSpace::Job> queue; ///< waiting for the device
  bool running = false;               ///< one of its jobs is on the device
};

} // namespace simaai::model
