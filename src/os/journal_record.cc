#include "os/journal_record.h"

#include <charconv>
#include <cstdio>

#include "base/text.h"

namespace gpuop::os {
namespace {

constexpr std::string_view kMagic = "gpuop-journal 1";

std::string_view StageName(JournalRecord::Stage stage) {
  switch (stage) {
    case JournalRecord::Stage::kWriting: return "writing";
    case JournalRecord::Stage::kActivating: return "activating";
    case JournalRecord::Stage::kCommitted: return "committed";
  }
  return "?";
}

std::string Number(const char* format, std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(value));
  return text;
}

std::string Line(const StatePrint& p) {
  const std::string content = Number("%llu", p.size) + " " + Number("%016llx", p.sum);
  switch (p.kind) {
    case FileState::Kind::kAbsent: return "absent";
    case FileState::Kind::kLink: return "link " + content;
    case FileState::Kind::kFile: break;
  }
  return "file " + Number("%04llo", p.attributes.mode) + " " + std::to_string(p.attributes.uid) + " " +
         std::to_string(p.attributes.gid) + " " + content;
}

template <class T>
std::optional<T> ReadNumber(std::string_view text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What Quote wrote, or nullopt. Only the escapes that Quote writes are known.
std::optional<std::string> Unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case '"': out += '"'; break;
      case '\\': out += '\\'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        const auto code = ReadNumber<std::uint8_t>(text.substr(std::min(i + 1, text.size()), 4), 16);
        if (!code) return std::nullopt;
        out += static_cast<char>(*code);
        i += 4;
        break;
      }
      default: return std::nullopt;
    }
  }
  return Quote(out) == '"' + std::string(text) + '"' ? std::optional(out) : std::nullopt;
}

std::optional<StatePrint> ReadPrint(std::string_view text) {
  const auto words = Split(text, ' ');
  StatePrint p;
  if (words == std::vector<std::string_view>{"absent"}) return p;
  const bool file = words.size() == 6 && words[0] == "file";
  if (!file && (words.size() != 3 || words[0] != "link")) return std::nullopt;
  p.kind = file ? FileState::Kind::kFile : FileState::Kind::kLink;
  const auto size = ReadNumber<std::uint64_t>(words[words.size() - 2], 10);
  const auto sum = ReadNumber<std::uint64_t>(words.back(), 16);
  if (!size || !sum) return std::nullopt;
  p.size = *size;
  p.sum = *sum;
  if (file) {
    const auto mode = ReadNumber<mode_t>(words[1], 8);
    const auto uid = ReadNumber<uid_t>(words[2], 10);
    const auto gid = ReadNumber<gid_t>(words[3], 10);
    if (!mode || !uid || !gid || *mode > 07777) return std::nullopt;
    p.attributes = {*mode, *uid, *gid};
  }
  return Line(p) == text ? std::optional(p) : std::nullopt;
}

std::optional<JournalRecord::Stage> ReadStage(std::string_view text) {
  for (auto stage :
       {JournalRecord::Stage::kWriting, JournalRecord::Stage::kActivating, JournalRecord::Stage::kCommitted})
    if (StageName(stage) == text) return stage;
  return std::nullopt;
}

/// Takes lines off a record one by one.
class RecordReader {
 public:
  explicit RecordReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool Next(std::string_view word) const {
    return rest_.starts_with(word) && rest_.substr(word.size()).starts_with(' ');
  }
  /// What follows `word` on the next line, as `read` understands it.
  template <class Read>
  auto Take(std::string_view word, Read read)
      -> Result<typename std::invoke_result_t<Read, std::string_view>::value_type> {
    ++line_;
    const std::size_t end = rest_.find('\n');
    if (Next(word) && end != std::string_view::npos)
      if (auto value = read(rest_.substr(word.size() + 1, end - word.size() - 1))) {
        rest_.remove_prefix(end + 1);
        return *std::move(value);
      }
    return Fail(Code::kInvalid, "line " + std::to_string(line_) + ": no " + std::string(word) + " that can be read");
  }

 private:
  std::string_view rest_;
  int line_ = 1;
};

}  // namespace

StatePrint PrintOf(const FileState& state) {
  if (state.kind == FileState::Kind::kAbsent) return {};
  StatePrint p{.kind = state.kind, .size = state.bytes.size(), .sum = Hash64(state.bytes)};
  if (state.kind == FileState::Kind::kFile) p.attributes = state.attributes;
  return p;
}

std::string WriteJournalRecord(const JournalRecord& record) {
  std::string text(kMagic);
  text.append("\nname ").append(Quote(record.name));
  text.append("\nstage ").append(StageName(record.stage)).append("\n");
  for (const std::string& folder : record.folders) text.append("folder ").append(Quote(folder)).append("\n");
  for (const auto& item : record.items) {
    text.append("path ").append(Quote(item.path)).append("\n");
    text.append("before ").append(Line(item.before)).append("\n");
    text.append("after ").append(Line(item.after)).append("\n");
  }
  const std::string sum = Number("%016llx", Hash64(text));
  return text.append("sum ").append(sum).append("\n");
}

Result<JournalRecord> ReadJournalRecord(std::string_view text) {
  const std::string first = std::string(kMagic) + "\n";
  const std::size_t sum = text.rfind("\nsum ");
  if (!text.starts_with(first) || sum == std::string_view::npos)
    return Fail(Code::kInvalid, "not a whole journal of version 1");
  const std::string_view body = text.substr(0, sum + 1);
  if (text.substr(sum + 1) != "sum " + Number("%016llx", Hash64(body)) + "\n")
    return Fail(Code::kInvalid, "the journal's checksum is wrong");
  RecordReader in(body.substr(first.size()));
  JournalRecord record;
  ASSIGN(record.name, in.Take("name", Unquote));
  ASSIGN(record.stage, in.Take("stage", ReadStage));
  while (in.Next("folder")) {
    ASSIGN(std::string folder, in.Take("folder", Unquote));
    record.folders.push_back(std::move(folder));
  }
  while (!in.done()) {
    JournalRecord::Item item;
    ASSIGN(item.path, in.Take("path", Unquote));
    ASSIGN(item.before, in.Take("before", ReadPrint));
    ASSIGN(item.after, in.Take("after", ReadPrint));
    record.items.push_back(std::move(item));
  }
  return record;
}

}  // namespace gpuop::os
