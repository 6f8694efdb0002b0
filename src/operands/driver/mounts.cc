#include "operands/driver/mounts.h"

#include <algorithm>
#include <array>

#include "operands/references.h"

namespace gpuop::operands::driver {
namespace {

enum class Family { kDebian, kRedHat, kSuse, kOther };

Family FamilyOf(std::string_view os_id) {
  static constexpr std::array kDebian = {"ubuntu", "debian"};
  static constexpr std::array kRedHat = {"centos", "rhel", "rhcos", "rocky", "ol"};
  static constexpr std::array kSuse = {"sles", "sl-micro"};
  const auto is_in = [&](const auto& ids) { return std::ranges::find(ids, os_id) != ids.end(); };
  return is_in(kDebian)   ? Family::kDebian
         : is_in(kRedHat) ? Family::kRedHat
         : is_in(kSuse)   ? Family::kSuse
                          : Family::kOther;
}

const char* RepositoryFolder(Family family) {
  switch (family) {
    case Family::kDebian: return "/etc/apt/sources.list.d";
    case Family::kRedHat: return "/etc/yum.repos.d";
    case Family::kSuse: return "/etc/zypp/repos.d";
    case Family::kOther: break;
  }
  return nullptr;
}

const char* CertificateFolder(Family family) {
  switch (family) {
    case Family::kDebian: return "/usr/local/share/ca-certificates";
    case Family::kRedHat: return "/etc/pki/ca-trust/extracted/pem";
    case Family::kSuse: return "/etc/pki/trust/anchors";
    case Family::kOther: break;
  }
  return nullptr;
}

/// Every key of a ConfigMap as a file in `folder`, beside the files that the image has there.
Result<> AddKeys(const std::string& config_map, const char* volume, const char* folder, const std::string& field,
                 const Facts& facts, PodSpec& pod, Container& container) {
  ASSIGN(std::vector<std::string> keys, KeysOf(config_map, field, facts));
  std::ranges::sort(keys);
  std::vector<KeyToPath> items;
  for (const std::string& key : keys) {
    items.push_back({.key = key, .path = key});
    container.mounts.push_back(
        {.name = volume, .path = std::string(folder) + "/" + key, .read_only = true, .sub_path = key});
  }
  pod.AddVolume(ConfigVolume(volume, config_map, 0, std::move(items)));
  return {};
}

Result<> AddLicences(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container) {
  if (settings.licensing_secret.empty() && settings.licensing_config_map.empty()) return {};
  static constexpr const char* kVolume = "licensing-config";
  static constexpr const char* kToken = "client_configuration_token.tok";
  std::vector<KeyToPath> items = {{.key = "gridd.conf", .path = "gridd.conf"}};
  container.mounts.push_back(
      {.name = kVolume, .path = "/drivers/gridd.conf", .read_only = true, .sub_path = "gridd.conf"});
  if (settings.nls) {
    items.push_back({.key = kToken, .path = kToken});
    container.mounts.push_back({.name = kVolume,
                                .path = std::string("/drivers/ClientConfigToken/") + kToken,
                                .read_only = true,
                                .sub_path = kToken});
  }
  if (!settings.licensing_secret.empty()) {
    TRY(RequireSecret(settings.licensing_secret, settings.field + ".licensingConfig.secretName", facts));
    pod.AddVolume(SecretVolume(kVolume, settings.licensing_secret, std::move(items)));
  } else {
    TRY(KeysOf(settings.licensing_config_map, settings.field + ".licensingConfig", facts));
    pod.AddVolume(ConfigVolume(kVolume, settings.licensing_config_map, 0, std::move(items)));
  }
  return {};
}

Result<> AddTopology(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container) {
  if (settings.virtual_topology.empty()) return {};
  TRY(KeysOf(settings.virtual_topology, settings.field + ".virtualTopology", facts));
  static constexpr const char* kFile = "nvidia-topologyd.conf";
  pod.AddVolume(ConfigVolume("topology-config", settings.virtual_topology, 0, {{.key = kFile, .path = kFile}}));
  container.mounts.push_back(
      {.name = "topology-config", .path = std::string("/etc/nvidia/") + kFile, .read_only = true, .sub_path = kFile});
  return {};
}

struct HostFile {
  const char *host, *mount, *type;
};

/// The host's subscription, with which the container installs packages.
void AddSubscription(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container) {
  static constexpr std::array kRedHat = {
      HostFile{"/etc/pki/entitlement", "/run/secrets/etc-pki-entitlement", kDirectory},
      HostFile{"/etc/yum.repos.d/redhat.repo", "/run/secrets/redhat.repo", "File"},
      HostFile{"/etc/rhsm", "/run/secrets/rhsm", kDirectory}};
  static constexpr std::array kSuse = {HostFile{"/etc/zypp/credentials.d", "/etc/zypp/credentials.d", kDirectory},
                                       HostFile{"/etc/SUSEConnect", "/etc/SUSEConnect", "FileOrCreate"}};
  const bool red_hat = (settings.os_id == "rhel" || settings.os_id == "rhcos") && !facts.openshift.present &&
                       settings.runtime != kCrio && settings.repo_config.empty();
  const auto add = [&](const auto& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string volume = "subscription-config-" + std::to_string(i);
      pod.AddVolume(HostVolume(volume, files[i].host, files[i].type));
      container.mounts.push_back({.name = volume, .path = files[i].mount, .read_only = true});
    }
  };
  if (red_hat) add(kRedHat);
  if (FamilyOf(settings.os_id) == Family::kSuse) add(kSuse);
}

}  // namespace

Result<> AddPackageFiles(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container) {
  if (settings.precompiled) return {};
  const Family family = FamilyOf(settings.os_id);
  const std::string os = settings.os_id + " " + settings.os_version;
  if (!settings.repo_config.empty()) {
    const char* folder = RepositoryFolder(family);
    const std::string field = settings.field + ".repoConfig";
    if (folder == nullptr)
      return Fail(Code::kInvalid, field + ": where " + os + " keeps package repositories is not known");
    TRY(AddKeys(settings.repo_config, "repo-config", folder, field, facts, pod, container));
  }
  if (!settings.cert_config.empty()) {
    const char* folder = CertificateFolder(family);
    const std::string field = settings.field + ".certConfig";
    if (folder == nullptr) return Fail(Code::kInvalid, field + ": where " + os + " keeps certificates is not known");
    TRY(AddKeys(settings.cert_config, "cert-config", folder, field, facts, pod, container));
  }
  return {};
}

Result<> AddModuleParameters(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container) {
  if (settings.kernel_module_config.empty()) return {};
  return AddKeys(settings.kernel_module_config, "kernel-module-config", "/drivers",
                 settings.field + ".kernelModuleConfig.name", facts, pod, container);
}

Result<> AddDriverFiles(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container) {
  TRY(AddLicences(settings, facts, pod, container));
  TRY(AddTopology(settings, facts, pod, container));
  if (!settings.precompiled) AddSubscription(settings, facts, pod, container);
  if (settings.precompiled && FamilyOf(settings.os_id) == Family::kSuse) {
    pod.AddVolume(HostVolume("host-lib-modules", "/lib/modules"));
    container.mounts.push_back({.name = "host-lib-modules", .path = "/run/host/lib/modules", .read_only = true});
  }
  if (facts.openshift.present && !facts.openshift.proxy.trusted_ca.empty()) {
    pod.AddVolume(ConfigVolume("gpu-operator-trusted-ca", "gpu-operator-trusted-ca", 0,
                               {{.key = "ca-bundle.crt", .path = "tls-ca-bundle.pem"}}));
    container.mounts.push_back(
        {.name = "gpu-operator-trusted-ca", .path = "/etc/pki/ca-trust/extracted/pem", .read_only = true});
  }
  return {};
}

}  // namespace gpuop::operands::driver
