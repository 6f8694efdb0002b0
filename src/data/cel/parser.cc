#include <set>

#include "data/cel/lexer.h"
#include "data/cel/node.h"

namespace gpuop::data::cel {
namespace {

using Kind = Node::Kind;

/// How deep expressions nest at most; evaluation recurses as deep.
constexpr int kMaxDepth = 250;
constexpr std::size_t kMaxText = 100 * 1024;
constexpr std::string_view kTypes[] = {"int",   "uint", "double", "bool",      "string",
                                       "bytes", "list", "map",    "null_type", "type"};

bool IsMacro(std::string_view name, std::size_t args) {
  if (name == "map") return args == 2 || args == 3;
  return args == 2 && (name == "all" || name == "exists" || name == "exists_one" || name == "existsOne" ||
                       name == "filter" || name == "optMap" || name == "optFlatMap");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), lexer_(text) {}

  Result<NodePtr> Parse() {
    if (text_.size() > kMaxText) return Fail(Code::kTooLarge, "expression code point size exceeds limit");
    TRY(Advance());
    ASSIGN(NodePtr root, Expression());
    if (token_.kind != Token::Kind::kEnd) return Unexpected();
    return root;
  }

 private:
  bool Is(std::string_view symbol) const { return token_.kind == Token::Kind::kSymbol && token_.text == symbol; }
  bool IsName(std::string_view name) const { return token_.kind == Token::Kind::kName && token_.text == name; }

  Result<> Advance() {
    ASSIGN(token_, lexer_.Next());
    return {};
  }
  std::unexpected<Error> Unexpected() const {
    const std::string got = token_.kind == Token::Kind::kEnd ? "<EOF>" : token_.text;
    return ErrorAt(text_, token_.at, "Syntax error: mismatched input '" + got + "'");
  }
  Result<> Expect(std::string_view symbol) {
    if (!Is(symbol)) return Unexpected();
    return Advance();
  }

  Result<NodePtr> Make(Kind kind, std::string text, std::vector<NodePtr> args) const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->text = std::move(text);
    for (const NodePtr& arg : args) node->depth = std::max(node->depth, arg->depth + 1);
    if (node->depth > kMaxDepth)
      return Fail(Code::kInvalid, "expression recursion limit exceeded: " + std::to_string(kMaxDepth));
    node->args = std::move(args);
    return node;
  }
  /// A call of a function that exists; undeclared otherwise.
  Result<NodePtr> MakeCall(const Token& name, std::string text, std::vector<NodePtr> args, Form form) const {
    const Callable call = FindFunction(text, args.size(), form);
    if (call == nullptr) return Undeclared(name);
    ASSIGN(NodePtr node, Make(Kind::kCall, std::move(text), std::move(args)));
    node->call = call;
    return node;
  }
  static std::vector<NodePtr> Pack(NodePtr a, NodePtr b = nullptr) {
    std::vector<NodePtr> out;
    out.push_back(std::move(a));
    if (b) out.push_back(std::move(b));
    return out;
  }

  Result<NodePtr> Expression() {
    if (++nesting_ > kMaxDepth)
      return Fail(Code::kInvalid, "expression recursion limit exceeded: " + std::to_string(kMaxDepth));
    ASSIGN(NodePtr condition, Any());
    if (Is("?")) {
      TRY(Advance());
      ASSIGN(NodePtr yes, Any());
      TRY(Expect(":"));
      ASSIGN(NodePtr no, Expression());
      auto args = Pack(std::move(condition), std::move(yes));
      args.push_back(std::move(no));
      ASSIGN(condition, Make(Kind::kCondition, "?:", std::move(args)));
    }
    --nesting_;
    return condition;
  }

  /// A chain of && or ||, flat.
  template <class Part>
  Result<NodePtr> Chain(std::string_view symbol, Kind kind, const Part& part) {
    ASSIGN(NodePtr first, part());
    if (!Is(symbol)) return first;
    std::vector<NodePtr> args = Pack(std::move(first));
    while (Is(symbol)) {
      TRY(Advance());
      ASSIGN(NodePtr next, part());
      args.push_back(std::move(next));
    }
    return Make(kind, std::string(symbol), std::move(args));
  }
  Result<NodePtr> Any() {
    return Chain("||", Kind::kOr, [&] { return All(); });
  }
  Result<NodePtr> All() {
    return Chain("&&", Kind::kAnd, [&] { return Relation(); });
  }

  /// Operators of one rank, from the left.
  template <class Part>
  Result<NodePtr> Operators(std::initializer_list<std::string_view> symbols, const Part& part) {
    ASSIGN(NodePtr left, part());
    for (;;) {
      const bool here =
          std::ranges::any_of(symbols, [&](std::string_view s) { return Is(s) || (s == "in" && IsName(s)); });
      if (!here) return left;
      const Token symbol = token_;
      TRY(Advance());
      ASSIGN(NodePtr right, part());
      ASSIGN(left, MakeCall(symbol, symbol.text, Pack(std::move(left), std::move(right)), Form::kOperator));
    }
  }
  Result<NodePtr> Relation() {
    return Operators({"<", "<=", ">=", ">", "==", "!=", "in"}, [&] { return Sum(); });
  }
  Result<NodePtr> Sum() {
    return Operators({"+", "-"}, [&] { return Product(); });
  }
  Result<NodePtr> Product() {
    return Operators({"*", "/", "%"}, [&] { return Unary(); });
  }

  Result<NodePtr> Unary() {
    std::size_t count = 0;
    const Token symbol = token_;
    if (!Is("!") && !Is("-")) return Member();
    for (; Is(symbol.text); ++count) TRY(Advance());
    const bool minus = symbol.text == "-" && token_.kind == Token::Kind::kLiteral && token_.text == "2^63";
    if (minus) {
      token_.text.clear();
      token_.literal = Value::OfInt(INT64_MIN);
      --count;
    }
    ASSIGN(NodePtr node, Member());
    if (count % 2 == 0) return node;
    return MakeCall(symbol, symbol.text, Pack(std::move(node)), Form::kOperator);
  }

  Result<NodePtr> Member() {
    ASSIGN(NodePtr node, Primary());
    for (;;) {
      if (Is(".") || Is(".?")) {
        ASSIGN(node, Select(std::move(node)));
      } else if (Is("[") || Is("[?")) {
        const bool optional = Is("[?");
        TRY(Advance());
        ASSIGN(NodePtr index, Expression());
        TRY(Expect("]"));
        ASSIGN(node, Make(Kind::kIndex, "[]", Pack(std::move(node), std::move(index))));
        node->optional = optional;
      } else {
        return node;
      }
    }
  }

  Result<NodePtr> Select(NodePtr target) {
    const bool optional = Is(".?");
    TRY(Advance());
    if (token_.kind != Token::Kind::kName) return Unexpected();
    const Token name = token_;
    TRY(Advance());
    if (!Is("(") || optional) {
      ASSIGN(NodePtr node, Make(Kind::kSelect, name.text, Pack(std::move(target))));
      node->optional = optional;
      return node;
    }
    return Method(std::move(target), name);
  }

  Result<NodePtr> Method(NodePtr target, const Token& name) {
    // optional.of(x) and optional.none() are functions of a namespace.
    if (target->kind == Kind::kName && target->text == "optional") {
      ASSIGN(auto args, Arguments(")"));
      return MakeCall(name, "optional." + name.text, std::move(args), Form::kFunction);
    }
    TRY(Advance());
    std::string variable;
    if (token_.kind == Token::Kind::kName && (IsMacro(name.text, 2) || name.text == "map")) variable = token_.text;
    const bool is_new = !variable.empty() && variables_.insert(variable).second;
    ASSIGN(auto args, ArgumentList(")"));
    if (is_new) variables_.erase(variable);
    if (IsMacro(name.text, args.size())) {
      if (args[0]->kind != Kind::kName) return ErrorAt(text_, name.at, "argument must be a simple name");
      args.erase(args.begin());
      args.insert(args.begin(), std::move(target));
      ASSIGN(NodePtr node, Make(Kind::kMacro, name.text, std::move(args)));
      node->variable = std::move(variable);
      return node;
    }
    args.insert(args.begin(), std::move(target));
    return MakeCall(name, name.text, std::move(args), Form::kMethod);
  }

  std::unexpected<Error> Undeclared(const Token& name) const {
    return ErrorAt(text_, name.at, "undeclared reference to '" + name.text + "' (in container '')");
  }

  Result<std::vector<NodePtr>> Arguments(std::string_view end) {
    TRY(Advance());
    return ArgumentList(end);
  }
  /// Expressions up to `end`, the opening one being consumed. A trailing comma is allowed in lists.
  Result<std::vector<NodePtr>> ArgumentList(std::string_view end) {
    std::vector<NodePtr> args;
    while (!Is(end)) {
      ASSIGN(NodePtr arg, Expression());
      args.push_back(std::move(arg));
      if (!Is(",")) break;
      TRY(Advance());
    }
    TRY(Expect(end));
    return args;
  }

  Result<NodePtr> Primary() {
    const Token token = token_;
    if (token.kind == Token::Kind::kLiteral) {
      if (token.text == "2^63") return ErrorAt(text_, token.at, "invalid int literal");
      TRY(Advance());
      return Literal(token.literal);
    }
    if (token.kind == Token::Kind::kName) return Name(token);
    if (Is("(")) {
      TRY(Advance());
      ASSIGN(NodePtr inner, Expression());
      TRY(Expect(")"));
      return inner;
    }
    if (Is("[")) {
      ASSIGN(auto items, Arguments("]"));
      return Make(Kind::kList, "[]", std::move(items));
    }
    if (Is("{")) return MapLiteral();
    return Unexpected();
  }

  static Result<NodePtr> Literal(Value value) {
    auto node = std::make_unique<Node>();
    node->literal = std::move(value);
    return node;
  }

  Result<NodePtr> MapLiteral() {
    TRY(Advance());
    std::vector<NodePtr> args;
    while (!Is("}")) {
      ASSIGN(NodePtr key, Expression());
      TRY(Expect(":"));
      ASSIGN(NodePtr value, Expression());
      args.push_back(std::move(key));
      args.push_back(std::move(value));
      if (!Is(",")) break;
      TRY(Advance());
    }
    TRY(Expect("}"));
    return Make(Kind::kMap, "{}", std::move(args));
  }

  Result<NodePtr> Name(const Token& token) {
    TRY(Advance());
    if (token.text == "true" || token.text == "false") return Literal(Value::OfBool(token.text == "true"));
    if (token.text == "null") return Literal(Value());
    if (Is("(")) return Call(token);
    const bool known = token.text == "self" || token.text == "oldSelf" || token.text == "optional" ||
                       variables_.contains(token.text) || std::ranges::find(kTypes, token.text) != std::end(kTypes);
    if (!known) return Undeclared(token);
    return Make(Kind::kName, token.text, {});
  }

  Result<NodePtr> Call(const Token& name) {
    ASSIGN(auto args, Arguments(")"));
    if (name.text == "has") {
      if (args.size() != 1 || args[0]->kind != Kind::kSelect)
        return ErrorAt(text_, name.at, "invalid argument to has() macro");
      args[0]->kind = Kind::kHas;
      return std::move(args[0]);
    }
    return MakeCall(name, name.text, std::move(args), Form::kFunction);
  }

  std::string_view text_;
  Lexer lexer_;
  Token token_;
  std::set<std::string> variables_;
  int nesting_ = 0;
};

}  // namespace

Result<NodePtr> Parse(std::string_view text) { return Parser(text).Parse(); }

}  // namespace gpuop::data::cel
