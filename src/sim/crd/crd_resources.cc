#include "sim/crd/crd_resources.h"

#include <algorithm>

#include "base/text.h"
#include "sim/crd/schema_reader.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

std::vector<std::string> Strings(const json::array& list) {
  std::vector<std::string> out;
  for (const json::value& v : list) out.emplace_back(AsString(v));
  return out;
}

bool HasDefaults(const data::Schema& schema) {
  return schema.default_value.has_value() || (schema.items != nullptr && HasDefaults(*schema.items)) ||
         (schema.values != nullptr && HasDefaults(*schema.values)) ||
         std::ranges::any_of(schema.properties, [](const data::Property& p) { return HasDefaults(*p.schema); });
}

/// The version that objects are kept in: the storage version as long as it is served.
std::string StorageVersion(const json::array& versions) {
  std::string served;
  for (const json::value& v : versions) {
    if (!PeekBool(v, {"served"})) continue;
    if (served.empty() || PeekBool(v, {"storage"})) served = PeekString(v, {"name"});
  }
  return served;
}

std::vector<PrinterColumn> Columns(const json::value& version) {
  std::vector<PrinterColumn> out;
  for (const json::value& c : PeekArray(version, {"additionalPrinterColumns"}))
    out.push_back({.name = std::string(PeekString(c, {"name"})),
                   .type = std::string(PeekString(c, {"type"})),
                   .format = std::string(PeekString(c, {"format"})),
                   .description = std::string(PeekString(c, {"description"})),
                   .json_path = std::string(PeekString(c, {"jsonPath"})),
                   .priority = static_cast<int>(PeekInt(c, {"priority"}))});
  return out;
}

std::vector<SelectableField> Selectable(const json::value& version) {
  std::vector<SelectableField> out;
  for (const json::value& f : PeekArray(version, {"selectableFields"})) {
    const std::string_view path = PeekString(f, {"jsonPath"}).substr(1);
    std::vector<std::string> steps;
    for (std::string_view step : Split(path, '.')) steps.emplace_back(step);
    out.push_back({.label = std::string(path), .paths = {std::move(steps)}, .fallback = {}});
  }
  return out;
}

/// ".spec.replicas" without its dot.
std::string Dotted(const json::value& scale, std::string_view field) {
  const auto path = PeekString(scale, {field});
  return std::string(path.starts_with('.') ? path.substr(1) : path);
}

void AddSubresources(const json::value& version, ResourceInfo& info) {
  if (Peek(version, {"subresources", "status"}) != nullptr) {
    info.status_isolated = true;
    info.subresources.push_back(
        {.name = "status", .kind = info.kind, .group = {}, .version = {}, .verbs = {"get", "patch", "update"}});
  }
  if (const json::value* scale = Peek(version, {"subresources", "scale"})) {
    info.subresources.push_back({.name = "scale",
                                 .kind = "Scale",
                                 .group = "autoscaling",
                                 .version = "v1",
                                 .verbs = {"get", "patch", "update"}});
    info.scale = {.spec_replicas = Dotted(*scale, "specReplicasPath"),
                  .status_replicas = Dotted(*scale, "statusReplicasPath"),
                  .selector = Dotted(*scale, "labelSelectorPath")};
  }
}

}  // namespace

std::vector<ResourceInfo> ResourcesOf(const json::object& crd) {
  const json::array& versions = PeekArray(crd, {"spec", "versions"});
  const std::string storage = StorageVersion(versions);
  std::vector<ResourceInfo> out;
  for (const json::value& version : versions) {
    if (!PeekBool(version, {"served"})) continue;
    const json::object& names = PeekObject(crd, {"status", "acceptedNames"});
    ResourceInfo info;
    info.group = PeekString(crd, {"spec", "group"});
    info.version = PeekString(version, {"name"});
    info.plural = PeekString(crd, {"spec", "names", "plural"});
    info.singular = PeekString(names, {"singular"});
    info.kind = PeekString(crd, {"spec", "names", "kind"});
    info.list_kind = PeekString(crd, {"spec", "names", "listKind"});
    info.namespaced = PeekString(crd, {"spec", "scope"}) == "Namespaced";
    info.short_names = Strings(PeekArray(names, {"shortNames"}));
    info.categories = Strings(PeekArray(names, {"categories"}));
    info.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
    info.schema = ReadSchema(PeekObject(version, {"schema", "openAPIV3Schema"}));
    info.storage_version = storage;
    info.table = info.group + "/" + info.plural;
    info.columns = Columns(version);
    info.selectable = Selectable(version);
    info.has_generation = true;
    info.unconditional_update = false;
    info.custom = true;
    AddSubresources(version, info);
    out.push_back(std::move(info));
  }
  const auto stored = std::ranges::find(out, storage, &ResourceInfo::version);
  for (ResourceInfo& info : out) {
    info.storage_schema = stored == out.end() ? nullptr : stored->schema;
    info.completed_on_read = info.storage_schema != nullptr && HasDefaults(*info.storage_schema);
  }
  return out;
}

}  // namespace gpuop::sim
