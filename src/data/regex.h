#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace gpuop::data {

/// A regular expression in RE2's syntax, which is Go's. Matching takes time linear in the text. Copies share.
class Regex {
 public:
  /// kInvalid when `pattern` is no expression, or compiles to more than 1 MiB.
  static Result<Regex> Compile(std::string_view pattern);
  /// Whether any part of `text` matches.
  bool Search(std::string_view text) const;
  /// The first part that matches; nullopt when none does.
  std::optional<std::string_view> Find(std::string_view text) const;

 private:
  struct Program;
  explicit Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace gpuop::data
