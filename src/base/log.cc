#include "base/log.h"

#include <unistd.h>

#include "base/text.h"

namespace gpuop {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "DEBUG";
    case LogLevel::kInfo: return "INFO";
    case LogLevel::kWarn: return "WARN";
    case LogLevel::kError: return "ERROR";
  }
  return "?";
}

void AppendValue(std::string& out, std::string_view value) {
  const bool plain = !value.empty() && value.find_first_of(" \"=\\") == std::string_view::npos &&
                     std::string_view::npos == FindControl(value);
  if (plain) {
    out += value;
  } else {
    out += Quote(value);
  }
}

}  // namespace

void StderrLog::Write(LogLevel level, std::string_view message, Fields fields) {
  if (level < least_) return;
  std::string line = FormatTime(clock_.Wall());
  line.append(" ").append(LevelName(level)).append(" ").append(message);
  for (const LogField& f : fields) {
    line.append(" ").append(f.key).append("=");
    AppendValue(line, f.value);
  }
  line += '\n';
  // A log that cannot be written has nobody left to tell.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

void FakeLog::Write(LogLevel level, std::string_view message, Fields fields) {
  std::string line(LevelName(level));
  line.append(" ").append(message);
  for (const LogField& f : fields) {
    line.append(" ").append(f.key).append("=");
    AppendValue(line, f.value);
  }
  Lock l(mu_);
  lines_.push_back(std::move(line));
}

}  // namespace gpuop
