// SPDX-License-Identifier: LGPL-2.1-or-later
// A value or the reason why there is none, without exceptions and without an allocator.
#pragma once

#include <optional>
#include <utility>

namespace simaai::kernels::matrix {

/// Either a value or an error.
template <class T, class E> class [[nodiscard]] Result {
public:
  constexpr Result(T value) noexcept : value_(std::move(value)) {} // implicit: `return`
  constexpr Result(E error) noexcept : error_(error) {}            // implicit: `return`

  [[nodiscard]] constexpr bool ok() const noexcept { return value_.has_value(); }
  constexpr explicit operator bool() const noexcept { return ok(); }
  /// The value; only where ok().
  [[nodiscard]] constexpr const T& value() const& noexcept { return *value_; }
  [[nodiscard]] constexpr T value() && noexcept { return *std::move(value_); }
  /// The refusal; only where !ok().
  [[nodiscard]] constexpr const E& error() const noexcept { return error_; }

private:
  std::optional<T> value_;
  E error_{};
};

/// Success, or an error. Default-constructed as success.
template <class E> class [[nodiscard]] Result<void, E> {
public:
  constexpr Result() noexcept = default;
  constexpr Result(E error) noexcept : error_(error), ok_(false) {} // implicit: `return error;`

  [[nodiscard]] constexpr bool ok() const noexcept { return ok_; }
  constexpr explicit operator bool() const noexcept { return ok_; }
  /// The refusal; only where !ok().
  [[nodiscard]] constexpr const E& error() const noexcept { return error_; }

private:
  E error_{};
  bool ok_ = true;
};

} // namespace simaai::kernels::matrix
