#pragma once
// core/v1 volumes as we write them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuop::operands {

struct HostPath {
  std::string path = {};
  /// "", Directory, DirectoryOrCreate, File …
  std::string type = {};

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("type", type);
  }
  bool operator==(const HostPath&) const = default;
};

struct KeyToPath {
  std::string key = {}, path = {};

  template <class V>
  void Visit(V& v) {
    v("key", key);
    v("path", path);
  }
  bool operator==(const KeyToPath&) const = default;
};

struct ConfigMapSource {
  std::string name = {};
  std::vector<KeyToPath> items = {};
  std::int32_t mode = 0;  ///< 0: the API's 0644

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("items", items);
    v("defaultMode", mode);
  }
  bool operator==(const ConfigMapSource&) const = default;
};

struct SecretSource {
  std::string name = {};
  std::vector<KeyToPath> items = {};

  template <class V>
  void Visit(V& v) {
    v("secretName", name);
    v("items", items);
  }
  bool operator==(const SecretSource&) const = default;
};

struct EmptyDir {
  std::string medium = {}, size_limit = {};

  template <class V>
  void Visit(V& v) {
    v("medium", medium);
    v("sizeLimit", size_limit);
  }
  bool operator==(const EmptyDir&) const = default;
};

/// A volume of exactly one source.
struct Volume {
  std::string name = {};
  std::optional<HostPath> host_path = {};
  std::optional<ConfigMapSource> config_map = {};
  std::optional<SecretSource> secret = {};
  std::optional<EmptyDir> empty_dir = {};

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("hostPath", host_path);
    v("configMap", config_map);
    v("secret", secret);
    v("emptyDir", empty_dir);
  }
  bool operator==(const Volume&) const = default;
};

/// Volumes of one source each.
Volume HostVolume(std::string name, std::string path, std::string type = {});
inline constexpr const char* kDirectory = "Directory";
inline constexpr const char* kDirectoryOrCreate = "DirectoryOrCreate";
Volume ConfigVolume(std::string name, std::string config_map, std::int32_t mode = 0, std::vector<KeyToPath> items = {});
Volume SecretVolume(std::string name, std::string secret, std::vector<KeyToPath> items = {});
Volume EmptyVolume(std::string name);

}  // namespace gpuop::operands
