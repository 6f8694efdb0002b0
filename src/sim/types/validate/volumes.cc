#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using Names = std::set<std::string, std::less<>>;

namespace {

bool HasBackSteps(std::string_view path) {
  const auto parts = Split(path, '/');
  return std::ranges::find(parts, std::string_view("..")) != parts.end();
}

void CheckMode(Findings& out, const Object& holder, const char* name, const Path& at) {
  if (const auto mode = NumberAt(holder, name); mode && (*mode < 0 || *mode > 0777))
    out.Invalid(at.Child(name), *mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

/// Files made of keys: of a ConfigMap or a Secret.
void CheckItems(Findings& out, const Object& source, const Path& at) {
  CheckMode(out, source, "defaultMode", at);
  std::size_t i = 0;
  const Path list = at.Child("items");
  EachAt(source, "items", [&](const Object& item) {
    const Path here = list.Index(i++);
    const std::string_view path = TextAt(item, "path");
    if (TextAt(item, "key").empty()) out.Required(here.Child("key"));
    if (path.empty())
      out.Required(here.Child("path"));
    else if (path.starts_with('/'))
      out.Invalid(here.Child("path"), path, "must be a relative path");
    else if (HasBackSteps(path))
      out.Invalid(here.Child("path"), path, "must not contain '..'");
    CheckMode(out, item, "mode", here);
  });
}

void NeedsName(Findings& out, const Object& source, const char* field, const Path& at) {
  if (TextAt(source, field).empty()) out.Required(at.Child(field));
}

void CheckHostPath(Findings& out, const Object& source, const Path& at) {
  const std::string_view path = TextAt(source, "path");
  if (path.empty()) return out.Required(at.Child("path"));
  if (HasBackSteps(path)) out.Invalid(at.Child("path"), path, "must not contain '..'");
  out.OneOf(at.Child("type"), TextAt(source, "type"),
            {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"});
}

void CheckProjected(Findings& out, const Object& source, const Path& at) {
  CheckMode(out, source, "defaultMode", at);
  std::size_t i = 0;
  const Path list = at.Child("sources");
  EachAt(source, "sources", [&](const Object& part) {
    const Path here = list.Index(i++);
    if (const Object* token = ObjectAt(part, "serviceAccountToken"))
      NeedsName(out, *token, "path", here.Child("serviceAccountToken"));
    for (const char* keyed : {"configMap", "secret"})
      if (const Object* files = ObjectAt(part, keyed)) {
        NeedsName(out, *files, "name", here.Child(keyed));
        CheckItems(out, *files, here.Child(keyed));
      }
  });
}

void CheckSource(Findings& out, std::string_view kind, const Object& source, const Path& at) {
  if (kind == "hostPath") CheckHostPath(out, source, at);
  if (kind == "configMap") NeedsName(out, source, "name", at);
  if (kind == "secret") NeedsName(out, source, "secretName", at);
  if (kind == "configMap" || kind == "secret") CheckItems(out, source, at);
  if (kind == "persistentVolumeClaim") NeedsName(out, source, "claimName", at);
  if (kind == "nfs") {
    NeedsName(out, source, "server", at);
    NeedsName(out, source, "path", at);
  }
  if (kind == "csi") NeedsName(out, source, "driver", at);
  if (kind == "projected") CheckProjected(out, source, at);
}

void CheckSources(Findings& out, const Object& volume, const Path& at) {
  std::vector<std::string> kinds;
  for (const auto& [kind, source] : volume)
    if (source.is_object()) kinds.emplace_back(kind);
  // In the order in which the server looks at them.
  std::ranges::sort(kinds, {}, [](const std::string& kind) {
    return kind == "emptyDir" ? "0" : kind == "hostPath" ? "1" : kind;
  });
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0)
      out.Forbidden(at.Child(kinds[i]), "may not specify more than 1 volume type");
    else
      CheckSource(out, kinds[i], volume.at(kinds[i]).get_object(), at.Child(kinds[i]));
  }
  if (kinds.empty()) out.Required(at, "must specify a volume type");
}

}  // namespace

Names CheckVolumes(Findings& out, const Object& spec, const Path& at) {
  Names names;
  std::size_t i = 0;
  EachAt(spec, "volumes", [&](const Object& volume) {
    const Path here = at.Index(i++);
    const std::size_t before = out.errors.size();
    CheckSources(out, volume, here);
    const std::string_view name = TextAt(volume, "name");
    if (name.empty())
      out.Required(here.Child("name"));
    else
      out.Messages(here.Child("name"), name, data::CheckDnsLabel(name));
    if (names.contains(name)) out.Duplicate(here.Child("name"), name);
    if (out.errors.size() == before) names.emplace(name);
  });
  return names;
}

}  // namespace gpuop::sim::types
