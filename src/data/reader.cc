#include "data/reader.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "data/duration.h"
#include "data/regex.h"
#include "data/utf8.h"

namespace gpuop::data {
namespace {

Error Wrong(const Path& here, std::string_view what) {
  std::string path = here.ToString();
  if (!path.empty()) path += ": ";
  return {Code::kInvalid, path.append(what)};
}

std::string OneOf(const std::vector<std::string>& names) {
  std::string out = "one of ";
  for (const std::string& name : names) out.append(&name == names.data() ? "" : ", ").append(Quote(name));
  return out;
}

/// What a value breaks of a field's rules; empty when nothing.
std::string Broken(const Json& value, const FieldRules& rules) {
  if (const auto* boost_text = value.if_string()) {
    const std::string_view text = AsView(*boost_text);
    if (!rules.enumeration.empty() && std::ranges::find(rules.enumeration, text) == rules.enumeration.end())
      return "expected " + OneOf(rules.enumeration) + ", got " + Quote(text);
    if (!rules.pattern.empty()) {
      const auto regex = Regex::Compile(rules.pattern);
      if (!regex || !regex->Search(text)) return Quote(text) + " does not match " + rules.pattern;
    }
    const auto length = static_cast<std::int64_t>(CountRunes(text));
    if (rules.min_length && length < *rules.min_length) return "shorter than " + std::to_string(*rules.min_length);
    if (rules.max_length && length > *rules.max_length) return "longer than " + std::to_string(*rules.max_length);
  }
  if (value.is_number()) {
    const double number = value.to_number<double>();
    if (rules.minimum && number < *rules.minimum)
      return ToJson(value) + " is less than " + FormatDouble(*rules.minimum);
    if (rules.maximum && number > *rules.maximum)
      return ToJson(value) + " is more than " + FormatDouble(*rules.maximum);
  }
  if (const JsonArray* array = value.if_array()) {
    const auto size = static_cast<std::int64_t>(array->size());
    if (rules.min_items && size < *rules.min_items) return "fewer than " + std::to_string(*rules.min_items) + " items";
    if (rules.max_items && size > *rules.max_items) return "more than " + std::to_string(*rules.max_items) + " items";
  }
  return {};
}

}  // namespace

Reader::~Reader() {
  if (unknown_ == nullptr || names_.empty()) return;
  for (const auto& member : in_)
    if (std::ranges::find(names_, std::string_view(member.key())) == names_.end())
      unknown_->push_back(path_.Child(member.key()).ToString());
}

const Json* Reader::Take(std::string_view name, const Path& here, const FieldRules& rules) {
  names_.push_back(name);
  if (!status_) return nullptr;
  const Json* value = in_.if_contains(name);
  if (value == nullptr || value->is_null()) {
    if (rules.required && !rules.defaulted) status_ = std::unexpected(Wrong(here, "required"));
    return nullptr;
  }
  if (std::string broken = Broken(*value, rules); !broken.empty()) {
    status_ = std::unexpected(Wrong(here, broken));
    return nullptr;
  }
  return value;
}

void Reader::Expected(const Path& here, std::string_view what, const Json& got) {
  if (status_)
    status_ = std::unexpected(Wrong(here, "expected " + std::string(what) + ", got " + std::string(KindName(got))));
}

void Reader::UnknownName(const Path& here, std::string_view got, const std::vector<std::string>& names) {
  if (status_) status_ = std::unexpected(Wrong(here, "expected " + OneOf(names) + ", got " + Quote(got)));
}

void Reader::Read(const Json& in, std::string& out, const Path& here) {
  if (!in.is_string()) return Expected(here, "a string", in);
  out = AsView(in.get_string());
}

void Reader::Read(const Json& in, bool& out, const Path& here) {
  if (!in.is_bool()) return Expected(here, "a boolean", in);
  out = in.get_bool();
}

void Reader::Read(const Json& in, double& out, const Path& here) {
  if (!in.is_number()) return Expected(here, "a number", in);
  out = in.to_number<double>();
}

void Reader::Read(const Json& in, Json& out, const Path&) { out = in; }

void Reader::Read(const Json& in, Quantity& out, const Path& here) {
  if (!in.is_string() && !in.is_number()) return Expected(here, "a quantity", in);
  auto quantity = Quantity::Parse(in.is_string() ? std::string(AsView(in.get_string())) : ToJson(in));
  if (quantity) {
    out = *std::move(quantity);
  } else if (status_) {
    status_ = std::unexpected(Wrong(here, quantity.error().text));
  }
}

void Reader::Read(const Json& in, IntOrString& out, const Path& here) {
  if (in.is_int64()) {
    out.value = in.get_int64();
  } else if (in.is_string()) {
    out.value = std::string(AsView(in.get_string()));
  } else {
    Expected(here, "an integer or a string", in);
  }
}

void Reader::Read(const Json& in, Duration& out, const Path& here) {
  if (!in.is_string()) return Expected(here, "a duration", in);
  const auto span = ParseDuration(AsView(in.get_string()));
  if (span) {
    out = *span;
  } else if (status_) {
    status_ = std::unexpected(Wrong(here, span.error().text));
  }
}

std::int64_t Reader::ReadInteger(const Json& in, std::int64_t least, std::int64_t most, const Path& here) {
  if (!in.is_int64()) {
    Expected(here, "an integer", in);
    return 0;
  }
  const std::int64_t number = in.get_int64();
  if (number >= least && number <= most) return number;
  if (status_) status_ = std::unexpected(Wrong(here, std::to_string(number) + " does not fit"));
  return 0;
}

}  // namespace gpuop::data
