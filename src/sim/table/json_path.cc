#include "sim/table/json_path.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {

namespace json = boost::json;

struct JsonPath::Step {
  enum class Kind : std::uint8_t { kField, kRange, kEach, kDeep, kFilter };
  /// One side of a filter: a literal, or a path from the element (@).
  struct Operand {
    json::value literal;
    std::shared_ptr<const std::vector<Step>> path;
  };

  Kind kind = Kind::kField;
  std::string field;
  /// kRange: elements from `first` up to `last` (not included); negative ones count from the end.
  std::int64_t first = 0;
  std::optional<std::int64_t> last;
  Operand left, right;
  std::string op;  // empty: the left side only has to exist
};

namespace {

using Step = JsonPath::Step;
using Steps = std::vector<Step>;
using Values = std::vector<const json::value*>;

bool IsName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '/'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Steps> All() {
    ASSIGN(Steps steps, Path());
    if (at_ != text_.size()) return Bad("unexpected " + Quote(text_.substr(at_)));
    return steps;
  }

 private:
  std::unexpected<Error> Bad(std::string what) const {
    return Fail(Code::kInvalid, what + " in JSON path " + Quote(text_));
  }
  bool Eat(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void Blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  Result<Steps> Path() {
    Steps steps;
    while (at_ < text_.size()) {
      if (Eat("..")) {
        steps.push_back({.kind = Step::Kind::kDeep, .field = {}, .last = {}, .left = {}, .right = {}, .op = {}});
        if (at_ < text_.size() && text_[at_] != '[') TRY(Name(steps));
      } else if (Eat(".")) {
        if (at_ < text_.size() && text_[at_] != '[') TRY(Name(steps));
      } else if (Eat("[")) {
        TRY(Bracket(steps));
      } else {
        break;
      }
    }
    return steps;
  }

  Result<> Name(Steps& steps) {
    Step step;
    if (Eat("*")) {
      step.kind = Step::Kind::kEach;
    } else {
      for (; at_ < text_.size(); ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size())
          step.field += text_[++at_];
        else if (IsName(text_[at_]))
          step.field += text_[at_];
        else
          break;
      }
      if (step.field.empty()) return Bad("a name is missing");
    }
    steps.push_back(std::move(step));
    return {};
  }

  Result<> Bracket(Steps& steps) {
    if (Eat("?(")) return Filter(steps);
    Step step;
    if (Eat("*]")) {
      step.kind = Step::Kind::kEach;
      steps.push_back(std::move(step));
      return {};
    }
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      ASSIGN(step.field, QuotedText());
    } else {
      step.kind = Step::Kind::kRange;
      const auto first = Number();
      if (first) step.first = *first;
      if (Eat(":"))
        step.last = Number();
      else if (first && *first != -1)
        step.last = *first + 1;
      else if (!first)
        return Bad("an index is missing");
    }
    if (!Eat("]")) return Bad("unterminated array");
    steps.push_back(std::move(step));
    return {};
  }

  Result<std::string> QuotedText() {
    const char quote = text_[at_++];
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (at_ == text_.size()) return Bad("unterminated quoted string");
    ++at_;
    return out;
  }

  std::optional<std::int64_t> Number() {
    std::int64_t n = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), n);
    if (error != std::errc() || end == begin) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return n;
  }

  Result<> Filter(Steps& steps) {
    if (++depth_ > 16) return Bad("filters are nested too deep");
    Step step;
    step.kind = Step::Kind::kFilter;
    ASSIGN(step.left, Side());
    Blanks();
    for (std::string_view op : {"==", "!=", "<=", ">=", "<", ">"})
      if (Eat(op)) {
        step.op = op;
        break;
      }
    if (!step.op.empty()) {
      Blanks();
      ASSIGN(step.right, Side());
    }
    Blanks();
    if (!Eat(")]")) return Bad("unterminated filter");
    --depth_;
    steps.push_back(std::move(step));
    return {};
  }

  Result<Step::Operand> Side() {
    Blanks();
    Step::Operand out;
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      ASSIGN(out.literal, QuotedText());
    } else if (Eat("@")) {
      ASSIGN(Steps path, Path());
      out.path = std::make_shared<const Steps>(std::move(path));
    } else if (Eat("true")) {
      out.literal = true;
    } else if (Eat("false")) {
      out.literal = false;
    } else if (double number = 0; true) {
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
      if (error != std::errc()) return Bad("a filter's operand is missing");
      at_ += static_cast<std::size_t>(end - begin);
      out.literal = number;
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Values Walk(const Steps& steps, const json::value& root);

std::optional<json::value> Evaluate(const Step::Operand& side, const json::value& element) {
  if (side.path == nullptr) return side.literal;
  const Values found = Walk(*side.path, element);
  return found.empty() ? std::nullopt : std::optional(*found.front());
}

std::optional<std::partial_ordering> Compare(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) return a.to_number<double>() <=> b.to_number<double>();
  if (a.is_string() && b.is_string()) return AsString(a) <=> AsString(b);
  if (a == b) return std::partial_ordering::equivalent;
  return std::nullopt;
}

bool Passes(const Step& filter, const json::value& element) {
  const auto left = Evaluate(filter.left, element);
  if (!left) return false;
  if (filter.op.empty()) return true;
  const auto right = Evaluate(filter.right, element);
  if (!right) return false;
  const auto order = Compare(*left, *right);
  if (filter.op == "==") return order && *order == 0;
  if (filter.op == "!=") return !order || *order != 0;
  if (!order) return false;
  if (filter.op == "<") return *order < 0;
  if (filter.op == "<=") return *order <= 0;
  return filter.op == ">" ? *order > 0 : *order >= 0;
}

void Children(const json::value& v, Values& out) {
  for (const json::value& e : AsArray(&v)) out.push_back(&e);
  for (const auto& member : AsObject(&v)) out.push_back(&member.value());
}

void Descend(const json::value& v, Values& out) {
  out.push_back(&v);
  Values children;
  Children(v, children);
  for (const json::value* c : children)
    if (c->is_structured()) Descend(*c, out);
}

void Range(const Step& step, const json::array& list, Values& out) {
  const auto size = static_cast<std::int64_t>(list.size());
  const auto from_end = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  const std::int64_t first = std::max<std::int64_t>(from_end(step.first), 0);
  const std::int64_t last = std::min(step.last ? from_end(*step.last) : size, size);
  for (std::int64_t i = first; i < last; ++i) out.push_back(&list[static_cast<std::size_t>(i)]);
}

void Apply(const Step& step, const json::value& v, Values& out) {
  switch (step.kind) {
    case Step::Kind::kField:
      if (const json::value* next = AsObject(&v).if_contains(step.field)) out.push_back(next);
      break;
    case Step::Kind::kRange: Range(step, AsArray(&v), out); break;
    case Step::Kind::kEach: Children(v, out); break;
    case Step::Kind::kDeep: Descend(v, out); break;
    case Step::Kind::kFilter:
      for (const json::value& e : AsArray(&v))
        if (Passes(step, e)) out.push_back(&e);
      break;
  }
}

Values Walk(const Steps& steps, const json::value& root) {
  Values at = {&root};
  for (const Step& step : steps) {
    Values next;
    for (const json::value* v : at) Apply(step, *v, next);
    at = std::move(next);
  }
  return at;
}

}  // namespace

Result<JsonPath> JsonPath::Parse(std::string_view path) {
  ASSIGN(Steps steps, Parser(path).All());
  return JsonPath(std::make_shared<const Steps>(std::move(steps)));
}

Values JsonPath::Find(const json::value& root) const { return Walk(*steps_, root); }

}  // namespace gpuop::sim
