// CUDA forward compatibility: whether the image's newer libcuda may serve on the host's driver.
#include "base/text.h"
#include "container/elf/elf.h"
#include "container/hooks/hooks.h"
#include "container/version.h"
#include "data/glob.h"
#include "data/json.h"

namespace gpuop::container {
namespace {

/// What the library says of itself in its note.
struct Note {
  std::string cuda;
  std::vector<std::uint64_t> drivers;
};

std::string TextOf(const data::Json& value) {
  return value.is_string() ? std::string(data::AsView(value.get_string())) : data::ToJson(value);
}

std::optional<Note> ReadNote(const os::Fs& root, const std::string& path) {
  const auto text = ElfNote(PartsOf(root, path), ".note.cuda.fwd_compatibility", "NVIDIA Corporation");
  if (!text || !*text) return std::nullopt;
  const auto value = data::ParseJson(Trim(**text));
  if (!value || !value->is_object()) return std::nullopt;
  Note note;
  for (const auto& member : value->get_object()) {
    const std::string key = ToLower(member.key());
    if (key.starts_with("cuda")) note.cuda = TextOf(member.value());
    if (key.starts_with("driver") && member.value().is_array())
      for (const data::Json& item : member.value().get_array())
        if (const auto major = ParseVersion(TextOf(item)); major && !major->empty())
          note.drivers.push_back((*major)[0]);
  }
  return note;
}

bool Suits(const std::optional<Note>& note, const Version& compat, const CompatRequest& request) {
  const auto driver = ParseVersion(request.host_driver_version);
  if (!note) return request.host_cuda_version.empty() && driver && compat[0] > (*driver)[0];
  if (driver) {
    for (const std::uint64_t major : note->drivers)
      if (major == (*driver)[0]) return CompareVersions(compat, *driver) > 0;
    return false;
  }
  const auto ours = ParseVersion(note->cuda), host = ParseVersion(request.host_cuda_version);
  return ours && host && CompareVersions(*ours, *host) > 0;
}

}  // namespace

Result<std::string> FindCudaCompat(const os::Fs& root, const CompatRequest& request) {
  if (request.host_driver_version.empty() && request.host_cuda_version.empty()) return std::string();
  const std::string folder = request.folder.empty() ? "/usr/local/cuda/compat" : request.folder;
  std::vector<std::string> found;
  for (const std::string& name : root.List(folder).value_or(std::vector<std::string>()))
    if (data::MatchGlob("libcuda.so.*.*", name).value_or(false)) found.push_back(name);
  if (found.size() != 1) return std::string();
  const auto compat = ParseVersion(std::string_view(found[0]).substr(std::string_view("libcuda.so.").size()));
  if (!compat) return std::string();
  ASSIGN(const std::string path, root.Resolve(folder + "/" + found[0]));
  if (!Suits(ReadNote(root, path), *compat, request)) return std::string();
  return root.Resolve(folder);
}

Result<> EnableCudaCompat(os::Fs& root, const CompatRequest& request) {
  ASSIGN(const std::string folder, FindCudaCompat(root, request));
  if (folder.empty()) return {};
  if (FindControl(folder) != std::string::npos)
    return Fail(Code::kInvalid, "the compatibility folder's path holds a control character");
  TRY(os::MakeFolders(root, "/etc/ld.so.conf.d"));
  // Sorts before the file of the driver's own folders.
  return root.WriteAtomic("/etc/ld.so.conf.d/00-compat-gpu.conf", folder + "\n");
}

}  // namespace gpuop::container
