#include "sim/node/engine/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/text.h"

namespace gpuop::sim::node {
namespace {

std::string Stamp(WallTime now) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const auto nano = std::chrono::duration_cast<std::chrono::nanoseconds>(now - second).count();
  std::string digits = std::to_string(nano);
  std::string out = FormatTime(second);
  out.pop_back();  // its Z
  return out + "." + std::string(9 - digits.size(), '0') + digits + "Z";
}

void MakeParents(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(), 0755);
}

}  // namespace

LogFile::LogFile(const std::string& path) {
  MakeParents(path);
  file_ = os::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640));
}

void LogFile::Write(std::string_view stream, char tag, std::string_view text, WallTime now) {
  std::string line = Stamp(now);
  line.append(" ").append(stream).append(" ");
  line += tag;
  line.append(" ").append(text).append("\n");
  // A full disk loses lines, as it does in life.
  [[maybe_unused]] const ssize_t written = ::write(file_.get(), line.data(), line.size());
}

void LogFile::Take(std::string_view stream, std::string_view bytes, WallTime now) {
  std::string& pending = Pending(stream);
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t take = std::min({end, bytes.size(), kLongestPart - pending.size()});
    pending.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (!bytes.empty() && bytes.front() == '\n') {
      Write(stream, 'F', pending, now);
      pending.clear();
      bytes.remove_prefix(1);
    } else if (pending.size() == kLongestPart) {
      Write(stream, 'P', pending, now);
      pending.clear();
    }
  }
}

void LogFile::Finish(WallTime now) {
  for (const std::string_view stream : {"stdout", "stderr"}) {
    std::string& pending = Pending(stream);
    if (!pending.empty()) Write(stream, 'P', pending, now);
    pending.clear();
  }
}

bool ParseLogRecord(std::string_view line, LogRecord& out) {
  const auto words = [&line]() -> std::string_view {
    const auto parts = Cut(line, ' ');
    if (!parts) return {};
    line = parts->second;
    return parts->first;
  };
  out.time = words();
  out.stream = words();
  const std::string_view tag = words();
  out.partial = tag == "P";
  out.text = line;
  return !out.time.empty() && (tag == "P" || tag == "F");
}

}  // namespace gpuop::sim::node
