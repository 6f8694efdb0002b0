#include "operands/nfd/settings_file.h"

#include <algorithm>

#include "data/yaml.h"

namespace gpuop::operands::nfd {
namespace {

using data::Json;

Result<Json> ReadObject(const std::string& text, std::string_view source) {
  auto parsed = data::ParseYaml(text);
  if (!parsed) return std::unexpected(std::move(parsed).error().During(source));
  if (parsed->is_null()) return Json(data::JsonObject());
  if (!parsed->is_object()) return Expected(source, "an object", *parsed);
  return *std::move(parsed);
}

/// Members of objects over each other, deeply.
void Overlay(Json& under, const Json& over) {
  if (!under.is_object() || !over.is_object()) {
    under = over;
    return;
  }
  for (const auto& member : over.get_object()) Overlay(under.get_object()[member.key()], member.value());
}

}  // namespace

std::vector<container::FlagSpec> FlagsOf(std::span<const FlagText> flags) {
  std::vector<container::FlagSpec> out;
  for (const FlagText& flag : flags)
    out.push_back({.names = {flag.name, std::string("-") + flag.name, std::string("--") + flag.name},
                   .otherwise = flag.otherwise,
                   .is_switch = flag.is_switch});
  out.push_back({.names = {"help", "-help", "--help", "-h"}, .is_switch = true});
  return out;
}

std::string HelpOf(std::span<const FlagText> flags) {
  const auto length = [](const FlagText& flag) { return std::string_view(flag.name).size(); };
  const std::size_t longest = length(*std::ranges::max_element(flags, {}, length));
  std::string out;
  for (const FlagText& flag : flags)
    out.append("  -")
        .append(flag.name)
        .append(std::string(longest + 4 - length(flag), ' '))
        .append(flag.help)
        .append("\n");
  return out;
}

Result<Json> ReadSettings(const container::FlagValues& flags, const os::Fs& fs) {
  const std::string file = flags.Text("config");
  Json out = data::JsonObject();
  if (!file.empty()) {
    auto text = fs.Read(file);
    if (!text && (text.error().code != Code::kNotFound || flags.given("config")))
      return std::unexpected(std::move(text).error());
    if (text) {
      ASSIGN(out, ReadObject(*text, file));
    }
  }
  ASSIGN(const Json over, ReadObject(flags.Text("options"), "-options"));
  Overlay(out, over);
  return out;
}

std::unexpected<Error> Expected(std::string_view path, std::string_view what, const Json& got) {
  return Fail(Code::kInvalid,
              std::string(path) + ": expected " + std::string(what) + ", got " + std::string(data::KindName(got)));
}

const Json* FindSetting(const Json& settings, std::string_view path) {
  const Json* const value = data::Find(settings, path);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<> ReadBool(const Json& settings, std::string_view path, bool& out) {
  const Json* const value = FindSetting(settings, path);
  if (value == nullptr) return {};
  if (!value->is_bool()) return Expected(path, "true or false", *value);
  out = value->get_bool();
  return {};
}

Result<std::optional<std::string>> ReadText(const Json& settings, std::string_view path) {
  const Json* const value = FindSetting(settings, path);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return Expected(path, "a text", *value);
  return std::string(data::AsView(value->get_string()));
}

Result<std::optional<data::Regex>> ReadPattern(std::string_view name, const std::string& text) {
  if (text.empty()) return std::optional<data::Regex>();
  auto pattern = data::Regex::Compile(text);
  if (!pattern) return std::unexpected(std::move(pattern).error().During(name));
  return std::optional(*std::move(pattern));
}

}  // namespace gpuop::operands::nfd
