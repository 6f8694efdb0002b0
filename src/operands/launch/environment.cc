#include "operands/launch/environment.h"

#include <algorithm>
#include <cctype>

namespace gpuop::operands::launch {
namespace {

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsName(std::string_view name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, plain);
}

std::string_view Unquote(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    return value.substr(1, value.size() - 2);
  return value;
}

}  // namespace

Result<Variables> ParseEnvFile(std::string_view text) {
  Variables out;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("export ")) line = Trim(line.substr(7));
    const std::size_t equals = line.find('=');
    const std::string_view name = line.substr(0, equals);
    if (equals == std::string_view::npos || !IsName(name))
      return Fail(Code::kInvalid, "line " + std::to_string(number) + ": NAME=value is expected");
    out[std::string(name)] = Unquote(Trim(line.substr(equals + 1)));
  }
  return out;
}

bool IsLoaded(const os::Fs& fs, const std::string& module) { return fs.Stat("/sys/module/" + module).has_value(); }

Result<Variables> Environment(const Options& options, const os::Fs& fs, Variables before) {
  Variables out = std::move(before);
  for (const std::string& path : options.env_files) {
    ASSIGN(const std::string text, fs.Read(path));
    auto variables = ParseEnvFile(text);
    if (!variables) return std::unexpected(std::move(variables).error().During(path));
    for (auto& [name, value] : *variables) out[name] = std::move(value);
  }
  for (const auto& [name, other] : options.copies)
    if (const auto it = out.find(other); it != out.end()) out[name] = it->second;
  for (const ModuleVariable& v : options.module_variables)
    if (!out.contains(v.name) && IsLoaded(fs, v.module)) out[v.name] = v.value;
  return out;
}

}  // namespace gpuop::operands::launch
