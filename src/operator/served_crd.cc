#include "operator/served_crd.h"

#include <algorithm>
#include <boost/json.hpp>

#include "api/crd.h"
#include "data/json.h"

namespace gpuop::op {
namespace {

struct Slim {
  struct Status {
    std::vector<kube::Condition> conditions;
    template <class V>
    void Visit(V& v) {
      v("conditions", conditions);
    }
  };
  kube::ObjectMeta meta;
  Status status;
  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("status", status);
  }
};

/// Paths of `ours` that `served` (OpenAPI) has no place for.
void Compare(const std::string& path, const data::Schema& ours, const data::Json* served,
             std::vector<std::string>& out) {
  if (out.size() >= ServedCrd::kMostMissing || served == nullptr) return;
  if (data::BoolOr(*served, "x-kubernetes-preserve-unknown-fields")) return;
  const data::JsonObject* properties = data::GetObject(*served, "properties");
  for (const data::Property& property : ours.properties) {
    const std::string here = path.empty() ? property.name : path + "." + property.name;
    const data::Json* there = properties == nullptr ? nullptr : properties->if_contains(property.name);
    if (there == nullptr) {
      if (out.size() < ServedCrd::kMostMissing) out.push_back(here);
      continue;
    }
    Compare(here, *property.schema, there, out);
  }
  if (ours.items) Compare(path + "[]", *ours.items, data::Find(*served, "items"), out);
}

std::vector<std::string> Missing(const std::string& name, const boost::json::object& in) {
  std::vector<std::string> out;
  const auto& all = api::Definitions();
  const auto it = std::ranges::find(all, name, &api::Definition::name);
  const data::Json* versions = data::Find(in, "spec.versions");
  if (it == all.end() || versions == nullptr || !versions->is_array()) return out;
  for (const data::Json& version : versions->get_array()) {
    if (data::StringOr(version, "name") != it->resource.version) continue;
    const data::Json* schema = data::Find(version, "schema.openAPIV3Schema");
    // The server itself has a place for these.
    for (const data::Property& property : it->schema()->properties)
      if (property.name == "spec" && schema != nullptr)
        Compare("spec", *property.schema, data::Find(*schema, "properties.spec"), out);
  }
  return out;
}

}  // namespace

Result<ServedCrd> ServedCrd::FromJson(const boost::json::object& in) {
  ASSIGN(Slim slim, kube::Decode<Slim>(in));
  ServedCrd out;
  const kube::Condition* established = kube::FindCondition(slim.status.conditions, "Established");
  out.established = established != nullptr && established->is_true() && !slim.meta.deleting();
  out.missing = Missing(slim.meta.name, in);
  out.meta = std::move(slim.meta);
  out.meta.annotations = {};
  return out;
}

}  // namespace gpuop::op
