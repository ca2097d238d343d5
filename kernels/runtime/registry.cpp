// SPDX-License-Identifier: LGPL-2.1-or-later
// Transports by scheme, sessions by URI.
#include "runtime/registry.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/char_transport.h"
#include "runtime/common.h"
#include "runtime/unix_transport.h"

namespace simaai::runtime {
namespace detail {
namespace {

struct Scheme {
  std::string_view name;
  TransportFactory factory;
};

/// mutex protects both lists.
struct Registry {
  std::mutex mutex;
  std::vector<Scheme> schemes{{"dev", open_char_transport}, {"unix", open_unix_transport}};
  std::vector<std::weak_ptr<Session>> sessions;
};

/// Never destroyed: threads that wait for parked jobs may outlive main().
Registry& registry() {
  static auto* const made = new Registry; // NOLINT(cppcoreguidelines-owning-memory)
  return *made;
}

TransportFactory factory_of(std::string_view scheme) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = std::find_if(all.schemes.begin(), all.schemes.end(),
                                  [&](const Scheme& one) { return one.name == scheme; });
  return found == all.schemes.end() ? nullptr : found->factory;
}

/// With the registry's lock held.
std::shared_ptr<Session> live_session(Registry& all, std::string_view uri) {
  std::erase_if(all.sessions, [](const auto& session) { return session.expired(); });
  for (const auto& weak : all.sessions)
    if (auto session = weak.lock(); session && session->uri() == uri && !session->lost())
      return session;
  return nullptr;
}

std::vector<std::shared_ptr<Session>> sessions_of(std::string_view uri) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::shared_ptr<Session>> found;
  for (const auto& weak : all.sessions)
    if (auto session = weak.lock(); session && session->uri() == uri)
      found.push_back(std::move(session));
  return found;
}

} // namespace

std::variant<std::shared_ptr<Session>, Error> open_session(std::string_view uri) {
  Registry& all = registry();
  while (true) {
    std::shared_ptr<Session> session;
    {
      const std::lock_guard lock(all.mutex);
      session = live_session(all, uri);
    }
    if (!session)
      break;
    // Nobody may have looked since its device went.
    session->deliver();
    if (!session->lost())
      return session;
  }
  const std::size_t colon = uri.find(':');
  const TransportFactory factory =
      colon == std::string_view::npos ? nullptr : factory_of(uri.substr(0, colon));
  if (factory == nullptr)
    return make_error(ErrorCode::UnknownScheme);
  TransportResult opened = factory(uri.substr(colon + 1));
  if (auto* error = std::get_if<Error>(&opened)) {
    if (error->code == ErrorCode::BadDeviceOption)
      error->found += static_cast<std::int64_t>(colon) + 1;
    return *error;
  }
  auto made = std::make_shared<Session>(
      std::string(uri), std::move(*std::get_if<std::unique_ptr<Transport>>(&opened)));
  std::shared_ptr<Session> kept;
  {
    const std::lock_guard lock(all.mutex);
    kept = live_session(all, uri);
    if (!kept) {
      all.sessions.push_back(made);
      kept = std::move(made);
    }
  }
  return kept;
}

std::size_t count_jobs(std::string_view uri, std::size_t (Session::*of)() const noexcept) noexcept {
  std::size_t count = 0;
  for (const auto& session : sessions_of(uri)) {
    if (session->parked() > 0)
      session->deliver();
    count += (session.get()->*of)();
  }
  return count;
}

} // namespace detail

void register_transport(std::string_view scheme, TransportFactory factory) noexcept {
  detail::Registry& all = detail::registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.schemes, [&](const detail::Scheme& one) { return one.name == scheme; });
  all.schemes.push_back({scheme, factory});
}

} // namespace simaai::runtime
