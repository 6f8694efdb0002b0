#pragma once
// What every object that we make begins with, and the object as it goes to the API.
//
// The types under build/ are for writing: what we own is built with designated initialisers, and only fields that we
// use exist. Reading goes through kube/types. Empty fields are left out (data/writer.h); where "no" and "unsaid"
// differ the field is optional.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/json.h"
#include "kube/resource.h"

namespace gpuop::operands {

using StringMap = std::map<std::string, std::string>;

/// An object wanted in the cluster: where it is served and its whole JSON, apiVersion and kind included.
struct Object {
  kube::Resource resource;
  data::JsonObject body;

  std::string_view name() const { return Meta("name"); }
  /// "" for cluster-scoped kinds.
  std::string_view ns() const { return Meta("namespace"); }
  /// "DaemonSet nvidia-dcgm": for messages.
  std::string Title() const;

 private:
  std::string_view Meta(std::string_view field) const;
};

/// metadata.ownerReferences[] (meta/v1).
struct OwnerRef {
  std::string api_version = {}, kind = {}, name = {}, uid = {};
  bool controller = true, block_owner_deletion = true;

  template <class V>
  void Visit(V& v) {
    v("apiVersion", api_version);
    v("kind", kind);
    v("name", name);
    v("uid", uid);
    v("controller", controller);
    v("blockOwnerDeletion", block_owner_deletion);
  }
};

/// metadata, as far as we write it.
struct Meta {
  std::string name = {}, ns = {};
  StringMap labels = {}, annotations = {};
  std::vector<OwnerRef> owners = {};

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("namespace", ns);
    v("labels", labels);
    v("annotations", annotations);
    v("ownerReferences", owners);
  }
};

}  // namespace gpuop::operands
