#include "data/regex.h"

#include <re2/re2.h>

#include <string>
#include <utility>

namespace gpuop::data {

struct Regex::Program {
  Program(std::string_view pattern, const RE2::Options& options)
      : re(re2::StringPiece(pattern.data(), pattern.size()), options) {}
  RE2 re;
};

namespace {

/// The failure in the words of Go's regexp package, which API servers pass on.
std::string Describe(const RE2& re) {
  static constexpr std::pair<RE2::ErrorCode, std::string_view> kWords[] = {
      {RE2::ErrorBadEscape, "invalid escape sequence"},
      {RE2::ErrorBadCharClass, "invalid character class"},
      {RE2::ErrorBadCharRange, "invalid character class range"},
      {RE2::ErrorMissingBracket, "missing closing ]"},
      {RE2::ErrorMissingParen, "missing closing )"},
      {RE2::ErrorUnexpectedParen, "unexpected )"},
      {RE2::ErrorTrailingBackslash, "trailing backslash at end of expression"},
      {RE2::ErrorRepeatArgument, "missing argument to repetition operator"},
      {RE2::ErrorRepeatSize, "invalid repeat count"},
      {RE2::ErrorRepeatOp, "invalid nested repetition operator"},
      {RE2::ErrorBadPerlOp, "invalid or unsupported Perl syntax"},
      {RE2::ErrorBadUTF8, "invalid UTF-8"},
      {RE2::ErrorBadNamedCapture, "invalid named capture"},
  };
  for (const auto& [code, words] : kWords)
    if (re.error_code() == code)
      return std::string("error parsing regexp: ").append(words).append(": `").append(re.error_arg()).append("`");
  return "error parsing regexp: " + re.error();
}

}  // namespace

Result<Regex> Regex::Compile(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto program = std::make_shared<const Program>(pattern, options);
  if (!program->re.ok()) return Fail(Code::kInvalid, Describe(program->re));
  return Regex(std::move(program));
}

bool Regex::Search(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), program_->re);
}

std::optional<std::string_view> Regex::Find(std::string_view text) const {
  re2::StringPiece found;
  const re2::StringPiece whole(text.data(), text.size());
  if (!program_->re.Match(whole, 0, text.size(), RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return std::string_view(found.data(), found.size());
}

}  // namespace gpuop::data
