// SPDX-License-Identifier: LGPL-2.1-or-later
// Accepting, reading, running in turn.
#include "firmware/model/server/server.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace simaai::model {
namespace {

using runtime::UniqueFd;

constexpr std::size_t kFixedWatched = 3; ///< stop, wakeup, listener

constexpr std::size_t kMaxClients = 64;
/// What a client can cost: its socket, and an object for each mapping.
constexpr std::size_t kClientDescriptors = 1 + ClientSpace::kMaxObjects;
/// Of the server itself, of messages, of a client that was dropped while its job runs.
constexpr std::size_t kOtherDescriptors = 64;
/// How long nobody is accepted after a descriptor was missing for it.
constexpr int kPauseMs = 100;

/// As many clients as there are descriptors for, so that none can take those of another. Asks for enough first.
std::size_t clients_with_descriptors() noexcept {
  constexpr rlim_t kWanted = kMaxClients * kClientDescriptors + kOtherDescriptors;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return kMaxClients;
  const rlimit more{std::min(std::max(limit.rlim_cur, kWanted), limit.rlim_max), limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &more) == 0)
    limit = more;
  const rlim_t left = limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, kOtherDescriptors);
  return std::clamp<std::size_t>(left / kClientDescriptors, 1, kMaxClients);
}

/// True where somebody answers on the socket.
bool is_alive(const sockaddr_un& address) noexcept {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe && (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address),
                             sizeof(address)) == 0 ||
                   errno != ECONNREFUSED);
}

} // namespace

Server::~Server() {
  if (bound_)
    (void)::unlink(config_.socket_path.c_str());
}

int Server::listen() noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (config_.socket_path.empty() || config_.socket_path.size() >= sizeof(address.sun_path))
    return config_.socket_path.empty() ? EINVAL : ENAMETOOLONG;
  std::memcpy(address.sun_path, config_.socket_path.data(), config_.socket_path.size());
  listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_ || !wakeup_.open())
    return errno;
  const auto bind_it = [&] {
    return ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  };
  if (bind_it() != 0) {
    if (errno != EADDRINUSE || is_alive(address))
      return EADDRINUSE;
    if (::unlink(config_.socket_path.c_str()) != 0 || bind_it() != 0)
      return errno;
  }
  bound_ = true;
  return ::listen(listener_.get(), SOMAXCONN) == 0 ? 0 : errno;
}

void Server::accept_client() noexcept {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    accepts_ = errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    return;
  }
  const std::lock_guard lock(mutex_);
  if (clients_.size() >= most_clients_)
    return;
  auto client = std::make_shared<Client>(std::move(socket), config_.model, config_.queue_limit);
  if (client->greet())
    clients_.push_back(std::move(client));
}

/// With the lock held. Jobs that wait are dropped; one that runs keeps the client alive.
void Server::drop(const std::shared_ptr<Client>& client) noexcept {
  client->queue.clear();
  (void)::shutdown(client->socket(), SHUT_RDWR);
  std::erase(clients_, client);
}

void Server::drop_if_stuck(const std::shared_ptr<Client>& client) noexcept {
  if (client->stuck())
    drop(client);
}

/// With the lock held.
bool Server::has_work() const noexcept {
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const auto& client) { return !client->queue.empty(); });
}

/// With the lock held: no other client has a job.
bool Server::is_alone(const std::shared_ptr<Client>& client) const noexcept {
  return std::all_of(clients_.begin(), clients_.end(), [&client](const auto& other) {
    return other == client || other->queue.empty();
  });
}

void Server::serve_client(const std::shared_ptr<Client>& client, short events) noexcept {
  // One message a turn: a client that sends without end does not keep others waiting.
  std::unique_lock lock(mutex_);
  if ((events & POLLOUT) != 0)
    client->flush();
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0)
    return;
  switch (client->receive()) {
  case Received::Nothing:
    break;
  case Received::Queued:
    // A brief job that finds the device idle costs no change of threads.
    if (!busy_ && client->queue.size() == 1 && client->queue.front().is_brief() &&
        is_alone(client)) {
      run_front(lock, client);
      expecting_ = runtime::may_look_out(client->processor());
      drop_if_stuck(client);
    }
    // Waking the device's thread for nothing would cost more than such a job.
    if (!busy_ && has_work())
      work_.notify_one();
    break;
  case Received::Refused:
    drop_if_stuck(client);
    break;
  case Received::Gone:
    drop(client);
    break;
  }
}

void Server::collect(int stop_fd) {
  const short accepting = accepts_ ? POLLIN : 0;
  watched_.assign({{stop_fd, POLLIN, 0}, wakeup_.watched(), {listener_.get(), accepting, 0}});
  polled_.clear();
  const std::lock_guard lock(mutex_);
  for (const auto& client : clients_) {
    const int events = client->has_unsent() ? POLLIN | POLLOUT : POLLIN;
    watched_.push_back({client->socket(), static_cast<short>(events), 0});
    polled_.push_back(client);
  }
}

int Server::await_news() noexcept {
  if (std::exchange(expecting_, false))
    if (const int ready = runtime::look_out(watched_, runtime::kAttention); ready != 0)
      return ready;
  // A client that cannot be accepted would be news without end.
  return ::poll(watched_.data(), watched_.size(), std::exchange(accepts_, true) ? -1 : kPauseMs);
}

int Server::run(int stop_fd) noexcept {
  most_clients_ = clients_with_descriptors();
  device_ = std::thread([this] { run_device(); });
  int failed = 0;
  while (true) {
    collect(stop_fd);
    if (await_news() < 0) {
      if (errno == EINTR)
        continue;
      failed = errno;
      break;
    }
    if (watched_[0].revents != 0)
      break;
    wakeup_.acknowledge(watched_[1]);
    if (watched_[2].revents != 0)
      accept_client();
    for (std::size_t i = 0; i < polled_.size(); ++i)
      if (watched_[kFixedWatched + i].revents != 0)
        serve_client(polled_[i], watched_[kFixedWatched + i].revents);
  }
  polled_.clear();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  device_.join();
  return failed;
}

/// With the lock held: the first client with a job, counted from the one after the last that was served.
std::shared_ptr<Client> Server::next_in_turn() noexcept {
  for (std::size_t step = 0; step < clients_.size(); ++step) {
    const std::size_t index = (turn_ + step) % clients_.size();
    if (clients_[index]->queue.empty())
      continue;
    turn_ = index + 1;
    return clients_[index];
  }
  return nullptr;
}

/// Runs the oldest job of a client; the lock is held before and after.
void Server::run_front(std::unique_lock<std::mutex>& lock,
                       const std::shared_ptr<Client>& client) noexcept {
  const ClientSpace::Job job = std::move(client->queue.front());
  client->queue.pop_front();
  client->running = true;
  busy_ = true;
  lock.unlock();
  const runtime::Completion completion = client->space().run(job);
  lock.lock();
  busy_ = false;
  client->running = false;
  client->complete(completion);
}

void Server::run_device() noexcept {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    std::shared_ptr<Client> client = busy_ ? nullptr : next_in_turn();
    if (!client) {
      work_.wait(lock);
      continue;
    }
    run_front(lock, client);
    if (client->has_unsent())
      wakeup_.ring();
    drop_if_stuck(client);
    // The last reference to a client that went while it was served: its memory goes without the lock.
    lock.unlock();
    client.reset();
    lock.lock();
  }
}

} // namespace simaai::model
