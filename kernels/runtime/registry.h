// SPDX-License-Identifier: LGPL-2.1-or-later
// What this process knows of: transports by scheme, sessions by URI.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <variant>

#include "runtime/session.h"

namespace simaai::runtime::detail {

/// The live session of the URI, or a new one. Opening happens without the registry's lock, so that one slow device holds
/// up nobody else; where two threads opened at once, the first session is kept.
[[nodiscard]] std::variant<std::shared_ptr<Session>, Error> open_session(std::string_view uri);

/// Jobs over all sessions of the URI, counted by `of`, after a look for completions.
[[nodiscard]] std::size_t count_jobs(std::string_view uri,
                                     std::size_t (Session::*of)() const noexcept) noexcept;

} // namespace simaai::runtime::detail
