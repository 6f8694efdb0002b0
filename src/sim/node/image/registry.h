#pragma once
// The images that simulated machines can pull: a small YAML file instead of a registry.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/node/engine/messages.h"

namespace gpuop::sim::node {

/// One image. In the file:
///
///   images:
///   - name: registry.example.com/tools:*      # * stands for anything; the name as written, or in full
///     architectures: [amd64, arm64]           # several: an index; one: a single manifest; none: any
///     folder: rootfs                          # a root file system, beside the registry file; or
///     tar: rootfs.tar                         # the same as an archive; or
///     program: true                           # this program under all its names; or none of these: the machine's
///                                             # own programs (/bin/sh and the like)
///     entrypoint: [/bin/app]
///     command: [--flag]
///     env: {NAME: value}
///     user: "1000:1000"
///     workingDir: /srv
///     labels: {org.opencontainers.image.version: "1"}
struct Image {
  std::string name, folder, tar, user, working_dir;
  std::vector<std::string> architectures, entrypoint, command;
  std::map<std::string, std::string> env, labels;
  bool program = false;

  /// The root file system for containers; `names` are this program's own.
  RootSpec Root(const std::string& program_path, const std::vector<std::string>& names) const;
  /// "sha256:…", from what the image is.
  std::string Digest() const;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.required = true});
    v("architectures", architectures);
    v("folder", folder);
    v("tar", tar);
    v("program", program);
    v("entrypoint", entrypoint);
    v("command", command);
    v("env", env);
    v("user", user);
    v("workingDir", working_dir);
    v("labels", labels);
  }
};

/// What pulling an image gave.
struct Pulled {
  const Image* image = nullptr;
  /// It is a single manifest of another architecture: it pulls, and its programs do not run.
  bool wrong_architecture = false;
};

/// Immutable.
class Registry {
 public:
  /// What is there without a file: this program as any image called gpu-operator, and `shell` with the machine's
  /// programs.
  Registry();
  /// Reads the file and unpacks its archives into `scratch`. Its images come before those that are always there.
  static Result<Registry> Read(const std::string& path, const std::string& scratch);

  /// Errors in the words of containerd 2, as they stand behind "Failed to pull image".
  Result<Pulled> Pull(std::string_view name, std::string_view architecture) const;

 private:
  std::vector<Image> images_;
};

/// "busybox" is "docker.io/library/busybox:latest". kInvalid for what is no reference.
Result<std::string> FullImageName(std::string_view name);

}  // namespace gpuop::sim::node
