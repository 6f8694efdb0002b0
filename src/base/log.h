#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace gpuop {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

/// One `key=value` of a log line.
struct LogField {
  std::string_view key;
  std::string value;
};

/// Where log lines go. A message is a constant phrase; what varies goes into fields. Thread-safe.
/// Secrets (tokens, keys, certificates) are never passed here.
class Log {
 public:
  virtual ~Log() = default;

  void Debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kDebug, message, {fields.begin(), fields.size()});
  }
  void Info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kInfo, message, {fields.begin(), fields.size()});
  }
  void Warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kWarn, message, {fields.begin(), fields.size()});
  }
  void Error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kError, message, {fields.begin(), fields.size()});
  }

 protected:
  struct Fields {
    const LogField* first;
    std::size_t count;
    const LogField* begin() const { return first; }
    const LogField* end() const { return first + count; }
  };
  virtual void Write(LogLevel level, std::string_view message, Fields fields) = 0;
};

/// Lines on standard error, one write(2) each: `2026-01-01T00:00:00Z INFO node labelled node=n1`.
/// Values are quoted when they hold blanks, quotes or control characters.
class StderrLog final : public Log {
 public:
  explicit StderrLog(const Clock& clock, LogLevel least = LogLevel::kInfo) : clock_(clock), least_(least) {}

 protected:
  void Write(LogLevel level, std::string_view message, Fields fields) override;

 private:
  const Clock& clock_;
  const LogLevel least_;
};

/// Keeps lines in memory for a test: "INFO node labelled node=n1".
class FakeLog final : public Log {
 public:
  std::vector<std::string> Lines() const {
    Lock l(mu_);
    return lines_;
  }

 protected:
  void Write(LogLevel level, std::string_view message, Fields fields) override;

 private:
  mutable Mutex mu_;
  std::vector<std::string> lines_ GUARDED_BY(mu_);
};

}  // namespace gpuop
