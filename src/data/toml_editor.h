#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "data/toml.h"
#include "data/toml/scan.h"

namespace gpuop::data {

/// A TOML document that is changed where it must be and nowhere else: comments, order, blanks and every value that is
/// not named keep their bytes. After each change the document is read again and must mean what was asked; if it cannot
/// be made to, it is as before and the answer is kUnsupported.
class TomlEditor {
 public:
  /// kInvalid and kTooLarge as ParseToml. `text` may be empty.
  static Result<TomlEditor> Open(std::string text);

  const std::string& text() const { return text_; }
  /// What the document means.
  const Json& value() const { return value_; }

  /// Makes the value at `path` be `value`. A table (object) that is there is replaced as a whole; a new one gets
  /// headers behind its siblings. Nothing is touched when the meaning is the same. kUnsupported inside arrays of
  /// tables.
  Result<> Set(const TomlPath& path, const Json& value);
  /// Removes the value or table at `path` with everything in it; not an error when there is none. Comments inside a
  /// removed table go with it.
  Result<> Remove(const TomlPath& path);

 private:
  TomlEditor(std::string text, std::vector<TomlStatement> statements, Json value)
      : text_(std::move(text)), statements_(std::move(statements)), value_(std::move(value)) {}

  Result<> Apply(std::string text, const Json& wanted);
  Result<std::string> WithValue(const TomlPath& path, const Json& value) const;
  std::string WithTable(const TomlPath& path, const JsonObject& table) const;
  std::string Without(const TomlPath& path) const;
  std::string WithKeyInSection(std::size_t section, const TomlPath& key, const Json& value) const;
  std::string Inserted(std::size_t at, std::string lines) const;
  const TomlStatement* ValueOnTheWay(const TomlPath& path) const;

  std::string text_;
  std::vector<TomlStatement> statements_;
  Json value_;
};

/// The value at a path; null when it, or anything on the way, is absent.
const Json* FindToml(const Json& root, const TomlPath& path);

}  // namespace gpuop::data
