// From files to texts.
#include <set>

#include "base/text.h"
#include "container/engine/texts.h"
#include "data/glob.h"

namespace gpuop::container {
namespace {

constexpr std::size_t kMostImports = 256;

/// `prefix` is where we see what the engine calls `path`.
Result<> ReadIfThere(const os::Fs& fs, const std::string& path, EngineTexts& texts, const std::string& prefix = "") {
  auto text = fs.Read(prefix + path);
  if (text)
    texts[path] = *std::move(text);
  else if (text.error().code != Code::kNotFound)
    return std::unexpected(std::move(text).error());
  return {};
}

/// Reads what an engine's files import.
class ImportReader {
 public:
  ImportReader(const os::Fs& fs, const EngineFiles& files, EngineTexts& texts)
      : fs_(fs), files_(files), texts_(texts) {}

  /// Every regular file of a folder whose name `pattern` matches.
  Result<> Folder(const std::string& folder, const std::string& pattern) {
    const auto names = fs_.List(files_.host_root + folder);
    if (!names) return {};
    for (const std::string& name : *names) {
      const std::string path = (folder == "/" ? "" : folder) + "/" + name;
      if (!data::MatchGlob(pattern, name).value_or(false) || texts_.contains(path) || path == files_.drop_in_for_engine)
        continue;
      if (texts_.size() >= kMostImports) return Fail(Code::kTooLarge, folder + ": more than 256 configuration files");
      const auto target = fs_.Resolve(files_.host_root + path);
      const auto info = target ? fs_.Stat(*target) : Result<os::FileInfo>(std::unexpected(target.error()));
      if (info && info->type == os::FileType::kFile) TRY(ReadIfThere(fs_, path, texts_, files_.host_root));
    }
    return {};
  }

  /// What a file imports, and what that imports. A file that is no TOML is found out later.
  Result<> Imports(const std::string& path, const std::string& path_for_engine) {
    if (!done_.insert(path_for_engine).second || !texts_.contains(path)) return {};
    const auto value = data::ParseToml(texts_[path]);
    if (!value) return {};
    const data::JsonArray* imports = data::GetArray(*value, "imports");
    if (imports == nullptr) return {};
    for (const data::Json& item : *imports) {
      if (!item.is_string()) continue;
      const std::string pattern = AbsoluteImport(path_for_engine, std::string(data::AsView(item.get_string())));
      TRY(Folder(os::FolderOf(pattern), pattern.substr(pattern.rfind('/') + 1)));
      for (const std::string& imported : MatchImport(texts_, pattern)) TRY(Imports(imported, imported));
    }
    return {};
  }

 private:
  const os::Fs& fs_;
  const EngineFiles& files_;
  EngineTexts& texts_;
  std::set<std::string> done_;
};

}  // namespace

std::string_view EngineName(EngineKind kind) {
  switch (kind) {
    case EngineKind::kContainerd: return "containerd";
    case EngineKind::kCrio: return "crio";
    case EngineKind::kDocker: break;
  }
  return "docker";
}

std::optional<EngineKind> EngineNamed(std::string_view name) {
  if (name == "containerd") return EngineKind::kContainerd;
  if (name == "crio" || name == "cri-o") return EngineKind::kCrio;
  if (name == "docker") return EngineKind::kDocker;
  return std::nullopt;
}

Result<EngineTexts> ReadEngineTexts(EngineKind kind, const os::Fs& fs, const EngineFiles& files) {
  EngineTexts texts;
  TRY(ReadIfThere(fs, files.config, texts));
  if (!files.drop_in.empty()) TRY(ReadIfThere(fs, files.drop_in, texts));
  ImportReader reader(fs, files, texts);
  if (kind == EngineKind::kContainerd) TRY(reader.Imports(files.config, files.ConfigForEngine()));
  const std::string& drop_in = files.DropInForEngine();
  if (!drop_in.empty() && (kind == EngineKind::kCrio || files.drop_in_is_read))
    TRY(reader.Folder(os::FolderOf(drop_in), kind == EngineKind::kCrio ? "*" : "*.toml"));
  return texts;
}

}  // namespace gpuop::container
