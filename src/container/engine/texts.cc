#include "container/engine/texts.h"

#include "data/glob.h"
#include "data/toml_editor.h"

namespace gpuop::container {

std::string CriPlugin(std::int64_t version) {
  if (version <= 1) return "cri";
  return version == 2 ? "io.containerd.grpc.v1.cri" : "io.containerd.cri.v1.runtime";
}

data::TomlPath CriPath(std::int64_t version, std::initializer_list<std::string> more) {
  data::TomlPath path{"plugins", CriPlugin(version)};
  path.insert(path.end(), more);
  return path;
}

bool IsTemplate(std::string_view text) { return text.contains("{{"); }

Result<data::Json> ParseEngineToml(const std::string& path, std::string_view text) {
  auto value = data::ParseToml(text);
  if (value) return value;
  if (IsTemplate(text))
    return Fail(Code::kUnsupported, path +
                                        " is a template, not a configuration: give the file that the engine reads, "
                                        "or a drop-in folder that it imports");
  return std::unexpected(std::move(value).error().During(path));
}

void MergeTables(data::JsonObject& into, const data::JsonObject& from) {
  for (const auto& member : from) {
    data::Json& place = into[member.key()];
    if (place.is_object() && member.value().is_object())
      MergeTables(place.get_object(), member.value().get_object());
    else
      place = member.value();
  }
}

const data::JsonObject* FindTable(const data::Json& root, const data::TomlPath& path) {
  const data::Json* found = data::FindToml(root, path);
  return found == nullptr ? nullptr : found->if_object();
}

std::string FindText(const data::Json& root, const data::TomlPath& path) {
  const data::Json* found = data::FindToml(root, path);
  return found != nullptr && found->is_string() ? std::string(data::AsView(found->get_string())) : std::string();
}

std::string AbsoluteImport(const std::string& importer, const std::string& import) {
  if (import.starts_with('/')) return import;
  const std::string folder = os::FolderOf(importer);
  return (folder == "/" ? "" : folder) + "/" + import;
}

std::vector<std::string> MatchImport(const EngineTexts& texts, const std::string& pattern) {
  const std::string folder = os::FolderOf(pattern), name = pattern.substr(pattern.rfind('/') + 1);
  std::vector<std::string> out;
  for (const auto& [path, text] : texts) {
    const bool beside = os::FolderOf(path) == folder;
    if (path == pattern || (beside && data::MatchGlob(name, path.substr(path.rfind('/') + 1)).value_or(false)))
      out.push_back(path);
  }
  return out;
}

}  // namespace gpuop::container
