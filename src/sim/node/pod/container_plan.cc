#include "sim/node/pod/container_plan.h"

#include "base/text.h"
#include "data/writer.h"
#include "sim/node/pod/capabilities.h"

namespace gpuop::sim::node {
namespace {

using data::Json;
using data::JsonArray;
using data::JsonObject;

template <class T>
T Or(const std::optional<T>& first, const std::optional<T>& second, T otherwise) {
  return first ? *first : second ? *second : otherwise;
}

std::map<std::string, std::string> AsMap(const std::vector<std::string>& env) {
  std::map<std::string, std::string> out;
  for (const std::string& entry : env)
    if (const auto parts = Cut(entry, '=')) out[std::string(parts->first)] = parts->second;
  return out;
}

JsonArray Texts(const std::vector<std::string>& texts) {
  JsonArray out;
  for (const std::string& t : texts) out.emplace_back(t);
  return out;
}

/// command and args as the API defines them beside entrypoint and command of the image.
std::vector<std::string> PlanCommand(const ContainerWish& wish, const Image& image,
                                     const std::map<std::string, std::string>& env) {
  std::vector<std::string> argv = wish.command.empty() ? image.entrypoint : wish.command;
  const bool own = !wish.command.empty() || !wish.args.empty();
  const std::vector<std::string>& args = own ? wish.args : image.command;
  argv.insert(argv.end(), args.begin(), args.end());
  // Only what the Pod says is expanded.
  if (own)
    for (std::string& arg : argv) arg = Expand(arg, env);
  return argv;
}

struct ImageUser {
  std::int64_t uid = 0, gid = 0;
};
/// "1000", "1000:1000"; names that are no numbers count as root.
ImageUser ReadImageUser(std::string_view text) {
  const auto parts = Cut(text, ':');
  ImageUser out;
  out.uid = ParseInt(parts ? parts->first : text).value_or(0);
  out.gid = parts ? ParseInt(parts->second).value_or(0) : 0;
  return out;
}

Result<JsonObject> PlanUser(const ContainerParts& p) {
  const SecurityContext &own = p.wish.security, &pod = p.pod.spec.security;
  const ImageUser image = ReadImageUser(p.image.user);
  const std::int64_t uid = Or(own.user, pod.user, image.uid);
  if (Or(own.non_root, pod.non_root, false) && uid == 0) {
    const bool said = own.user || pod.user;
    return Fail(Code::kForbidden, said ? "container's runAsUser breaks non-root policy (pod: \"" + p.pod.meta.name +
                                             "_" + std::string(p.pod.meta.ns.view()) + "(" + p.pod.meta.uid +
                                             ")\", container: " + p.wish.name + ")"
                                       : "container has runAsNonRoot and image will run as root (pod: \"" +
                                             p.pod.meta.name + "_" + std::string(p.pod.meta.ns.view()) + "(" +
                                             p.pod.meta.uid + ")\", container: " + p.wish.name + ")");
  }
  JsonArray groups;
  for (const std::int64_t g : pod.groups) groups.emplace_back(g);
  if (pod.fs_group) groups.emplace_back(*pod.fs_group);
  // An engine looks up the group of a user who is named by number alone; the image's group is its own user's.
  const std::int64_t gid = Or(own.group, pod.group, own.user || pod.user ? 0 : image.gid);
  return JsonObject{{"uid", uid}, {"gid", gid}, {"additionalGids", std::move(groups)}};
}

std::uint64_t PlanCapabilities(const SecurityContext& s) {
  if (s.privileged.value_or(false)) return AllCapabilities();
  std::uint64_t bits = DefaultCapabilities();
  for (const std::string& name : s.capabilities.drop) bits &= name == "ALL" ? 0 : ~CapabilityBit(name);
  for (const std::string& name : s.capabilities.add) bits |= name == "ALL" ? AllCapabilities() : CapabilityBit(name);
  return bits;
}

JsonObject MountJson(const MountSpec& m) {
  return {{"destination", m.target}, {"type", m.type}, {"source", m.source}, {"options", Texts(m.options)}};
}

/// What every container has mounted.
std::vector<MountSpec> BaseMounts(const PodWish& pod, bool privileged) {
  return {{"/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}},
          {"/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}},
          {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
          {"/sys", "bind", "/sys", {"rbind", privileged ? "rw" : "ro", "nosuid", "noexec", "nodev"}},
          {"/etc/hosts", "bind", PodFolder(pod.meta.uid) + "/etc-hosts", {"rbind", "rprivate", "rw"}},
          {"/etc/hostname", "bind", PodFolder(pod.meta.uid) + "/hostname", {"rbind", "rprivate", "rw"}},
          {"/etc/resolv.conf", "bind", PodFolder(pod.meta.uid) + "/resolv.conf", {"rbind", "rprivate", "rw"}}};
}

std::string_view Propagation(std::string_view mode) {
  if (mode == "HostToContainer") return "rslave";
  if (mode == "Bidirectional") return "rshared";
  return "rprivate";
}

std::vector<MountSpec> DeviceMounts(const DeviceOptions& devices) {
  std::vector<MountSpec> out;
  for (const DeviceOptions::Mount& m : devices.mounts)
    out.push_back({m.container_path, "bind", m.host_path, {"rbind", "rprivate", m.read_only ? "ro" : "rw"}});
  return out;
}

JsonArray Namespaces(const PodWishSpec& pod) {
  JsonArray out{JsonObject{{"type", "mount"}}};
  if (!pod.host_pid) out.push_back(JsonObject{{"type", "pid"}});
  if (!pod.host_network) out.push_back(JsonObject{{"type", "network"}});
  if (!pod.host_ipc) out.push_back(JsonObject{{"type", "ipc"}});
  return out;
}

std::vector<std::string> ReadTexts(const Json& root, std::string_view path) {
  std::vector<std::string> out;
  if (const JsonArray* array = data::GetArray(root, path))
    for (const Json& item : *array)
      if (const auto* text = item.if_string()) out.emplace_back(data::AsView(*text));
  return out;
}

void ReadHooks(const Json& oci, ContainerSpec& out) {
  const JsonObject* hooks = data::GetObject(oci, "hooks");
  if (hooks == nullptr) return;
  for (const auto& stage : *hooks) {
    const JsonArray* list = stage.value().if_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Json& h = (*list)[i];
      out.hooks.push_back({std::string(stage.key()), std::string(data::StringOr(h, "path")), ReadTexts(h, "args"),
                           ReadTexts(h, "env"), data::IntOr(h, "timeout")});
    }
  }
}

}  // namespace

std::string TerminationFile(const std::string& uid, std::string_view container, int attempt) {
  return PodFolder(uid) + "/containers/" + std::string(container) + "/" + std::to_string(attempt);
}

std::string LogPath(const PodWish& pod, std::string_view container, int attempt) {
  return "/var/log/pods/" + std::string(pod.meta.ns.view()) + "_" + pod.meta.name + "_" + pod.meta.uid + "/" +
         std::string(container) + "/" + std::to_string(attempt) + ".log";
}

std::string MountTarget(const VolumeMount& mount) {
  return mount.path.starts_with('/') ? mount.path : "/" + mount.path;
}

Result<std::vector<MountSpec>> PlanMounts(const PodWish& pod, const ContainerWish& wish,
                                          const std::map<std::string, std::string>& env) {
  std::vector<MountSpec> out;
  for (const VolumeMount& m : wish.mounts) {
    const auto volume = std::ranges::find(pod.spec.volumes, m.name, &Volume::name);
    if (volume == pod.spec.volumes.end())
      return Fail(Code::kInvalid,
                  "cannot find volume " + Quote(m.name) + " to mount into container " + Quote(wish.name));
    ASSIGN(std::string source, VolumePath(pod, *volume));
    std::string sub = m.sub_path;
    if (!m.sub_path_expr.empty()) sub = Expand(m.sub_path_expr, env);
    if (sub.starts_with('/')) return Fail(Code::kInvalid, "error SubPath `" + sub + "` must not be an absolute path");
    for (const std::string_view part : Split(sub, '/'))
      if (part == "..") return Fail(Code::kInvalid, "unable to provision SubPath `" + sub + "`: must not contain '..'");
    if (!sub.empty()) source += "/" + sub;
    out.push_back({MountTarget(m),
                   "bind",
                   std::move(source),
                   {"rbind", std::string(Propagation(m.propagation)), m.read_only ? "ro" : "rw"}});
  }
  return out;
}

Result<Json> PlanOci(const ContainerParts& p, const Sources& sources, int attempt) {
  std::vector<std::string> image_env;
  for (const auto& [name, value] : p.image.env) image_env.push_back(name + "=" + value);
  ASSIGN(std::vector<std::string> env, PlanEnv(p.pod, p.wish, p.facts, sources, image_env));
  const auto values = AsMap(env);
  for (const auto& [name, value] : p.devices.env) env.push_back(name + "=" + value);
  ASSIGN(const auto volumes, PlanMounts(p.pod, p.wish, values));
  ASSIGN(JsonObject user, PlanUser(p));
  const std::vector<std::string> argv = PlanCommand(p.wish, p.image, values);
  if (argv.empty()) return Fail(Code::kInvalid, "no command specified");
  const bool privileged = p.wish.security.privileged.value_or(false);
  std::vector<MountSpec> all = BaseMounts(p.pod, privileged);
  for (const auto& list : {volumes, DeviceMounts(p.devices)})
    for (const MountSpec& m : list) {
      // Whoever mounts something of his own there wants that.
      std::erase_if(all, [&](const MountSpec& have) { return have.target == m.target; });
      all.push_back(m);
    }
  const std::string last_words = p.wish.termination_path.empty() ? "/dev/termination-log" : p.wish.termination_path;
  all.push_back(
      {last_words, "bind", TerminationFile(p.pod.meta.uid, p.wish.name, attempt), {"rbind", "rprivate", "rw"}});
  JsonArray mounts;
  for (const MountSpec& m : all) mounts.push_back(MountJson(m));
  const JsonArray caps = Texts(CapabilityNames(PlanCapabilities(p.wish.security)));
  JsonObject annotations{{"io.kubernetes.cri.container-name", p.wish.name},
                         {"io.kubernetes.cri.container-type", "container"},
                         {"io.kubernetes.cri.sandbox-name", p.pod.meta.name},
                         {"io.kubernetes.cri.sandbox-namespace", p.pod.meta.ns.view()},
                         {"io.kubernetes.cri.sandbox-uid", p.pod.meta.uid}};
  for (const auto& [key, value] : p.devices.annotations) annotations[key] = value;
  const std::string cwd = !p.wish.working_dir.empty() ? p.wish.working_dir : p.image.working_dir;
  return JsonObject{
      {"ociVersion", "1.2.0"},
      {"process", JsonObject{{"terminal", p.wish.tty},
                             {"user", std::move(user)},
                             {"args", Texts(argv)},
                             {"env", Texts(env)},
                             {"cwd", cwd.empty() ? "/" : cwd},
                             {"capabilities", JsonObject{{"bounding", caps}, {"effective", caps}, {"permitted", caps}}},
                             {"noNewPrivileges", !p.wish.security.escalation.value_or(true)}}},
      {"root", JsonObject{{"path", "/.stage/rootfs"}, {"readonly", p.wish.security.read_only_root.value_or(false)}}},
      {"hostname", p.pod.spec.hostname.empty() ? p.pod.meta.name : p.pod.spec.hostname},
      {"mounts", std::move(mounts)},
      {"annotations", std::move(annotations)},
      {"linux", JsonObject{{"namespaces", Namespaces(p.pod.spec)}, {"devices", JsonArray()}}}};
}

Result<ContainerSpec> ReadOci(const Json& oci, const NodeSources& nodes) {
  ContainerSpec out;
  out.process.argv = ReadTexts(oci, "process.args");
  out.process.env = ReadTexts(oci, "process.env");
  out.process.folder = data::StringOr(oci, "process.cwd", "/");
  UserSpec& user = out.process.user;
  user.uid = static_cast<std::uint32_t>(data::IntOr(oci, "process.user.uid"));
  user.gid = static_cast<std::uint32_t>(data::IntOr(oci, "process.user.gid"));
  if (const JsonArray* groups = data::GetArray(oci, "process.user.additionalGids"))
    for (const Json& g : *groups)
      if (g.is_int64()) user.groups.push_back(static_cast<std::uint32_t>(g.get_int64()));
  for (const std::string& name : ReadTexts(oci, "process.capabilities.bounding"))
    user.capabilities |= CapabilityBit(name);
  user.no_new_privileges = data::BoolOr(oci, "process.noNewPrivileges");
  out.read_only_root = data::BoolOr(oci, "root.readonly");
  if (const JsonArray* mounts = data::GetArray(oci, "mounts"))
    for (const Json& m : *mounts) {
      MountSpec spec{std::string(data::StringOr(m, "destination")), std::string(data::StringOr(m, "type")),
                     std::string(data::StringOr(m, "source")), ReadTexts(m, "options")};
      const bool bind =
          std::ranges::any_of(spec.options, [](const std::string& o) { return o == "bind" || o == "rbind"; });
      if (bind) spec.type = "bind";
      out.mounts.push_back(std::move(spec));
    }
  if (const JsonArray* devices = data::GetArray(oci, "linux.devices"))
    for (const Json& d : *devices) {
      const std::string path(data::StringOr(d, "path"));
      const auto source = nodes.find({data::IntOr(d, "major"), data::IntOr(d, "minor")});
      out.devices.push_back({path, source == nodes.end() ? path : source->second});
    }
  ReadHooks(oci, out);
  out.oci = data::ToJson(oci);
  return out;
}

}  // namespace gpuop::sim::node
