#include "sim/node/log_reader.h"

#include <vector>

#include "base/text.h"
#include "sim/node/engine/log_file.h"

namespace gpuop::sim::node {

bool LogReader::Wanted(std::string_view time, std::string_view stream) const {
  if (!choice_.stream.empty() && choice_.stream != "All" && ToLower(choice_.stream) != stream) return false;
  // Both are UTC in one format, so their texts compare as the times do; a second's beginning is what `since` says.
  return !choice_.since || time.substr(0, 19) >= std::string_view(FormatTime(*choice_.since)).substr(0, 19);
}

std::string LogReader::Read(std::string_view text, bool first) {
  rest_.append(text);
  std::vector<std::string> lines;  // with their ends, parts of one line together
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    LogRecord r;
    if (!ParseLogRecord(std::string_view(rest_).substr(begin, end - begin), r) || !Wanted(r.time, r.stream)) continue;
    std::string line;
    if (choice_.timestamps && !in_line_) line.append(r.time).append(" ");
    line.append(r.text);
    if (!r.partial) line += '\n';
    if (in_line_ && !lines.empty())
      lines.back() += line;
    else
      lines.push_back(std::move(line));
    in_line_ = r.partial;
  }
  rest_.erase(0, begin);
  std::size_t from = 0;
  if (first && choice_.tail_lines && std::ssize(lines) > *choice_.tail_lines)
    from = lines.size() - static_cast<std::size_t>(std::max<std::int64_t>(*choice_.tail_lines, 0));
  std::string out;
  for (; from < lines.size(); ++from) out += lines[from];
  if (choice_.limit_bytes) {
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(*choice_.limit_bytes - given_, 0));
    if (out.size() > room) out.resize(room);
  }
  given_ += std::ssize(out);
  return out;
}

}  // namespace gpuop::sim::node
