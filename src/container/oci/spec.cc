#include "container/oci/spec.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace gpuop::container {
namespace {

using data::Json;
using data::JsonArray;
using data::JsonObject;

std::unexpected<Error> WrongType(std::string_view path, std::string_view expected, const Json& got) {
  return Fail(Code::kInvalid, "config.json: " + std::string(path) + ": expected " + std::string(expected) + ", got " +
                                  std::string(data::KindName(got)));
}

/// The member at a dotted path; what is absent or null on the way becomes an object.
Result<Json*> Member(Json& oci, std::string_view path) {
  Json* at = &oci;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (at->is_null()) at->emplace_object();
    JsonObject* object = at->if_object();
    if (object == nullptr) return WrongType(path.substr(0, begin == 0 ? 0 : begin - 1), "an object", *at);
    at = &(*object)[path.substr(begin, end - begin)];
    begin = end + 1;
  }
  return at;
}

std::string_view NameOf(std::string_view entry) { return entry.substr(0, entry.find('=')); }

bool HasString(const Json& item, std::string_view member, std::string_view value) {
  const JsonObject* object = item.if_object();
  const Json* found = object == nullptr ? nullptr : object->if_contains(member);
  return found != nullptr && found->is_string() && data::AsView(found->get_string()) == value;
}

bool MapsIds(const Json& oci) {
  const JsonArray* mappings = data::GetArray(oci, "linux.uidMappings");
  const JsonArray* namespaces = data::GetArray(oci, "linux.namespaces");
  if (mappings == nullptr || mappings->empty() || namespaces == nullptr) return false;
  return std::ranges::any_of(*namespaces, [](const Json& ns) { return HasString(ns, "type", "user"); });
}

std::size_t Depth(std::string_view path) {
  std::size_t depth = 0;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..")
      depth -= depth > 0 ? 1U : 0U;
    else
      ++depth;
  }
  return depth;
}

JsonArray Strings(const std::vector<std::string>& items) {
  JsonArray out;
  for (const std::string& item : items) out.emplace_back(item);
  return out;
}

void Replace(JsonArray& list, std::string_view key, std::string_view value, JsonObject item) {
  const auto same = [&](const Json& old) { return HasString(old, key, value); };
  if (auto* at = std::ranges::find_if(list, same); at != list.end())
    *at = std::move(item);
  else
    list.push_back(std::move(item));
}

}  // namespace

Result<JsonObject*> OciObject(Json& oci, std::string_view path) {
  ASSIGN(Json * member, Member(oci, path));
  if (member->is_null()) member->emplace_object();
  if (JsonObject* object = member->if_object()) return object;
  return WrongType(path, "an object", *member);
}

Result<JsonArray*> OciArray(Json& oci, std::string_view path) {
  ASSIGN(Json * member, Member(oci, path));
  if (member->is_null()) member->emplace_array();
  if (JsonArray* array = member->if_array()) return array;
  return WrongType(path, "an array", *member);
}

std::optional<std::string> OciEnv(const Json& oci, std::string_view name) {
  std::optional<std::string> value;
  const JsonArray* env = data::GetArray(oci, "process.env");
  if (env == nullptr) return value;
  for (const Json& item : *env) {
    if (!item.is_string()) continue;
    const std::string_view entry = data::AsView(item.get_string());
    if (const auto parts = Cut(entry, '='); parts && parts->first == name) value = std::string(parts->second);
  }
  return value;
}

Result<> SetOciEnv(Json& oci, std::string_view entry) {
  ASSIGN(JsonArray * env, OciArray(oci, "process.env"));
  const auto same = [&](const Json& item) {
    return item.is_string() && NameOf(data::AsView(item.get_string())) == NameOf(entry);
  };
  auto* first = std::ranges::find_if(*env, same);
  if (first == env->end()) {
    env->emplace_back(entry);
    return {};
  }
  *first = entry;
  env->erase(std::remove_if(first + 1, env->end(), same), env->end());
  return {};
}

Result<> PutOciDevice(Json& oci, const OciDevice& device) {
  ASSIGN(JsonArray * devices, OciArray(oci, "linux.devices"));
  JsonObject item{{"path", device.path}, {"type", device.type}};
  if (device.type != "p") {
    item["major"] = device.major;
    item["minor"] = device.minor;
  }
  if (device.file_mode) item["fileMode"] = *device.file_mode;
  if (device.uid) item["uid"] = *device.uid;
  if (device.gid) item["gid"] = *device.gid;
  Replace(*devices, "path", device.path, std::move(item));
  return {};
}

Result<> AllowOciDevice(Json& oci, std::string_view type, std::int64_t major, std::int64_t minor,
                        std::string_view access) {
  ASSIGN(JsonArray * rules, OciArray(oci, "linux.resources.devices"));
  Json rule = JsonObject{{"allow", true}, {"type", type}, {"major", major}, {"minor", minor}, {"access", access}};
  if (std::ranges::none_of(*rules, [&](const Json& old) { return data::JsonEqual(old, rule); }))
    rules->push_back(std::move(rule));
  return {};
}

Result<> PutOciMount(Json& oci, const OciMount& mount) {
  std::vector<std::string> options = mount.options;
  const auto has = [&](std::string_view option) { return std::ranges::find(options, option) != options.end(); };
  if (MapsIds(oci) && !has("idmap") && !has("ridmap")) {
    if (has("rbind"))
      options.emplace_back("ridmap");
    else if (has("bind") || mount.type == "bind")
      options.emplace_back("idmap");
  }
  JsonObject item{{"destination", mount.destination}};
  if (!mount.type.empty()) item["type"] = mount.type;
  item["source"] = mount.source;
  if (!options.empty()) item["options"] = Strings(options);
  ASSIGN(JsonArray * mounts, OciArray(oci, "mounts"));
  const auto same = [&](const Json& old) { return HasString(old, "destination", mount.destination); };
  mounts->erase(std::remove_if(mounts->begin(), mounts->end(), same), mounts->end());
  mounts->push_back(std::move(item));
  return {};
}

Result<> SortOciMounts(Json& oci) {
  ASSIGN(JsonArray * mounts, OciArray(oci, "mounts"));
  std::multimap<std::size_t, Json> by_depth;  // equals keep their order
  for (Json& mount : *mounts) {
    const std::size_t depth = Depth(data::StringOr(mount, "destination"));
    by_depth.emplace(depth, std::move(mount));
  }
  mounts->clear();
  for (auto& [depth, mount] : by_depth) mounts->push_back(std::move(mount));
  return {};
}

Result<> AddOciHook(Json& oci, std::string_view stage, const OciHook& hook) {
  ASSIGN(JsonArray * hooks, OciArray(oci, "hooks." + std::string(stage)));
  JsonObject item{{"path", hook.path}};
  if (!hook.args.empty()) item["args"] = Strings(hook.args);
  if (!hook.env.empty()) item["env"] = Strings(hook.env);
  if (hook.timeout) item["timeout"] = *hook.timeout;
  hooks->push_back(std::move(item));
  return {};
}

Result<> AddOciGid(Json& oci, std::uint32_t gid) {
  if (gid == 0) return {};
  ASSIGN(JsonArray * gids, OciArray(oci, "process.user.additionalGids"));
  const Json wanted(static_cast<std::int64_t>(gid));
  if (std::ranges::none_of(*gids, [&](const Json& old) { return data::JsonEqual(old, wanted); }))
    gids->push_back(wanted);
  return {};
}

}  // namespace gpuop::container
