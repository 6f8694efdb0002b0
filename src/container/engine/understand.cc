// From texts to meaning.
#include <algorithm>
#include <set>

#include "container/engine/texts.h"

namespace gpuop::container {
namespace {

using data::Json;
using data::JsonObject;

void AddRuntimes(const JsonObject* runtimes, std::string_view binary_key, EngineConfig& out) {
  if (runtimes == nullptr) return;
  for (const auto& member : *runtimes) {
    const JsonObject* entry = member.value().if_object();
    if (entry == nullptr) continue;
    std::string binary(data::StringOr(member.value(), binary_key));
    if (binary.empty() && binary_key == "options.BinaryName")
      binary = data::StringOr(member.value(), "options.Runtime");
    out.runtimes.push_back({std::string(member.key()), binary, *entry});
  }
  std::ranges::sort(out.runtimes, {}, &EngineRuntime::name);
}

/// What containerd does with an imported file; `version` and `imports` are gathered by the caller.
void Import(Json& into, const Json& from, ImportRule rule) {
  JsonObject& target = into.get_object();
  for (const auto& member : from.get_object()) {
    Json& place = target[member.key()];
    const JsonObject* table = member.value().if_object();
    if (member.key() == "plugins" && table != nullptr && place.is_object() && rule == ImportRule::kReplacePlugins) {
      for (const auto& plugin : *table) place.get_object()[plugin.key()] = plugin.value();
    } else if (table != nullptr && place.is_object()) {
      MergeTables(place.get_object(), *table);
    } else if (member.key() != "imports" && member.key() != "version") {
      place = member.value();
    } else if (place.is_null()) {
      target.erase(member.key());
    }
  }
}

Result<> ImportAll(const EngineTexts& texts, const std::string& path, const Json& value, ImportRule rule, Json& out,
                   std::set<std::string>& done) {
  const data::JsonArray* imports = data::GetArray(value, "imports");
  if (imports == nullptr) return {};
  for (const Json& item : *imports) {
    if (!item.is_string()) continue;
    const std::string pattern = AbsoluteImport(path, std::string(data::AsView(item.get_string())));
    for (const std::string& name : MatchImport(texts, pattern)) {
      if (!done.insert(name).second) continue;
      ASSIGN(const Json imported, ParseEngineToml(name, texts.at(name)));
      Import(out, imported, rule);
      TRY(ImportAll(texts, name, imported, rule, out, done));
    }
  }
  return {};
}

/// The texts as the engine names them.
EngineTexts ForEngine(const EngineTexts& texts, const EngineFiles& files) {
  EngineTexts seen;
  for (const auto& [path, text] : texts)
    seen[path == files.config    ? files.ConfigForEngine()
         : path == files.drop_in ? files.DropInForEngine()
                                 : path] = text;
  return seen;
}

Result<EngineConfig> Containerd(const EngineTexts& given, const EngineFiles& files, ImportRule rule) {
  const EngineTexts texts = ForEngine(given, files);
  const std::string config = files.ConfigForEngine();
  Json whole = JsonObject();
  if (const auto it = texts.find(config); it != texts.end()) {
    ASSIGN(whole, ParseEngineToml(it->first, it->second));
  }
  EngineConfig out;
  const bool empty = whole.get_object().empty();
  if (const Json* version = data::Find(whole, "version"); version != nullptr && !version->is_int64())
    return Fail(Code::kInvalid, config + ": version: expected a number");
  out.version = data::IntOr(whole, "version", empty ? 0 : 1);
  std::set<std::string> done{config};
  const Json root = whole;
  TRY(ImportAll(texts, config, root, rule, whole, done));
  if (files.drop_in_is_read) {
    const Json folder =
        JsonObject{{"imports", data::JsonArray{Json(os::FolderOf(files.DropInForEngine()) + "/*.toml")}}};
    TRY(ImportAll(texts, config, folder, rule, whole, done));
  }
  AddRuntimes(FindTable(whole, CriPath(out.version, {"containerd", "runtimes"})), "options.BinaryName", out);
  out.default_runtime = FindText(whole, CriPath(out.version, {"containerd", "default_runtime_name"}));
  if (const JsonObject* cri = FindTable(whole, CriPath(out.version, {}))) {
    const Json table = *cri;
    out.cdi = data::BoolOr(table, "enable_cdi", out.version >= 3);  // containerd 2 has it on
    if (const data::JsonArray* folders = data::GetArray(table, "cdi_spec_dirs"))
      for (const Json& folder : *folders)
        if (folder.is_string()) out.cdi_folders.emplace_back(data::AsView(folder.get_string()));
  } else {
    out.cdi = out.version >= 3;
  }
  out.whole = std::move(whole);
  return out;
}

Result<EngineConfig> Crio(const EngineTexts& given, const EngineFiles& files) {
  const EngineTexts texts = ForEngine(given, files);
  const std::string config = files.ConfigForEngine();
  Json whole = JsonObject();
  const auto add = [&](const std::string& path) -> Result<> {
    ASSIGN(const Json value, ParseEngineToml(path, texts.at(path)));
    MergeTables(whole.get_object(), value.get_object());
    return {};
  };
  if (texts.contains(config)) TRY(add(config));
  for (const auto& [path, text] : texts)
    if (path != config) TRY(add(path));
  EngineConfig out;
  AddRuntimes(FindTable(whole, {"crio", "runtime", "runtimes"}), "runtime_path", out);
  out.default_runtime = FindText(whole, {"crio", "runtime", "default_runtime"});
  out.cdi = true;
  out.whole = std::move(whole);
  return out;
}

Result<EngineConfig> Docker(const EngineTexts& texts, const EngineFiles& files) {
  EngineConfig out;
  out.whole = JsonObject();
  if (const auto it = texts.find(files.config); it != texts.end()) {
    auto value = data::ParseJson(it->second);
    if (!value) return std::unexpected(std::move(value).error().During(it->first));
    if (!value->is_object()) return Fail(Code::kInvalid, it->first + ": expected an object");
    out.whole = *std::move(value);
  }
  AddRuntimes(data::GetObject(out.whole, "runtimes"), "path", out);
  out.default_runtime = data::StringOr(out.whole, "default-runtime");
  out.cdi = data::BoolOr(out.whole, "features.cdi");
  return out;
}

}  // namespace

const EngineRuntime* EngineConfig::Find(std::string_view name) const {
  const auto it = std::ranges::find(runtimes, name, [](const EngineRuntime& r) { return std::string_view(r.name); });
  return it == runtimes.end() ? nullptr : &*it;
}

Result<EngineConfig> UnderstandEngine(EngineKind kind, const EngineTexts& texts, const EngineFiles& files,
                                      ImportRule rule) {
  switch (kind) {
    case EngineKind::kContainerd: return Containerd(texts, files, rule);
    case EngineKind::kCrio: return Crio(texts, files);
    case EngineKind::kDocker: break;
  }
  return Docker(texts, files);
}

std::vector<std::string> LowLevelRuntimes(const EngineConfig& config) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& binary) {
    if (!binary.empty() && std::ranges::find(out, binary) == out.end()) out.push_back(binary);
  };
  for (const std::string& name : {config.default_runtime, std::string("runc"), std::string("crun")})
    if (const EngineRuntime* runtime = config.Find(name); runtime != nullptr && !name.starts_with("nvidia"))
      add(runtime->binary);
  add("runc");
  add("crun");
  return out;
}

}  // namespace gpuop::container
