#include "container/flags.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::container {
namespace {

const FlagSpec* Find(std::span<const FlagSpec> specs, std::string_view name) {
  for (const FlagSpec& spec : specs)
    if (std::ranges::find(spec.names, name) != spec.names.end()) return &spec;
  return nullptr;
}

}  // namespace

std::string FlagValues::Text(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? std::string() : it->second.back();
}

bool FlagValues::On(const std::string& name) const { return ParseBool(Text(name)).value_or(false); }

std::vector<std::string> FlagValues::Each(const std::string& name) const {
  return given(name) ? values_.at(name) : std::vector<std::string>();
}

std::vector<std::string> FlagValues::List(const std::string& name) const {
  std::vector<std::string> out;
  const auto it = values_.find(name);
  if (it == values_.end()) return out;
  for (const std::string& value : it->second)
    for (const std::string_view part : Split(value, ','))
      if (!Trim(part).empty()) out.emplace_back(Trim(part));
  return out;
}

Result<FlagValues> ParseFlags(std::span<const FlagSpec> specs, const std::vector<std::string>& arguments,
                              const std::function<const char*(const char*)>& variable, std::vector<std::string>* rest) {
  FlagValues out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string word = arguments[i];
    if (!word.starts_with('-') || word == "-") {
      if (rest == nullptr) return Fail(Code::kInvalid, "unexpected argument " + Quote(word));
      rest->push_back(std::move(word));
      continue;
    }
    const std::size_t equals = word.find('=');
    const FlagSpec* spec = Find(specs, word.substr(0, equals));
    if (spec == nullptr) return Fail(Code::kInvalid, "unknown flag " + Quote(word.substr(0, equals)));
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos && spec->is_switch) value = "true";
    if (equals == std::string::npos && !spec->is_switch) {
      if (i + 1 == arguments.size()) return Fail(Code::kInvalid, "flag " + word + " needs a value");
      value = arguments[++i];
    }
    if (spec->is_switch && !ParseBool(value)) return Fail(Code::kInvalid, "flag " + word + ": not a boolean");
    std::vector<std::string>& values = out.values_[spec->names[0]];
    if (!spec->repeatable) values.clear();
    values.push_back(std::move(value));
    out.given_[spec->names[0]] = true;
  }
  for (const FlagSpec& spec : specs) {
    if (out.given_.contains(spec.names[0])) continue;
    std::vector<std::string>& values = out.values_[spec.names[0]] = {spec.otherwise};
    for (const std::string& name : spec.variables) {
      const char* value = variable(name.c_str());
      if (value == nullptr || *value == '\0') continue;
      if (spec.is_switch && !ParseBool(value)) return Fail(Code::kInvalid, "variable " + name + ": not a boolean");
      values = {value};
      out.given_[spec.names[0]] = true;
      break;
    }
  }
  return out;
}

}  // namespace gpuop::container
