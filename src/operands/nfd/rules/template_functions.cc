#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/regex.h"
#include "operands/nfd/rules/template_tree.h"

namespace gpuop::operands::nfd {
namespace {

using data::Json;
using Args = std::span<const Json>;

std::unexpected<Error> Wrong(std::string text) { return Fail(Code::kInvalid, std::move(text)); }

std::int64_t IntOf(const Json& value) {
  if (const auto* number = value.if_int64()) return *number;
  if (const auto* yes = value.if_bool()) return *yes ? 1 : 0;
  if (value.is_string()) return ParseInt(data::AsView(value.get_string())).value_or(0);
  return 0;
}

/// Below 0, 0 or above 0; texts with texts, numbers with numbers.
Result<int> Order(const Json& a, const Json& b) {
  if (a.is_string() && b.is_string()) return a.get_string().compare(b.get_string());
  if (a.is_int64() && b.is_int64()) return a.get_int64() < b.get_int64() ? -1 : a.get_int64() > b.get_int64() ? 1 : 0;
  return Wrong("incompatible types for comparison: " + std::string(data::KindName(a)) + " and " +
               std::string(data::KindName(b)));
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) return std::string(text);
  for (;;) {
    const std::size_t at = text.find(from);
    out += text.substr(0, at);
    if (at == text.npos) return out;
    out += to;
    text.remove_prefix(at + from.size());
  }
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string TrimSet(std::string_view text, std::string_view set) {
  const std::size_t first = text.find_first_not_of(set);
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(set) - first + 1));
}

std::string Truncated(std::string_view text, std::int64_t size) {
  const auto length = static_cast<std::int64_t>(text.size());
  if (size < 0) return std::string(text.substr(static_cast<std::size_t>(std::max<std::int64_t>(length + size, 0))));
  return std::string(text.substr(0, static_cast<std::size_t>(size)));
}

Result<Json> Printf(Args args) {
  std::string out;
  const std::string format = TemplateText(args[0]);
  std::size_t next = 1;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const char verb = ++i < format.size() ? format[i] : '\0';
    if (verb == '%') {
      out += '%';
      continue;
    }
    if (verb != 's' && verb != 'd' && verb != 'v' && verb != 'q')
      return Wrong("printf: only %s %d %v %q and %% are known");
    if (next >= args.size()) return Wrong("printf: a value is missing");
    const std::string text = TemplateText(args[next++]);
    out += verb == 'q' ? Quote(text) : text;
  }
  if (next != args.size()) return Wrong("printf: a value is left over");
  return Json(out);
}

Result<Json> Index(Args args) {
  Json value = args[0];
  for (const Json& key : args.subspan(1)) {
    if (const auto* map = value.if_object()) {
      const Json* member = key.is_string() ? map->if_contains(data::AsView(key.get_string())) : nullptr;
      value = member == nullptr ? Json() : Json(*member);
      continue;
    }
    const auto* list = value.if_array();
    const std::int64_t at = key.is_int64() ? key.get_int64() : -1;
    if (list == nullptr || at < 0 || at >= static_cast<std::int64_t>(list->size()))
      return Wrong("index: there is nothing at " + TemplateText(key));
    value = Json((*list)[static_cast<std::size_t>(at)]);
  }
  return value;
}

Result<Json> Regex(std::string_view name, Args args) {
  ASSIGN(const data::Regex pattern, data::Regex::Compile(TemplateText(args[0])));
  const std::string text = TemplateText(args[1]);
  if (name == "regexMatch") return Json(pattern.Search(text));
  const auto found = pattern.Find(text);
  if (name == "regexFind") return Json(found.value_or(""));
  std::string out;  // regexReplaceAllLiteral
  const std::string to = TemplateText(args[2]);
  std::string_view rest = text;
  while (const auto at = pattern.Find(rest)) {
    if (at->empty()) break;
    out.append(rest.substr(0, static_cast<std::size_t>(at->data() - rest.data()))).append(to);
    rest.remove_prefix(static_cast<std::size_t>(at->data() - rest.data()) + at->size());
  }
  return Json(out + std::string(rest));
}

Json ListOf(const std::vector<std::string>& texts) {
  data::JsonArray out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

Result<data::JsonArray> ListIn(std::string_view name, const Json& value) {
  if (const auto* list = value.if_array()) return *list;
  if (value.is_null()) return data::JsonArray();
  return Wrong(std::string(name) + ": expected a list, got " + std::string(data::KindName(value)));
}

Result<Json> OfLists(std::string_view name, Args args) {
  if (name == "list") return Json(data::JsonArray(args.begin(), args.end()));
  if (name == "splitList") {
    std::vector<std::string> parts;
    std::string text = TemplateText(args[1]);
    const std::string separator = TemplateText(args[0]);
    for (std::size_t at; !separator.empty() && (at = text.find(separator)) != text.npos;) {
      parts.push_back(text.substr(0, at));
      text.erase(0, at + separator.size());
    }
    parts.push_back(text);
    return ListOf(parts);
  }
  ASSIGN(const data::JsonArray list, ListIn(name, args.back()));
  if (name == "first") return list.empty() ? Json() : list.front();
  if (name == "last") return list.empty() ? Json() : list.back();
  if (name == "has")
    return Json(std::ranges::any_of(list, [&](const Json& item) { return data::JsonEqual(item, args[0]); }));
  std::vector<std::string> texts;
  for (const Json& item : list) texts.push_back(TemplateText(item));
  if (name == "join") return Json(Join(texts, TemplateText(args[0])));
  if (name == "sortAlpha") std::ranges::sort(texts);
  if (name == "uniq") {
    std::set<std::string> seen;
    std::erase_if(texts, [&](const std::string& text) { return !seen.insert(text).second; });
  }
  return ListOf(texts);
}

Result<Json> OfNumbers(std::string_view name, Args args) {
  std::int64_t total = IntOf(args[0]);
  for (const Json& arg : args.subspan(1)) {
    const std::int64_t value = IntOf(arg);
    bool over = false;
    if (name == "add") over = __builtin_add_overflow(total, value, &total);
    if (name == "sub") over = __builtin_sub_overflow(total, value, &total);
    if (name == "mul") over = __builtin_mul_overflow(total, value, &total);
    if (name == "max") total = std::max(total, value);
    if (name == "min") total = std::min(total, value);
    if (name == "div" || name == "mod") {
      if (value == 0) return Wrong(std::string(name) + ": division by zero");
      if (value == -1 && total == INT64_MIN) return Wrong(std::string(name) + ": too large");
      total = name == "div" ? total / value : total % value;
    }
    if (over) return Wrong(std::string(name) + ": too large");
  }
  return Json(total);
}

Result<Json> Compared(std::string_view name, Args args) {
  if (name == "ne") return Json(!data::JsonEqual(args[0], args[1]));
  if (name == "eq")
    return Json(std::ranges::any_of(args.subspan(1), [&](const Json& b) { return data::JsonEqual(args[0], b); }));
  ASSIGN(const int order, Order(args[0], args[1]));
  return Json(name == "lt" ? order < 0 : name == "le" ? order <= 0 : name == "gt" ? order > 0 : order >= 0);
}

/// Texts: as in sprig the text worked on comes last, so that it can come through a pipe.
Result<Json> OfTexts(std::string_view name, Args args) {
  const std::string text = TemplateText(args.back());
  const std::string first = TemplateText(args.front());
  if (name == "upper") return Json(Upper(text));
  if (name == "lower") return Json(ToLower(text));
  if (name == "trim") return Json(Trim(text));
  if (name == "trimAll") return Json(TrimSet(text, first));
  if (name == "trimPrefix") return Json(text.starts_with(first) ? text.substr(first.size()) : text);
  if (name == "trimSuffix") return Json(text.ends_with(first) ? text.substr(0, text.size() - first.size()) : text);
  if (name == "nospace") return Json(ReplaceAll(ReplaceAll(ReplaceAll(text, " ", ""), "\t", ""), "\n", ""));
  if (name == "replace") return Json(ReplaceAll(text, first, TemplateText(args[1])));
  if (name == "contains") return Json(text.find(first) != text.npos);
  if (name == "hasPrefix") return Json(text.starts_with(first));
  if (name == "hasSuffix") return Json(text.ends_with(first));
  if (name == "quote") return Json(Quote(text));
  if (name == "squote") return Json("'" + text + "'");
  if (name == "trunc") return Json(Truncated(text, IntOf(args[0])));
  if (name == "toString") return Json(text);
  return Json(IntOf(args.back()));  // atoi, int, int64
}

Result<Json> Plain(std::string_view name, Args args) {
  const Json& last = args.back();
  if (name == "not") return Json(!TemplateTruth(last));
  if (name == "and" || name == "or") return last;
  if (name == "default") return TemplateTruth(last) ? last : args[0];
  if (name == "empty") return Json(!TemplateTruth(last));
  if (name == "ternary") return TemplateTruth(last) ? args[0] : args[1];
  if (name == "index") return Index(args);
  if (name == "printf") return Printf(args);
  if (name == "print") {
    std::string out;
    for (const Json& arg : args) out += TemplateText(arg);
    return Json(out);
  }
  if (name == "hasKey") {
    const auto* map = args[0].if_object();
    return Json(map != nullptr && map->contains(TemplateText(args[1])));
  }
  if (const auto* text = last.if_string()) return Json(static_cast<std::int64_t>(text->size()));  // len
  if (const auto* list = last.if_array()) return Json(static_cast<std::int64_t>(list->size()));
  if (const auto* map = last.if_object()) return Json(static_cast<std::int64_t>(map->size()));
  return Wrong("len of " + std::string(data::KindName(last)));
}

struct Function {
  std::string_view name;
  std::size_t least, most;
  Result<Json> (*call)(std::string_view name, Args args);
};
constexpr std::size_t kAny = 64;
constexpr std::array kFunctions = {
    Function{"and", 1, kAny, Plain},
    Function{"or", 1, kAny, Plain},
    Function{"not", 1, 1, Plain},
    Function{"len", 1, 1, Plain},
    Function{"index", 1, kAny, Plain},
    Function{"print", 1, kAny, Plain},
    Function{"printf", 1, kAny, Plain},
    Function{"eq", 2, kAny, Compared},
    Function{"ne", 2, 2, Compared},
    Function{"lt", 2, 2, Compared},
    Function{"le", 2, 2, Compared},
    Function{"gt", 2, 2, Compared},
    Function{"ge", 2, 2, Compared},
    Function{"default", 2, 2, Plain},
    Function{"empty", 1, 1, Plain},
    Function{"ternary", 3, 3, Plain},
    Function{"hasKey", 2, 2, Plain},
    Function{"upper", 1, 1, OfTexts},
    Function{"lower", 1, 1, OfTexts},
    Function{"trim", 1, 1, OfTexts},
    Function{"trimAll", 2, 2, OfTexts},
    Function{"trimPrefix", 2, 2, OfTexts},
    Function{"trimSuffix", 2, 2, OfTexts},
    Function{"nospace", 1, 1, OfTexts},
    Function{"replace", 3, 3, OfTexts},
    Function{"contains", 2, 2, OfTexts},
    Function{"hasPrefix", 2, 2, OfTexts},
    Function{"hasSuffix", 2, 2, OfTexts},
    Function{"quote", 1, 1, OfTexts},
    Function{"squote", 1, 1, OfTexts},
    Function{"trunc", 2, 2, OfTexts},
    Function{"toString", 1, 1, OfTexts},
    Function{"atoi", 1, 1, OfTexts},
    Function{"int", 1, 1, OfTexts},
    Function{"int64", 1, 1, OfTexts},
    Function{"add", 1, kAny, OfNumbers},
    Function{"sub", 2, 2, OfNumbers},
    Function{"mul", 1, kAny, OfNumbers},
    Function{"div", 2, 2, OfNumbers},
    Function{"mod", 2, 2, OfNumbers},
    Function{"max", 1, kAny, OfNumbers},
    Function{"min", 1, kAny, OfNumbers},
    Function{"list", 0, kAny, OfLists},
    Function{"first", 1, 1, OfLists},
    Function{"last", 1, 1, OfLists},
    Function{"has", 2, 2, OfLists},
    Function{"join", 2, 2, OfLists},
    Function{"splitList", 2, 2, OfLists},
    Function{"sortAlpha", 1, 1, OfLists},
    Function{"uniq", 1, 1, OfLists},
    Function{"regexMatch", 2, 2, Regex},
    Function{"regexFind", 2, 2, Regex},
    Function{"regexReplaceAllLiteral", 3, 3, Regex},
};

const Function* Find(std::string_view name) {
  const auto* const it = std::ranges::find(kFunctions, name, &Function::name);
  return it == kFunctions.end() ? nullptr : it;
}

}  // namespace

bool TemplateTruth(const Json& value) {
  if (const auto* yes = value.if_bool()) return *yes;
  if (const auto* number = value.if_int64()) return *number != 0;
  if (const auto* text = value.if_string()) return !text->empty();
  if (const auto* list = value.if_array()) return !list->empty();
  if (const auto* map = value.if_object()) return !map->empty();
  return false;
}

std::string TemplateText(const Json& value) {
  if (value.is_string()) return std::string(data::AsView(value.get_string()));
  return value.is_null() ? "<no value>" : data::GoText(value);
}

bool KnowsTemplateFunction(std::string_view name) { return Find(name) != nullptr; }

Result<Json> CallTemplateFunction(std::string_view name, Args args) {
  const Function* const function = Find(name);
  if (function == nullptr) return Wrong("function " + Quote(name) + " is not known here");
  if (args.size() < function->least || args.size() > function->most)
    return Wrong(std::string(name) + ": wrong number of arguments: " + std::to_string(args.size()));
  return function->call(name, args);
}

}  // namespace gpuop::operands::nfd
