#pragma once
// A volume as far as a node makes it: core/v1 Volume, field by field as the API has it.

#include <optional>
#include <string>
#include <vector>

#include "sim/node/pod/container_wish.h"

namespace gpuop::sim::node {

struct KeyToPath {
  std::string key, path;
  std::optional<std::int32_t> mode;
  template <class V>
  void Visit(V& v) {
    v("key", key);
    v("path", path);
    v("mode", mode);
  }
};

struct HostPathVolume {
  std::string path, type;
  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("type", type);
  }
};

struct EmptyDirVolume {
  std::string medium;
  template <class V>
  void Visit(V& v) {
    v("medium", medium);
  }
};

/// A ConfigMap or a Secret as files. The API calls the Secret's name `secretName` in a volume and `name` in a
/// projection.
struct KeyedVolume {
  std::string name, secret_name;
  std::vector<KeyToPath> items;
  std::int32_t mode = 0644;
  bool optional = false;
  const std::string& object() const { return secret_name.empty() ? name : secret_name; }
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("secretName", secret_name);
    v("items", items);
    v("defaultMode", mode);
    v("optional", optional);
  }
};

struct DownwardFile {
  std::string path;
  std::optional<FieldRef> field;
  std::optional<ResourceFieldRef> resource;
  std::optional<std::int32_t> mode;
  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("fieldRef", field);
    v("resourceFieldRef", resource);
    v("mode", mode);
  }
};

struct DownwardVolume {
  std::vector<DownwardFile> items;
  std::int32_t mode = 0644;
  template <class V>
  void Visit(V& v) {
    v("items", items);
    v("defaultMode", mode);
  }
};

struct TokenProjection {
  std::string audience, path;
  std::int64_t lifetime = 3600;
  template <class V>
  void Visit(V& v) {
    v("audience", audience);
    v("path", path);
    v("expirationSeconds", lifetime);
  }
};

struct Projection {
  std::optional<KeyedVolume> config_map, secret;
  std::optional<DownwardVolume> downward;
  std::optional<TokenProjection> token;
  template <class V>
  void Visit(V& v) {
    v("configMap", config_map);
    v("secret", secret);
    v("downwardAPI", downward);
    v("serviceAccountToken", token);
  }
};

struct ProjectedVolume {
  std::vector<Projection> sources;
  std::int32_t mode = 0644;
  template <class V>
  void Visit(V& v) {
    v("sources", sources);
    v("defaultMode", mode);
  }
};

struct Volume {
  std::string name;
  std::optional<HostPathVolume> host_path;
  std::optional<EmptyDirVolume> empty_dir;
  std::optional<KeyedVolume> config_map, secret;
  std::optional<DownwardVolume> downward;
  std::optional<ProjectedVolume> projected;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("hostPath", host_path);
    v("emptyDir", empty_dir);
    v("configMap", config_map);
    v("secret", secret);
    v("downwardAPI", downward);
    v("projected", projected);
  }
};

}  // namespace gpuop::sim::node
