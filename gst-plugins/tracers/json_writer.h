// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes JSON text, two spaces a level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simaai::latency {

/// Objects and arrays are opened and closed by the caller, in order.
class JsonWriter {
public:
  void open(char bracket) {
    separate();
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void open(std::string_view key, char bracket) {
    name(key);
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_)
      new_line();
    text_ += bracket;
    first_ = false;
  }

  void value(std::string_view key, std::string_view text) {
    name(key);
    text_ += quoted(text);
  }
  void value(std::string_view key, const char* text) { value(key, std::string_view(text)); }
  void value(std::string_view key, const std::string& text) { value(key, std::string_view(text)); }
  void value(std::string_view key, std::uint64_t number) {
    name(key);
    text_ += std::to_string(number);
  }
  void value(std::string_view key, bool yes) {
    name(key);
    text_ += yes ? "true" : "false";
  }
  void value(std::string_view key, const std::optional<std::uint64_t>& number) {
    name(key);
    text_ += number ? std::to_string(*number) : "null";
  }
  void null(std::string_view key) {
    name(key);
    text_ += "null";
  }
  /// A number or other text that is JSON already.
  void raw(std::string_view key, std::string_view json) {
    name(key);
    text_ += json;
  }
  void raw_item(std::string_view json) {
    separate();
    text_ += json;
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// The text in double quotes, as JSON wants it.
  [[nodiscard]] static std::string quoted(std::string_view text);

private:
  void new_line() {
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }
  void separate() {
    if (!first_)
      text_ += ',';
    if (depth_ != 0)
      new_line();
    first_ = false;
  }
  void name(std::string_view key) {
    separate();
    text_ += quoted(key) + ": ";
  }

  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

} // namespace simaai::latency
