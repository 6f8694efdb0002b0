#include "data/json_editor.h"

#include <optional>

#include "base/text.h"

namespace gpuop::data {
namespace {

/// Bytes of one member: from its key to the end of its value.
struct Span {
  std::size_t key = 0, value = 0, end = 0;
};

/// Walks a text that is known to be JSON.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t SkipSpace(std::size_t at) const {
    while (at < text_.size() && std::string_view(" \t\r\n").contains(text_[at])) ++at;
    return at;
  }
  std::size_t SkipString(std::size_t at) const {
    for (++at; at < text_.size() && text_[at] != '"'; ++at)
      if (text_[at] == '\\') ++at;
    return at + 1;
  }
  std::size_t SkipValue(std::size_t at) const {
    int depth = 0;
    do {
      const char c = text_[at];
      if (c == '"') {
        at = SkipString(at);
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (depth == 0) return at;
        --depth;
      }
      if (depth == 0 && (c == ',' || std::string_view(" \t\r\n").contains(c))) return at;
      ++at;
    } while (at < text_.size() && (depth > 0 || !std::string_view(",]} \t\r\n").contains(text_[at])));
    return at;
  }
  /// The members of the object at `open`, and where its closing brace is.
  std::vector<Span> Members(std::size_t open, std::size_t& close) const {
    std::vector<Span> out;
    for (std::size_t at = SkipSpace(open + 1);; at = SkipSpace(at)) {
      if (text_[at] == '}') {
        close = at;
        return out;
      }
      if (text_[at] == ',') at = SkipSpace(at + 1);
      Span span{.key = at, .value = 0, .end = 0};
      at = SkipSpace(SkipString(at)) + 1;  // behind the colon
      span.value = SkipSpace(at);
      span.end = at = SkipValue(span.value);
      out.push_back(span);
    }
  }
  std::string KeyOf(const Span& span) const {
    const auto key = ParseJson(text_.substr(span.key, SkipString(span.key) - span.key));
    return key ? std::string(AsView(key->get_string())) : std::string();
  }

 private:
  const std::string_view text_;
};

/// What a new member is written as: as its siblings are, or four blanks a level.
std::string NewMember(std::string_view text, const std::vector<Span>& members, std::string_view name, const Json& value,
                      std::size_t depth) {
  std::string key;
  AppendJsonString(key, name);
  if (!members.empty()) {
    const std::size_t line = text.rfind('\n', members.back().key);
    const bool own_line = line != std::string_view::npos && Trim(text.substr(line, members.back().key - line)).empty();
    if (!own_line) return ", " + key + ": " + ToJson(value);
    const std::string indent(text.substr(line, members.back().key - line));
    std::string printed = ToPrettyJson(value);
    for (std::size_t i = printed.find('\n'); i != std::string::npos; i = printed.find('\n', i + indent.size()))
      printed.replace(i, 1, indent);
    return "," + indent + key + ": " + printed;
  }
  const std::string indent = "\n" + std::string(4 * depth, ' ');
  std::string printed = ToPrettyJson(value);
  for (std::size_t i = printed.find('\n'); i != std::string::npos; i = printed.find('\n', i + indent.size()))
    printed.replace(i, 1, indent);
  return indent + key + ": " + printed + "\n" + std::string(4 * (depth - 1), ' ');
}

Json Nested(const std::vector<std::string>& path, std::size_t from, const Json& value) {
  Json out = value;
  for (std::size_t i = path.size(); i-- > from;) out = JsonObject{{path[i], std::move(out)}};
  return out;
}

Result<> RequireObject(const std::string& text) {
  ASSIGN(const Json value, ParseJson(text));
  if (!value.is_object()) return Fail(Code::kInvalid, "expected an object, got " + std::string(KindName(value)));
  return {};
}

std::optional<Span> Named(const Walker& walker, const std::vector<Span>& members, const std::string& name) {
  std::optional<Span> found;  // of members written twice the last one counts
  for (const Span& span : members)
    if (walker.KeyOf(span) == name) found = span;
  return found;
}

}  // namespace

Result<std::string> WithJsonMember(const std::string& text, const std::vector<std::string>& path, const Json& value) {
  TRY(RequireObject(text));
  const Walker walker(text);
  std::size_t open = walker.SkipSpace(0);
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::size_t close = 0;
    const std::vector<Span> members = walker.Members(open, close);
    const auto found = Named(walker, members, path[i]);
    std::string out = text;
    if (!found) {
      const std::size_t at = members.empty() ? open + 1 : members.back().end;
      const std::size_t drop = members.empty() ? close - at : 0;
      return out.replace(at, drop, NewMember(text, members, path[i], Nested(path, i + 1, value), i + 1));
    }
    if (i + 1 == path.size()) {
      ASSIGN(const Json old, ParseJson(text.substr(found->value, found->end - found->value)));
      if (JsonEqual(old, value)) return text;
      return out.replace(found->value, found->end - found->value, ToJson(value));
    }
    if (text[found->value] != '{') return Fail(Code::kUnsupported, path[i] + ": expected an object");
    open = found->value;
  }
  return text;
}

Result<std::string> WithoutJsonMember(const std::string& text, const std::vector<std::string>& path) {
  TRY(RequireObject(text));
  const Walker walker(text);
  std::size_t open = walker.SkipSpace(0);
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::size_t close = 0;
    const std::vector<Span> members = walker.Members(open, close);
    const auto found = Named(walker, members, path[i]);
    if (!found) return text;
    if (i + 1 < path.size()) {
      if (text[found->value] != '{') return text;
      open = found->value;
      continue;
    }
    std::size_t at = 0;
    while (members[at].key != found->key) ++at;
    std::string out = text;
    if (at > 0) return out.erase(members[at - 1].end, found->end - members[at - 1].end);
    if (members.size() > 1) return out.erase(found->key, members[1].key - found->key);
    return out.erase(open + 1, close - open - 1);
  }
  return text;
}

}  // namespace gpuop::data
