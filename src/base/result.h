#pragma once
// Errors as values: Code, Error, Result, TRY and ASSIGN.

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace gpuop {

/// What went wrong, as far as a program may decide on it. The text is for people.
enum class Code {
  kInternal,  ///< a broken promise of ours
  kInvalid,   ///< the input is wrong; the text names the field, file or device
  kNotFound,
  kAlreadyExists,
  kConflict,         ///< somebody else changed it first; read again
  kUnauthorized,     ///< who are you
  kForbidden,        ///< you may not
  kUnavailable,      ///< not now: again later, with back-off
  kTimeout,          ///< no answer in time; the call may or may not have had its effect
  kCancelled,        ///< a stop_token asked for it
  kGone,             ///< the history asked for was compacted: list again
  kTooLarge,         ///< over a limit of ours or of the peer
  kTooManyRequests,  ///< the peer asks to slow down
  kUnsupported,      ///< valid, and not something this side can do
  kIo,               ///< a file or socket failed; the text carries the system's words
};

/// The code's name as it appears in logs and metrics: "NotFound".
std::string_view CodeName(Code code);

/// What went wrong, for a person (`text`) and for a decision (`code`).
struct Error {
  Code code = Code::kInternal;
  std::string text;

  /// Adds what the caller was doing: "read config: open /etc/x: no such file".
  [[nodiscard]] Error During(std::string_view doing) && {
    text.insert(0, ": ").insert(0, doing);
    return std::move(*this);
  }
  bool operator==(const Error&) const = default;
};

/// A value or an Error. Dropping one is a compile error: hence a class, not an alias.
template <class T = void>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(std::expected<T, Error> r) : std::expected<T, Error>(std::move(r)) {}
};

[[nodiscard]] inline std::unexpected<Error> Fail(Code code, std::string text) {
  return std::unexpected<Error>({code, std::move(text)});
}

}  // namespace gpuop

#define GPUOP_CAT_(a, b) a##b
#define GPUOP_CAT(a, b) GPUOP_CAT_(a, b)
#define GPUOP_ASSIGN_(tmp, lhs, expr)                       \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  lhs = *std::move(tmp)
/// ASSIGN(auto x, F()): x is F's value; on error the caller returns it.
#define ASSIGN(lhs, ...) GPUOP_ASSIGN_(GPUOP_CAT(gpuop_tmp_, __LINE__), lhs, (__VA_ARGS__))
/// TRY(F()): the caller returns F's error, if any.
#define TRY(...) \
  if (auto gpuop_r = (__VA_ARGS__); !gpuop_r) return std::unexpected(std::move(gpuop_r).error())
