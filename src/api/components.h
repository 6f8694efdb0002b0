#pragma once
// What the operands' settings have in common, described once. Field names, defaults and limits are those of NVIDIA's
// custom resources (nvidia.com/v1 and v1alpha1).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/field.h"
#include "data/quantity.h"

namespace gpuop::api {

/// A literal environment variable of a container.
struct EnvVar {
  std::string name, value;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of the variable.", .required = true});
    v("value", value, {.description = "Its value; empty when left out."});
  }
  bool operator==(const EnvVar&) const = default;
};

/// Where a container image comes from. Which of the fields must be set together says operands/image.h.
struct ImageSource {
  std::string repository, image, version, pull_policy;
  std::vector<std::string> pull_secrets;

  /// Whether the policy says nothing about the image, so that the operator's own choice holds.
  bool unset() const { return repository.empty() && image.empty() && version.empty(); }

  template <class V>
  void Visit(V& v) {
    v("repository", repository, {.description = "Registry and path that the image is pulled from."});
    v("image", image,
      {.description = "Name of the image below the repository; or, with neither repository nor version, a whole image "
                      "reference.",
       .pattern = R"([a-zA-Z0-9\-]+)"});
    v("version", version, {.description = "Tag of the image, or its digest (sha256:…)."});
    v("imagePullPolicy", pull_policy,
      {.description = "When the kubelet pulls the image: Always, IfNotPresent (the default) or Never."});
    v("imagePullSecrets", pull_secrets,
      {.description = "Names of Secrets in the operator's namespace that hold registry credentials."});
  }
  bool operator==(const ImageSource&) const = default;
};

/// Compute resources of a container.
struct Resources {
  std::map<std::string, data::Quantity> limits, requests;

  bool empty() const { return limits.empty() && requests.empty(); }

  template <class V>
  void Visit(V& v) {
    v("limits", limits, {.description = "The most that the container may use, by resource name."});
    v("requests", requests, {.description = "What is set aside for the container, by resource name."});
  }
  bool operator==(const Resources&) const = default;
};

/// The fields that nearly every operand has, but for its switch.
struct Container : ImageSource {
  std::optional<Resources> resources;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
  std::optional<bool> host_network;

  template <class V>
  void Visit(V& v) {
    ImageSource::Visit(v);
    v("resources", resources, {.description = "Compute resources of the operand's containers."});
    v("args", args, {.description = "Arguments that replace those of the operand's main container."});
    v("env", env,
      {.description = "Environment variables of the operand's main container; they replace the operator's own of the "
                      "same name."});
    v("hostNetwork", host_network, {.description = "Whether the operand's Pods share the node's network."});
  }
  bool operator==(const Container&) const = default;
};

/// An operand that can be switched on and off. What an absent switch means is each operand's own: see IsEnabled of
/// the types in cluster_policy.h.
struct Component : Container {
  std::optional<bool> enabled;

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether the operand is deployed."});
    Container::Visit(v);
  }
  bool operator==(const Component&) const = default;
};

/// An operand that is deployed unless it is switched off.
struct DefaultOn : Component {
  bool IsEnabled() const { return enabled.value_or(true); }
  bool operator==(const DefaultOn&) const = default;
};

/// An operand that is deployed only when it is switched on.
struct DefaultOff : Component {
  bool IsEnabled() const { return enabled.value_or(false); }
  bool operator==(const DefaultOff&) const = default;
};

/// An operand that runs as a side container of the driver's Pods: GPUDirect Storage, GDRCopy.
struct Sidecar : ImageSource {
  std::optional<bool> enabled;
  std::vector<std::string> args;
  std::vector<EnvVar> env;

  bool IsEnabled() const { return enabled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether the driver's Pods get this container."});
    ImageSource::Visit(v);
    v("args", args, {.description = "Arguments of the container."});
    v("env", env, {.description = "Environment variables of the container."});
  }
  bool operator==(const Sidecar&) const = default;
};

/// The program that prepares a node for another driver: it stops what uses the GPUs and unloads the old modules.
struct DriverManager : ImageSource {
  std::vector<EnvVar> env;

  template <class V>
  void Visit(V& v) {
    ImageSource::Visit(v);
    v("env", env, {.description = "Environment variables of the driver manager."});
  }
  bool operator==(const DriverManager&) const = default;
};

/// Environment variables alone.
struct EnvBlock {
  std::vector<EnvVar> env;

  template <class V>
  void Visit(V& v) {
    v("env", env, {.description = "Environment variables of this step of the validation."});
  }
  bool operator==(const EnvBlock&) const = default;
};

/// The name of a ConfigMap in the operator's namespace.
struct ConfigMapName {
  std::string name;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of a ConfigMap in the operator's namespace."});
  }
  bool operator==(const ConfigMapName&) const = default;
};

}  // namespace gpuop::api
