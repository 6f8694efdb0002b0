#include "container/engine/edit.h"

#include <algorithm>

#include "container/engine/texts.h"
#include "data/json_editor.h"
#include "data/toml_editor.h"

namespace gpuop::container {
namespace {

using data::Json;
using data::JsonObject;

bool IsOurs(const EngineWish& wish, std::string_view name) {
  return std::ranges::any_of(wish.runtimes, [&](const WantedRuntime& r) { return r.name == name; });
}

/// The entry that new ones are modelled on: the default's, unless it is one of NVIDIA's, else runc's or crun's.
const JsonObject* Model(const EngineConfig& config) {
  for (const std::string& name : {config.default_runtime, std::string("runc"), std::string("crun")})
    if (const EngineRuntime* runtime = config.Find(name); runtime != nullptr && !name.starts_with("nvidia"))
      return &runtime->entry;
  return nullptr;
}

JsonObject ContainerdEntry(const JsonObject* model, const EngineWish& wish, const std::string& binary,
                           std::int64_t version) {
  JsonObject entry = model != nullptr ? *model
                                      : JsonObject{{"privileged_without_host_devices", false},
                                                   {"runtime_engine", ""},
                                                   {"runtime_root", ""},
                                                   {"runtime_type", wish.runtime_type}};
  const Json* type = entry.if_contains("runtime_type");
  if (type == nullptr || !type->is_string() || type->get_string().empty()) entry["runtime_type"] = wish.runtime_type;
  if (!wish.annotation_prefixes.empty()) {
    data::JsonArray annotations;
    for (const std::string& prefix : wish.annotation_prefixes) annotations.emplace_back(prefix + "*");
    if (const Json* old = entry.if_contains("container_annotations"); old != nullptr && old->is_array())
      for (const Json& item : old->get_array())
        if (std::ranges::find(annotations, item) == annotations.end()) annotations.push_back(item);
    entry["container_annotations"] = std::move(annotations);
  }
  Json& options = entry["options"];
  if (!options.is_object()) options.emplace_object();
  options.get_object()["BinaryName"] = binary;
  if (version <= 1) options.get_object()["Runtime"] = binary;
  return entry;
}

JsonObject CrioEntry(const JsonObject* model, const std::string& binary) {
  JsonObject entry = model != nullptr ? *model : JsonObject();
  entry["runtime_path"] = binary;
  entry["runtime_type"] = "oci";
  return entry;
}

data::TomlPath Below(data::TomlPath path, const std::string& name) {
  path.push_back(name);
  return path;
}

std::string TextOf(const EngineTexts& texts, const std::string& path) {
  const auto it = texts.find(path);
  return it == texts.end() ? std::string() : it->second;
}

/// A drop-in of ours keeps its bytes while it means the same.
std::string DropInText(const EngineTexts& texts, const std::string& path, const JsonObject& wanted) {
  const std::string old = TextOf(texts, path);
  if (const auto value = data::ParseToml(old); value && data::JsonEqual(*value, wanted)) return old;
  return data::ToToml(wanted);
}

Result<data::TomlEditor> OpenEditor(const EngineTexts& texts, const std::string& path) {
  const std::string text = TextOf(texts, path);
  TRY(ParseEngineToml(path, text));
  return data::TomlEditor::Open(text);
}

/// Sets the runtimes in the engine's own file.
Result<> EditInPlace(EngineKind kind, const EngineConfig& now, const EngineWish& wish, std::int64_t version,
                     data::TomlEditor& editor) {
  const JsonObject* model = Model(now);
  for (const WantedRuntime& runtime : wish.runtimes) {
    const JsonObject entry = kind == EngineKind::kCrio ? CrioEntry(model, runtime.binary)
                                                       : ContainerdEntry(model, wish, runtime.binary, version);
    TRY(editor.Set(Below(RuntimesPath(kind, version), runtime.name), entry));
  }
  const data::TomlPath fallback = DefaultPath(kind, version);
  if (wish.set_as_default) return editor.Set(fallback, Json(wish.runtimes[0].name));
  return IsOurs(wish, FindText(editor.value(), fallback)) ? editor.Remove(fallback) : Result<>();
}

Result<> ImportDropIn(const EngineFiles& files, data::TomlEditor& editor) {
  const std::string& seen = files.DropInForEngine();
  const std::string& importer = files.ConfigForEngine();
  data::JsonArray imports;
  if (const data::JsonArray* old = data::GetArray(editor.value(), "imports")) imports = *old;
  for (const Json& item : imports)
    if (item.is_string() &&
        !MatchImport({{seen, ""}}, AbsoluteImport(importer, std::string(data::AsView(item.get_string())))).empty())
      return {};
  imports.emplace_back(os::FolderOf(seen) + "/*.toml");
  return editor.Set({"imports"}, imports);
}

/// The drop-in: all of the CRI plugin as it stands, because containerd before 2.1 lets it replace what was read before,
/// or our own entries alone where it merges.
JsonObject ContainerdDropIn(const EngineConfig& now, const EngineWish& wish, std::int64_t version, ImportRule rule) {
  JsonObject cri;
  if (const JsonObject* old = FindTable(now.whole, CriPath(version, {}));
      old != nullptr && rule == ImportRule::kReplacePlugins)
    cri = *old;
  Json& table = cri["containerd"];
  if (!table.is_object()) table.emplace_object();
  Json& runtimes = table.get_object()["runtimes"];
  if (!runtimes.is_object()) runtimes.emplace_object();
  for (const WantedRuntime& runtime : wish.runtimes)
    runtimes.get_object()[runtime.name] = ContainerdEntry(Model(now), wish, runtime.binary, version);
  if (wish.set_as_default)
    table.get_object()["default_runtime_name"] = wish.runtimes[0].name;
  else if (IsOurs(wish, now.default_runtime))
    table.get_object().erase("default_runtime_name");
  if (wish.cdi) cri["enable_cdi"] = true;
  return {{"version", version}, {"plugins", JsonObject{{CriPlugin(version), std::move(cri)}}}};
}

}  // namespace

data::TomlPath RuntimesPath(EngineKind kind, std::int64_t version) {
  if (kind == EngineKind::kContainerd) return CriPath(version, {"containerd", "runtimes"});
  if (kind == EngineKind::kCrio) return {"crio", "runtime", "runtimes"};
  return {"runtimes"};
}

data::TomlPath DefaultPath(EngineKind kind, std::int64_t version) {
  if (kind == EngineKind::kContainerd) return CriPath(version, {"containerd", "default_runtime_name"});
  if (kind == EngineKind::kCrio) return {"crio", "runtime", "default_runtime"};
  return {"default-runtime"};
}

Result<TextChanges> SetUpContainerd(const EngineTexts& texts, const EngineFiles& files, const EngineWish& wish,
                                    ImportRule rule) {
  ASSIGN(data::TomlEditor editor, OpenEditor(texts, files.config));
  EngineTexts others = texts;
  others.erase(files.drop_in);
  ASSIGN(const EngineConfig now, UnderstandEngine(EngineKind::kContainerd, others, files, rule));
  const bool empty = editor.value().get_object().empty();
  const std::int64_t version = empty ? (wish.legacy_config ? 1 : 2) : now.version;
  TextChanges out;
  // A file of version 1 says nothing of its version, and an import of another version stops the engine.
  if (files.drop_in.empty() || version <= 1) {
    if (empty) TRY(editor.Set({"version"}, Json(version)));
    TRY(EditInPlace(EngineKind::kContainerd, now, wish, version, editor));
    if (wish.cdi) TRY(editor.Set(CriPath(version, {"enable_cdi"}), Json(true)));
  } else {
    if (empty && !files.drop_in_is_read) TRY(editor.Set({"version"}, Json(version)));
    if (!files.drop_in_is_read) TRY(ImportDropIn(files, editor));
    out[files.drop_in] = DropInText(texts, files.drop_in, ContainerdDropIn(now, wish, version, rule));
  }
  if (editor.text() != TextOf(texts, files.config)) out[files.config] = editor.text();
  return out;
}

Result<TextChanges> SetUpCrio(const EngineTexts& texts, const EngineFiles& files, const EngineWish& wish) {
  EngineTexts others = texts;
  others.erase(files.drop_in);
  ASSIGN(const EngineConfig now, UnderstandEngine(EngineKind::kCrio, others, files));
  if (files.drop_in.empty()) {
    ASSIGN(data::TomlEditor editor, OpenEditor(texts, files.config));
    TRY(EditInPlace(EngineKind::kCrio, now, wish, 0, editor));
    return TextChanges{{files.config, editor.text()}};
  }
  JsonObject runtimes, runtime;
  for (const WantedRuntime& wanted : wish.runtimes) runtimes[wanted.name] = CrioEntry(Model(now), wanted.binary);
  if (wish.set_as_default) runtime["default_runtime"] = wish.runtimes[0].name;
  runtime["runtimes"] = std::move(runtimes);
  const JsonObject wanted{{"crio", JsonObject{{"runtime", std::move(runtime)}}}};
  return TextChanges{{files.drop_in, DropInText(texts, files.drop_in, wanted)}};
}

Result<TextChanges> SetUpDocker(const EngineTexts& texts, const EngineFiles& files, const EngineWish& wish) {
  const auto it = texts.find(files.config);
  std::string text = it == texts.end() ? "{}" : it->second;
  const auto set = [&](const std::vector<std::string>& path, const Json& value) -> Result<> {
    auto next = data::WithJsonMember(text, path, value);
    if (!next) return std::unexpected(std::move(next).error().During(files.config));
    text = *std::move(next);
    return {};
  };
  for (const WantedRuntime& runtime : wish.runtimes)
    TRY(set({"runtimes", runtime.name}, JsonObject{{"args", data::JsonArray()}, {"path", runtime.binary}}));
  if (wish.set_as_default) TRY(set({"default-runtime"}, Json(wish.runtimes[0].name)));
  if (wish.cdi) TRY(set({"features", "cdi"}, Json(true)));
  return TextChanges{{files.config, std::move(text)}};
}

Result<std::string> WithoutRuntimes(EngineKind kind, const std::string& path, const std::string& text,
                                    const std::vector<std::string>& names, const std::string& folder) {
  const EngineFiles alone{.config = path};
  ASSIGN(const EngineConfig now, UnderstandEngine(kind, {{path, text}}, alone));
  std::vector<std::string> ours;
  for (const std::string& name : names)
    if (const EngineRuntime* runtime = now.Find(name); runtime != nullptr && runtime->binary.starts_with(folder + "/"))
      ours.push_back(name);
  const bool default_is_ours = std::ranges::find(ours, now.default_runtime) != ours.end();
  if (kind == EngineKind::kDocker) {
    std::string out = text;
    for (const std::string& name : ours) {
      ASSIGN(out, data::WithoutJsonMember(out, {"runtimes", name}));
    }
    if (ours.size() == now.runtimes.size()) {
      ASSIGN(out, data::WithoutJsonMember(out, {"runtimes"}));
    }
    return default_is_ours ? data::WithJsonMember(out, {"default-runtime"}, Json("runc")) : out;
  }
  ASSIGN(data::TomlEditor editor, data::TomlEditor::Open(text));
  for (const std::string& name : ours) TRY(editor.Remove(Below(RuntimesPath(kind, now.version), name)));
  if (default_is_ours) TRY(editor.Remove(DefaultPath(kind, now.version)));
  return editor.text();
}

}  // namespace gpuop::container
