#include <boost/json.hpp>

#include "base/text.h"
#include "data/cel/node.h"

namespace gpuop::data {
namespace {

using cel::Equal;
using cel::List;
using cel::NoOverload;
using cel::Optional;
using cel::Value;
using Node = CelProgram::Node;
using Kind = Node::Kind;

/// A field's name in an object from its name in an expression: `__dash__` is a hyphen, `__in__` the keyword.
std::string Unescape(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
  std::string out;
  while (!name.empty()) {
    const auto* word = std::ranges::find_if(kWords, [&](const auto& w) { return name.starts_with(w.first); });
    if (word != std::end(kWords)) {
      out += word->second;
      name.remove_prefix(word->first.size());
    } else {
      out += name[0];
      name.remove_prefix(1);
    }
  }
  const bool keyword = out.size() > 4 && out.starts_with("__") && out.ends_with("__");
  return keyword ? out.substr(2, out.size() - 4) : out;
}

/// One evaluation: variables in scope and what it has cost so far.
class Evaluation {
 public:
  Evaluation(const CelProgram::Input& input, std::uint64_t limit) : limit_(limit) {
    if (input.self != nullptr) variables_.emplace_back("self", Value::Of(*input.self));
    if (input.optional_old_self) {
      auto old = input.old_self == nullptr ? nullptr : std::make_shared<const Value>(Value::Of(*input.old_self));
      variables_.emplace_back("oldSelf", Value::Rep(Optional{std::move(old)}));
    } else if (input.old_self != nullptr) {
      variables_.emplace_back("oldSelf", Value::Of(*input.old_self));
    }
  }

  std::uint64_t cost() const { return cost_; }

  Result<Value> Eval(const Node& node) {
    TRY(Spend(1));
    switch (node.kind) {
      case Kind::kLiteral: return node.literal;
      case Kind::kName: return Name(node.text);
      case Kind::kSelect: return Select(node);
      case Kind::kHas: return Has(node);
      case Kind::kIndex: return Index(node);
      case Kind::kCall: return Call(node);
      case Kind::kAnd: return Junction(node, false);
      case Kind::kOr: return Junction(node, true);
      case Kind::kCondition: return Condition(node);
      case Kind::kList: return ListOf(node);
      case Kind::kMap: return MapOf(node);
      case Kind::kMacro: return Macro(node);
    }
    return NoOverload();
  }

 private:
  Result<> Spend(std::uint64_t steps) {
    cost_ += steps;
    if (cost_ > limit_) return Fail(Code::kTooLarge, "operation cancelled: actual cost limit exceeded");
    return {};
  }

  Result<Value> Name(const std::string& name) const {
    for (auto it = variables_.rbegin(); it != variables_.rend(); ++it)
      if (it->first == name) return it->second;
    if (name == "self" || name == "oldSelf") return Fail(Code::kInvalid, "no such attribute(s): " + name);
    return Value(Value::Rep(cel::TypeValue{name}));
  }

  static std::optional<Value> Field(const Value& target, const std::string& name) {
    if (auto found = target.Find(Value::OfText(name))) return found;
    if (!name.contains("__")) return std::nullopt;
    return target.Find(Value::OfText(Unescape(name)));
  }

  static Value Some(std::optional<Value> value) {
    if (!value) return Value::Rep(Optional{});
    return Value::Rep(Optional{std::make_shared<const Value>(*std::move(value))});
  }

  Result<Value> Select(const Node& node) {
    ASSIGN(Value target, Eval(*node.args[0]));
    bool optional = node.optional;
    if (const auto* holder = target.As<Optional>()) {
      if (!holder->value) return target;
      optional = true;
      target = Value(*holder->value);
    }
    if (!target.IsMap()) return NoOverload();
    auto found = Field(target, node.text);
    if (optional) return Some(std::move(found));
    if (!found) return Fail(Code::kInvalid, "no such key: " + node.text);
    return *std::move(found);
  }

  Result<Value> Has(const Node& node) {
    ASSIGN(const Value target, Eval(*node.args[0]));
    if (const auto* holder = target.As<Optional>())
      return Value::OfBool(holder->value && holder->value->IsMap() && Field(*holder->value, node.text).has_value());
    if (!target.IsMap()) return NoOverload();
    return Value::OfBool(Field(target, node.text).has_value());
  }

  Result<Value> Index(const Node& node) {
    ASSIGN(Value target, Eval(*node.args[0]));
    ASSIGN(const Value key, Eval(*node.args[1]));
    bool optional = node.optional;
    if (const auto* holder = target.As<Optional>()) {
      if (!holder->value) return target;
      optional = true;
      target = Value(*holder->value);
    }
    std::optional<Value> found;
    std::string missing = "no such key: ";
    if (target.IsList()) {
      const auto* at = key.As<std::int64_t>();
      if (at == nullptr) return NoOverload();
      if (*at >= 0 && static_cast<std::size_t>(*at) < *target.Size())
        found = target.Item(static_cast<std::size_t>(*at));
      missing = "index out of bounds: ";
    } else if (target.IsMap()) {
      found = target.Find(key);
    } else {
      return NoOverload();
    }
    if (optional) return Some(std::move(found));
    const auto* text = key.As<std::string>();
    if (!found) return Fail(Code::kInvalid, missing + (text != nullptr ? *text : ToJson(key.ToJson())));
    return *std::move(found);
  }

  Result<Value> Call(const Node& node) {
    std::vector<Value> args;
    args.reserve(node.args.size());
    for (const auto& arg : node.args) {
      ASSIGN(Value value, Eval(*arg));
      args.push_back(std::move(value));
    }
    std::uint64_t cost = 0;
    auto result = node.call(args, cost);
    TRY(Spend(cost));
    return result;
  }

  /// && and ||: a part that decides wins over parts that fail, wherever they stand.
  Result<Value> Junction(const Node& node, bool decisive) {
    std::optional<Error> failed;
    for (const auto& arg : node.args) {
      auto part = Eval(*arg);
      if (!part) {
        if (part.error().code == Code::kTooLarge) return part;
        if (!failed) failed = std::move(part).error();
        continue;
      }
      const bool* truth = part->As<bool>();
      if (truth == nullptr) {
        if (!failed) failed = NoOverload().error();
      } else if (*truth == decisive) {
        return Value::OfBool(decisive);
      }
    }
    if (failed) return std::unexpected(*std::move(failed));
    return Value::OfBool(!decisive);
  }

  Result<Value> Condition(const Node& node) {
    ASSIGN(const Value condition, Eval(*node.args[0]));
    const bool* truth = condition.As<bool>();
    if (truth == nullptr) return NoOverload();
    return Eval(*node.args[*truth ? 1 : 2]);
  }

  Result<Value> ListOf(const Node& node) {
    List items;
    for (const auto& arg : node.args) {
      ASSIGN(Value item, Eval(*arg));
      items.push_back(std::move(item));
    }
    return Value::OfList(std::move(items));
  }

  Result<Value> MapOf(const Node& node) {
    cel::Map map;
    for (std::size_t i = 0; i + 1 < node.args.size(); i += 2) {
      ASSIGN(Value key, Eval(*node.args[i]));
      ASSIGN(Value value, Eval(*node.args[i + 1]));
      const bool scalar = key.As<std::string>() || key.As<bool>() || key.As<std::int64_t>() || key.As<std::uint64_t>();
      if (!scalar) return Fail(Code::kInvalid, "unsupported key type");
      TRY(Spend(map.size()));
      for (const auto& [other, ignored] : map)
        if (Equal(other, key)) return Fail(Code::kInvalid, "Failed with repeated key");
      map.emplace_back(std::move(key), std::move(value));
    }
    return Value(Value::Rep(std::make_shared<const cel::Map>(std::move(map))));
  }

  Result<Value> Macro(const Node& node) {
    ASSIGN(const Value target, Eval(*node.args[0]));
    if (node.text == "optMap" || node.text == "optFlatMap") return OptionalMap(node, target);
    if (!target.IsList() && !target.IsMap()) return NoOverload();
    const List keys = target.IsMap() ? target.Keys() : List();
    const std::size_t size = *target.Size();
    Fold fold{node.text, std::nullopt, 0, {}};
    for (std::size_t i = 0; i < size; ++i) {
      variables_.emplace_back(node.variable, target.IsMap() ? keys[i] : target.Item(i));
      auto go_on = Step(node, fold);
      variables_.pop_back();
      TRY(go_on);
      if (!*go_on) break;
    }
    return Finish(std::move(fold));
  }

  /// What a macro gathers over its items.
  struct Fold {
    std::string_view macro;
    std::optional<Error> failed;
    std::size_t hits = 0;
    List items;
  };

  /// One item, which is the innermost variable. False when the answer is certain.
  Result<bool> Step(const Node& node, Fold& fold) {
    const Value item = variables_.back().second;
    auto part = Eval(*node.args[1]);
    const bool plain_map = fold.macro == "map" && node.args.size() == 2;
    if (!part) {
      // all and exists go on: another item may decide.
      if (part.error().code == Code::kTooLarge || (fold.macro != "all" && fold.macro != "exists"))
        return std::unexpected(part.error());
      if (!fold.failed) fold.failed = part.error();
      return true;
    }
    if (plain_map) {
      fold.items.push_back(*std::move(part));
      return true;
    }
    const bool* truth = part->As<bool>();
    if (truth == nullptr) return NoOverload();
    if (fold.macro == "all" && !*truth) fold.hits = 1;
    if (fold.macro == "all" || fold.macro == "exists") {
      if (fold.macro == "exists" && *truth) fold.hits = 1;
      return fold.hits == 0;
    }
    if (!*truth) return true;
    ++fold.hits;
    if (fold.macro == "filter") fold.items.push_back(item);
    if (fold.macro == "map") {
      ASSIGN(Value mapped, Eval(*node.args[2]));
      fold.items.push_back(std::move(mapped));
    }
    return true;
  }

  static Result<Value> Finish(Fold fold) {
    if (fold.macro == "map" || fold.macro == "filter") return Value::OfList(std::move(fold.items));
    if (fold.macro == "exists_one" || fold.macro == "existsOne") return Value::OfBool(fold.hits == 1);
    if (fold.hits == 0 && fold.failed) return std::unexpected(*std::move(fold.failed));
    return Value::OfBool((fold.hits == 0) == (fold.macro == "all"));
  }

  Result<Value> OptionalMap(const Node& node, const Value& target) {
    const auto* holder = target.As<Optional>();
    if (holder == nullptr) return NoOverload();
    if (!holder->value) return target;
    variables_.emplace_back(node.variable, *holder->value);
    auto mapped = Eval(*node.args[1]);
    variables_.pop_back();
    if (!mapped || node.text == "optFlatMap") return mapped;
    return Some(*std::move(mapped));
  }

  std::vector<std::pair<std::string_view, Value>> variables_;
  std::uint64_t cost_ = 0;
  const std::uint64_t limit_;
};

bool Mentions(const Node& node, std::string_view name) {
  if (node.kind == Kind::kName && node.text == name) return true;
  return std::ranges::any_of(node.args, [&](const auto& arg) { return Mentions(*arg, name); });
}

}  // namespace

Result<CelProgram> CelProgram::Compile(std::string_view text) {
  ASSIGN(cel::NodePtr root, cel::Parse(text));
  return CelProgram(std::shared_ptr<const Node>(std::move(root)));
}

Result<Json> CelProgram::Evaluate(const Input& input, std::uint64_t cost_limit, std::uint64_t* cost) const {
  Evaluation evaluation(input, cost_limit);
  const auto value = evaluation.Eval(*root_);
  if (cost != nullptr) *cost = evaluation.cost();
  if (!value) return std::unexpected(value.error());
  return value->ToJson();
}

bool CelProgram::UsesOldSelf() const { return Mentions(*root_, "oldSelf"); }

}  // namespace gpuop::data
