// SPDX-License-Identifier: LGPL-2.1-or-later
// The device server: many clients, one device.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include <simaai/runtime/unique_fd.h>

#include "firmware/model/device_model.h"
#include "firmware/model/server/client.h"
#include "runtime/attention.h"
#include "runtime/wakeup.h"

namespace simaai::model {

struct ServerConfig {
  std::string socket_path;
  ModelConfig model;
  std::size_t queue_limit = 8; ///< jobs of one client that may be in flight
};

/// Two threads: run() accepts and reads, the device thread runs one job at a time and takes clients in turn, one job
/// each. A client that goes takes its waiting jobs with it; one that runs ends first, and what it used stays mapped until
/// then.
class Server {
public:
  explicit Server(ServerConfig config) noexcept : config_(std::move(config)) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds the socket. 0, or the errno. A socket file that nobody listens on any more is replaced.
  [[nodiscard]] int listen() noexcept;
  /// Serves until `stop_fd` can be read, then ends after the job that runs. 0, or the errno.
  [[nodiscard]] int run(int stop_fd) noexcept;

private:
  void accept_client() noexcept;
  /// With the lock held: a client that does not take what it is told.
  void drop_if_stuck(const std::shared_ptr<Client>& client) noexcept;
  void serve_client(const std::shared_ptr<Client>& client, short events) noexcept;
  void drop(const std::shared_ptr<Client>& client) noexcept;
  void collect(int stop_fd);
  [[nodiscard]] bool has_work() const noexcept;
  [[nodiscard]] bool is_alone(const std::shared_ptr<Client>& client) const noexcept;
  void run_device() noexcept;
  /// The sockets that can be read; waits for them.
  [[nodiscard]] int await_news() noexcept;
  void run_front(std::unique_lock<std::mutex>& lock,
                 const std::shared_ptr<Client>& client) noexcept;
  [[nodiscard]] std::shared_ptr<Client> next_in_turn() noexcept;

  const ServerConfig config_;
  runtime::UniqueFd listener_;
  runtime::Wakeup wakeup_; ///< the device thread left something to send
  bool bound_ = false;
  bool accepts_ =
      true; ///< of run(): false for a while after the system had no descriptor for a client
  std::size_t most_clients_ = 1;
  bool expecting_ = false; ///< of run(): a brief job was answered, so that the next one is likely
  std::vector<pollfd> watched_;
  std::vector<std::shared_ptr<Client>> polled_; ///< clients of watched_, in order

  std::mutex mutex_; ///< clients_, turn_, ending_ and the queues of the clients
  std::condition_variable work_;
  std::vector<std::shared_ptr<Client>> clients_;
  std::size_t turn_ = 0;
  bool ending_ = false;
  bool busy_ = false; ///< a job runs, on whichever thread
  std::thread device_;
};

} // namespace simaai::model
