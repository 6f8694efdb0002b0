#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"
#include "operands/nfd/rules/template_tree.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::size_t kMaxText = 64U << 10U;
constexpr int kMaxDepth = 64;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsWordStart(char c) { return IsLetter(c) || c == '_'; }
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

std::unexpected<Error> Wrong(std::string text) { return Fail(Code::kInvalid, std::move(text)); }

/// Reads pipelines by recursive descent.
class PipelineParser {
 public:
  explicit PipelineParser(std::string_view text) : text_(text) {}

  Result<TemplatePipeline> Parse() {
    TemplatePipeline out;
    TRY(Variables(out));
    Blanks();
    if (Done()) return Wrong("a value is missing");
    ASSIGN(out.value, Pipeline());
    if (!Done()) return Wrong("unexpected " + Quote(text_.substr(at_)));
    return out;
  }

 private:
  bool Done() const { return at_ >= text_.size(); }
  char Peek() const { return Done() ? '\0' : text_[at_]; }
  void Blanks() {
    while (!Done() && IsBlank(text_[at_])) ++at_;
  }
  bool Take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::string_view Word() {
    const std::size_t from = at_;
    while (!Done() && IsWord(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  /// "$x :=", "$i, $x :=", "$x =" at the beginning, if it is that.
  Result<> Variables(TemplatePipeline& out) {
    Blanks();
    const std::size_t start = at_;
    std::vector<std::string> names;
    while (Peek() == '$' && names.size() < 2) {
      ++at_;
      names.push_back("$" + std::string(Word()));
      Blanks();
      if (names.size() == 1 && Take(",")) {
        Blanks();
        continue;
      }
      const bool declares = Take(":=");
      if (declares || (Peek() == '=' && Take("="))) {
        if (names.back() == "$") return Wrong("$ cannot be set");
        out.variables = std::move(names);
        out.assigns = !declares;
        return {};
      }
      break;
    }
    at_ = start;
    return {};
  }

  Result<TemplateOperand> Pipeline() {
    if (++depth_ > kMaxDepth) return Wrong("nested too deeply");
    TemplateOperand out;
    out.kind = TemplateOperand::Kind::kPipeline;
    do {
      ASSIGN(TemplateOperand command, Command());
      if (!out.children.empty() && command.kind != TemplateOperand::Kind::kFunction)
        return Wrong("what stands behind | must be a function");
      out.children.push_back(std::move(command));
      Blanks();
    } while (Take("|"));
    --depth_;
    return out;
  }

  Result<TemplateOperand> Command() {
    Blanks();
    ASSIGN(TemplateOperand first, Operand());
    for (;;) {
      Blanks();
      if (Done() || Peek() == '|' || Peek() == ')') return first;
      if (first.kind != TemplateOperand::Kind::kFunction || !first.fields.empty())
        return Wrong("only a function takes arguments, not what stands before " + Quote(text_.substr(at_)));
      ASSIGN(TemplateOperand argument, Operand());
      first.children.push_back(std::move(argument));
    }
  }

  Result<TemplateOperand> Operand() {
    TemplateOperand out;
    const char c = Peek();
    if (c == '(') {
      ++at_;
      ASSIGN(out, Pipeline());
      if (!Take(")")) return Wrong("a ) is missing");
    } else if (c == '"' || c == '`') {
      ASSIGN(out, Text());
    } else if (c == '$') {
      ++at_;
      out.kind = TemplateOperand::Kind::kVariable;
      out.name = "$" + std::string(Word());
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      ASSIGN(out, Number());
    } else if (IsWordStart(c)) {
      ASSIGN(out, Named());
    } else if (c != '.') {
      return Wrong("unexpected " + Quote(text_.substr(at_)));
    }
    return Fields(std::move(out));
  }

  Result<TemplateOperand> Fields(TemplateOperand out) {
    const bool bare = out.kind == TemplateOperand::Kind::kDot;
    while (Peek() == '.') {
      ++at_;
      const std::string_view word = Word();
      if (word.empty()) {
        if (bare && out.fields.empty()) return out;
        return Wrong("a field's name is missing behind a point");
      }
      out.fields.emplace_back(word);
    }
    return out;
  }

  Result<TemplateOperand> Named() {
    TemplateOperand out;
    const std::string_view word = Word();
    out.kind = TemplateOperand::Kind::kLiteral;
    if (word == "true" || word == "false") {
      out.literal = word == "true";
    } else if (word != "nil") {
      if (!KnowsTemplateFunction(word)) return Wrong("function " + Quote(word) + " is not known here");
      out.kind = TemplateOperand::Kind::kFunction;
      out.name = word;
    }
    return out;
  }

  Result<TemplateOperand> Number() {
    const std::size_t from = at_++;
    while (!Done() && (IsWord(text_[at_]) || text_[at_] == '.')) ++at_;
    const auto number = ParseInt(text_.substr(from, at_ - from));
    if (!number) return Wrong(Quote(text_.substr(from, at_ - from)) + " is no whole number");
    TemplateOperand out;
    out.kind = TemplateOperand::Kind::kLiteral;
    out.literal = *number;
    return out;
  }

  Result<TemplateOperand> Text() {
    const char quote = text_[at_++];
    std::string value;
    for (;; ++at_) {
      if (Done()) return Wrong("a text does not end");
      char c = text_[at_];
      if (c == quote) break;
      if (c == '\\' && quote == '"') {
        if (++at_ >= text_.size()) return Wrong("a text does not end");
        c = text_[at_];
        static constexpr std::string_view kFrom = "nrt\"\\'", kTo = "\n\r\t\"\\'";
        const std::size_t which = kFrom.find(c);
        if (which == kFrom.npos) return Wrong(std::string("the escape \\") + c + " is not known here");
        c = kTo[which];
      }
      value += c;
    }
    ++at_;
    TemplateOperand out;
    out.kind = TemplateOperand::Kind::kLiteral;
    out.literal = value;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Splits a template into text and actions and nests them.
class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  Result<Template::Node> Parse() {
    Template::Node root;
    std::string end;
    TRY(Body(root.body, end));
    if (!end.empty()) return At(Error{Code::kInvalid, "{{" + end + "}} without a beginning"});
    return root;
  }

 private:
  using Node = Template::Node;

  std::unexpected<Error> At(Error error) const {
    return std::unexpected(std::move(error).During("line " + std::to_string(line_)));
  }

  /// Text and actions up to {{end}} or {{else …}}, whose words `end` gets; "" at the end of the text.
  Result<> Body(std::vector<Node>& out, std::string& end) {
    if (++depth_ > kMaxDepth) return At(Error{Code::kInvalid, "nested too deeply"});
    while (at_ < text_.size()) {
      ASSIGN(const std::string action, NextAction(out));
      if (action.empty()) continue;
      if (action == "end" || action == "else" || action.starts_with("else ")) {
        end = action;
        --depth_;
        return {};
      }
      TRY(Action(action, out));
    }
    end.clear();
    --depth_;
    return {};
  }

  /// The text before the next action goes to `out`; the answer is the action's inside, "" for a comment or none.
  Result<std::string> NextAction(std::vector<Node>& out) {
    const std::size_t open = std::min(text_.find("{{", at_), text_.size());
    std::string_view before = text_.substr(at_, open - at_);
    if (trim_next_)
      while (!before.empty() && IsBlank(before.front())) before.remove_prefix(1);
    trim_next_ = false;
    const bool trims = text_.substr(open).starts_with("{{-") && open + 3 < text_.size() && IsBlank(text_[open + 3]);
    if (trims)
      while (!before.empty() && IsBlank(before.back())) before.remove_suffix(1);
    Node text;
    text.kind = Node::Kind::kText;
    text.text = before;
    if (!before.empty()) out.push_back(std::move(text));
    line_ += static_cast<std::size_t>(std::ranges::count(text_.substr(at_, open - at_), '\n'));
    at_ = open;
    if (open == text_.size()) return std::string();
    const std::size_t from = open + (trims ? 3 : 2);
    const std::size_t close = Close(from);
    if (close == text_.npos) return At(Error{Code::kInvalid, "an action does not end"});
    std::string_view inside = text_.substr(from, close - from);
    if (inside.size() > 1 && inside.ends_with('-') && IsBlank(inside[inside.size() - 2])) {
      trim_next_ = true;
      inside.remove_suffix(1);
    }
    at_ = close + 2;
    inside = Trim(inside);
    if (inside.starts_with("/*") && inside.ends_with("*/")) return std::string();
    if (inside.empty()) return At(Error{Code::kInvalid, "an action is empty"});
    return std::string(inside);
  }

  /// Where the action that began before `from` ends; texts in it may hold }}.
  std::size_t Close(std::size_t from) const {
    char quote = '\0';
    for (std::size_t i = from; i + 1 < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != '\0') {
        if (c == '\\' && quote == '"') ++i;
        if (c == quote) quote = '\0';
      } else if (c == '"' || c == '`') {
        quote = c;
      } else if (c == '}' && text_[i + 1] == '}') {
        return i;
      }
    }
    return text_.npos;
  }

  Result<> Action(const std::string& action, std::vector<Node>& out) {
    Node node;
    node.line = line_;
    const auto cut = Cut(action, ' ');
    const std::string_view word = cut ? cut->first : std::string_view(action);
    std::string_view rest = cut ? cut->second : std::string_view();
    node.kind = word == "if"      ? Node::Kind::kIf
                : word == "range" ? Node::Kind::kRange
                : word == "with"  ? Node::Kind::kWith
                                  : Node::Kind::kAction;
    if (node.kind == Node::Kind::kAction) rest = action;
    auto pipeline = ParseTemplatePipeline(rest);
    if (!pipeline) return At(std::move(pipeline).error());
    node.pipeline = *std::move(pipeline);
    if (node.pipeline.variables.size() == 2 && node.kind != Node::Kind::kRange)
      return At(Error{Code::kInvalid, "only range sets two variables"});
    if (node.kind != Node::Kind::kAction) TRY(Branches(node));
    out.push_back(std::move(node));
    return {};
  }

  Result<> Branches(Node& node) {
    const std::size_t began = line_;
    std::string end;
    TRY(Body(node.body, end));
    if (end.starts_with("else ")) {
      // "{{else if x}}…{{end}}" is an if in the else, and shares its end.
      const std::string inner = end.substr(5);
      if (node.kind == Node::Kind::kRange || !inner.starts_with("if "))
        return At(Error{Code::kInvalid, "{{" + end + "}} is not known here"});
      return Action(inner, node.otherwise);
    }
    if (end == "else") TRY(Body(node.otherwise, end));
    if (end == "end") return {};
    return Fail(Code::kInvalid, "line " + std::to_string(began) + ": {{end}} is missing");
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  bool trim_next_ = false;
  int depth_ = 0;
};

}  // namespace

Result<TemplatePipeline> ParseTemplatePipeline(std::string_view text) { return PipelineParser(text).Parse(); }

Result<Template> Template::Parse(std::string_view text) {
  if (text.size() > kMaxText) return Fail(Code::kTooLarge, "a template of more than 64 KiB");
  ASSIGN(Node root, TemplateParser(text).Parse());
  return Template(std::make_shared<const Node>(std::move(root)));
}

}  // namespace gpuop::operands::nfd
