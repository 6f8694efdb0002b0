#include <algorithm>

#include "base/text.h"
#include "data/toml_editor.h"

namespace gpuop::data {
namespace {

using Kind = TomlStatement::Kind;
constexpr std::size_t kNone = std::string_view::npos;

bool Begins(const TomlPath& path, const TomlPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

std::string Dotted(const TomlPath& path, std::size_t from = 0) {
  std::string out;
  for (std::size_t i = from; i < path.size(); ++i) out.append(i == from ? "" : ".").append(TomlKey(path[i]));
  return out;
}

std::string Name(const TomlPath& path) { return path.empty() ? "the document" : Dotted(path); }

/// The object's member at a path, its parents made on the way. Null when a parent is no object.
Json* Make(Json& root, const TomlPath& path) {
  Json* at = &root;
  for (const std::string& name : path) {
    if (at->is_null()) at->emplace_object();
    if (!at->is_object()) return nullptr;
    at = &at->get_object()[name];
  }
  return at;
}

bool Drop(Json& root, const TomlPath& path) {
  Json* at = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    JsonObject* object = at->if_object();
    Json* next = object == nullptr ? nullptr : object->if_contains(path[i]);
    if (next == nullptr) return false;
    at = next;
  }
  JsonObject* object = at->if_object();
  return object != nullptr && object->erase(path.back()) > 0;
}

/// Tables that hold nothing mean nothing.
void PruneEmpty(Json& value) {
  JsonObject* object = value.if_object();
  if (object == nullptr) return;
  for (auto it = object->begin(); it != object->end();) {
    PruneEmpty(it->value());
    const JsonObject* inner = it->value().if_object();
    it = inner != nullptr && inner->empty() ? object->erase(it) : it + 1;
  }
}

bool SameMeaning(Json a, Json b) {
  PruneEmpty(a);
  PruneEmpty(b);
  return JsonEqual(a, b);
}

}  // namespace

const Json* FindToml(const Json& root, const TomlPath& path) {
  const Json* at = &root;
  for (const std::string& name : path) {
    const JsonObject* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<TomlEditor> TomlEditor::Open(std::string text) {
  ASSIGN(auto statements, ScanToml(text));
  ASSIGN(Json value, ParseToml(text));
  return TomlEditor(std::move(text), std::move(statements), std::move(value));
}

Result<> TomlEditor::Apply(std::string text, const Json& wanted) {
  auto next = Open(std::move(text));
  if (!next) return Fail(Code::kUnsupported, "the change would not read back: " + next.error().text);
  if (!SameMeaning(next->value_, wanted))
    return Fail(Code::kUnsupported, "the change cannot be made without touching other parts of the file");
  *this = *std::move(next);
  return {};
}

Result<> TomlEditor::Set(const TomlPath& path, const Json& value) {
  const Json* old = FindToml(value_, path);
  if (old != nullptr && JsonEqual(*old, value)) return {};
  for (const TomlStatement& s : statements_)
    if (s.kind == Kind::kArrayHeader && Begins(path, s.path))
      return Fail(Code::kUnsupported, Name(path) + " is inside an array of tables");
  Json wanted = value_;
  Json* place = Make(wanted, path);
  if (place == nullptr) return Fail(Code::kUnsupported, Name(path) + " has a parent that is no table");
  *place = value;
  ASSIGN(std::string text, WithValue(path, value));
  if (auto done = Apply(std::move(text), wanted); !done)
    return std::unexpected(std::move(done).error().During("set " + Name(path)));
  return {};
}

Result<> TomlEditor::Remove(const TomlPath& path) {
  Json wanted = value_;
  if (!Drop(wanted, path)) return {};
  if (auto done = Apply(Without(path), wanted); !done)
    return std::unexpected(std::move(done).error().During("remove " + Name(path)));
  return {};
}

const TomlStatement* TomlEditor::ValueOnTheWay(const TomlPath& path) const {
  for (const TomlStatement& s : statements_)
    if (s.kind == Kind::kValue && Begins(path, s.path)) return &s;
  return nullptr;
}

Result<std::string> TomlEditor::WithValue(const TomlPath& path, const Json& value) const {
  if (const TomlStatement* s = ValueOnTheWay(path)) {
    Json whole = value;
    if (s->path.size() < path.size()) {  // inside an inline table
      whole = *FindToml(value_, s->path);
      *Make(whole, TomlPath(path.begin() + static_cast<std::ptrdiff_t>(s->path.size()), path.end())) = value;
    }
    std::string out = text_;
    return out.replace(s->value_begin, s->value_end - s->value_begin, TomlLiteral(whole));
  }
  if (value.is_object()) {
    if (FindToml(value_, path) == nullptr) return WithTable(path, value.get_object());
    ASSIGN(const TomlEditor cleared, Open(Without(path)));
    return cleared.WithTable(path, value.get_object());
  }
  const TomlPath table(path.begin(), path.end() - 1);
  std::size_t dotted = kNone;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const TomlStatement& s = statements_[i];
    if (s.kind == Kind::kHeader && s.path == table) return WithKeyInSection(i, {path.back()}, value);
    if (s.kind == Kind::kValue && s.section_size < table.size() && s.path.size() > table.size() &&
        Begins(s.path, table))
      dotted = i;
  }
  if (table.empty()) return WithKeyInSection(kNone, path, value);
  if (dotted != kNone) {  // the table stands in dotted keys, which a header may not open again
    const TomlStatement& s = statements_[dotted];
    return WithKeyInSection(s.section, TomlPath(path.begin() + static_cast<std::ptrdiff_t>(s.section_size), path.end()),
                            value);
  }
  return WithTable(table, JsonObject{{path.back(), value}});
}

std::string TomlEditor::WithKeyInSection(std::size_t section, const TomlPath& key, const Json& value) const {
  const TomlStatement* last = nullptr;
  for (const TomlStatement& s : statements_)
    if (s.kind == Kind::kValue && s.section == section) last = &s;
  std::string indent;
  std::size_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  if (last != nullptr) {
    indent = text_.substr(last->begin, last->indent_end - last->begin);
    at = last->end;
  } else if (section != kNone) {
    const TomlStatement& header = statements_[section];
    indent = text_.substr(header.begin, header.indent_end - header.begin) + "  ";
    at = header.end;
  }
  return Inserted(at, indent + Dotted(key) + " = " + TomlLiteral(value) + "\n");
}

std::string TomlEditor::WithTable(const TomlPath& path, const JsonObject& table) const {
  // Behind the table's nearest relatives, or else at the end.
  const TomlStatement* neighbour = nullptr;
  for (std::size_t common = path.size(); common-- > 1 && neighbour == nullptr;) {
    const TomlPath family(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(common));
    for (const TomlStatement& s : statements_)
      if (Begins(s.path, family)) neighbour = &s;
  }
  if (neighbour != nullptr && neighbour->kind == Kind::kValue)
    neighbour = neighbour->section == kNone ? nullptr : &statements_[neighbour->section];
  if (neighbour == nullptr) return Inserted(text_.size(), (text_.empty() ? "" : "\n") + TomlTable(path, table));
  // As deep as a relative of its level would be.
  const std::size_t levels = std::max<std::size_t>(1, neighbour->path.size() - 1);
  const std::string indent((neighbour->indent_end - neighbour->begin) / levels * (path.size() - 1), ' ');
  std::size_t at = neighbour->end;
  for (const TomlStatement& s : statements_)
    if (s.kind == Kind::kValue && s.section != kNone && &statements_[s.section] == neighbour) at = s.end;
  return Inserted(at, "\n" + TomlTable(path, table, indent));
}

std::string TomlEditor::Without(const TomlPath& path) const {
  if (const TomlStatement* s = ValueOnTheWay(path); s != nullptr && s->path.size() < path.size()) {
    Json whole = *FindToml(value_, s->path);
    Drop(whole, TomlPath(path.begin() + static_cast<std::ptrdiff_t>(s->path.size()), path.end()));
    std::string out = text_;
    return out.replace(s->value_begin, s->value_end - s->value_begin, TomlLiteral(whole));
  }
  std::string out;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const TomlStatement& s = statements_[i];
    if (!Begins(s.path, path)) continue;
    std::size_t begin = s.begin;
    // What stands between two lines that go belongs to them; a blank line before a header was made for it.
    if (i > 0 && kept == statements_[i - 1].end && kept > 0 && Begins(statements_[i - 1].path, path)) begin = kept;
    if (s.kind != Kind::kValue && begin == s.begin && begin >= kept + 1 && begin >= 2 && text_[begin - 1] == '\n' &&
        text_[begin - 2] == '\n')
      --begin;
    out.append(text_, kept, begin - kept);
    kept = s.end;
  }
  return out.append(text_, kept);
}

std::string TomlEditor::Inserted(std::size_t at, std::string lines) const {
  const std::size_t first_break = text_.find('\n');
  if (first_break != std::string::npos && first_break > 0 && text_[first_break - 1] == '\r')
    for (std::size_t i = lines.find('\n'); i != std::string::npos; i = lines.find('\n', i + 2)) lines.insert(i, "\r");
  std::string out = text_.substr(0, at);
  if (!out.empty() && out.back() != '\n' && !(at == 3 && out == "\xEF\xBB\xBF")) out += '\n';
  return out + lines + text_.substr(at);
}

}  // namespace gpuop::data
