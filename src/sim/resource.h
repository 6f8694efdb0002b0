#pragma once
// What the API server knows about a resource it serves, and the registry of all of them.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"

namespace gpuop::sim {

/// A field that a fieldSelector may name besides metadata.name and metadata.namespace.
struct SelectableField {
  /// As selectors spell it: "spec.nodeName".
  std::string label;
  /// Where the value stands in the object; the first path that leads to a value wins. Numbers and booleans count
  /// by their text.
  std::vector<std::vector<std::string>> paths;
  /// The value of an object that has none: "false" for spec.unschedulable.
  std::string fallback;
};

/// A column as CustomResourceDefinitions declare it (additionalPrinterColumns).
struct PrinterColumn {
  std::string name, type, format, description, json_path;
  int priority = 0;
};

/// Something served below an object: pods/status, deployments/scale, pods/eviction.
struct Subresource {
  /// "status".
  std::string name;
  /// What is read and written there; empty group and version mean the parent's.
  std::string kind, group, version;
  /// As discovery lists them: get, patch, update, create.
  std::vector<std::string> verbs;
};

/// Where the scale subresource finds its numbers, as dotted paths without a leading dot. An empty path is absent.
struct ScalePaths {
  std::string spec_replicas = "spec.replicas", status_replicas = "status.replicas", selector;
};

/// How metadata.name is checked.
enum class NameRule : std::uint8_t {
  kDnsSubdomain,  ///< RFC 1123 subdomain, up to 253 characters: most kinds
  kDnsLabel,      ///< RFC 1123 label, up to 63: namespaces, services
  kPathSegment,   ///< anything that fits in one path segment: roles and bindings
  kFree,          ///< not checked here
};

/// One resource in one version, as it is served. Immutable once it is in the Registry.
struct ResourceInfo {
  std::string group, version, plural, singular, kind, list_kind;
  bool namespaced = false;
  std::vector<std::string> short_names, categories;
  /// Of the main resource, as discovery lists them. Empty for resources that exist only by their subresources.
  std::vector<std::string> verbs;
  std::vector<Subresource> subresources;
  /// The type's shape; null while nobody knows it (then everything passes).
  data::SchemaPtr schema;
  /// Of a custom resource, the schema of the version that objects are kept in; null for built-in ones.
  data::SchemaPtr storage_schema;
  /// The version that objects are kept in; several served versions share one store table.
  std::string storage_version;
  /// The store's table: "apps/deployments", "/pods". Resources that show the same objects share it.
  std::string table;
  /// Who renders Tables of it ("pod"); empty: by `columns`.
  std::string renderer;
  std::vector<PrinterColumn> columns;
  std::vector<SelectableField> selectable;
  NameRule name_rule = NameRule::kDnsSubdomain;
  /// Writes to the main resource leave .status alone, and the other way round.
  bool status_isolated = false;
  /// metadata.generation counts changes of everything but metadata and status.
  bool has_generation = false;
  /// An update without a resourceVersion overwrites whatever is there.
  bool unconditional_update = true;
  /// PUT to a name that is not there creates it.
  bool create_on_update = false;
  /// From a CustomResourceDefinition.
  bool custom = false;
  /// TypeSystem::Convert completes objects whenever they are read: the schema has defaults that may be younger.
  bool completed_on_read = false;
  ScalePaths scale;

  /// "apps/v1", "v1".
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  /// "deployments.apps", "pods": how messages name it.
  std::string GroupResource() const { return group.empty() ? plural : plural + "." + group; }
  const Subresource* FindSubresource(std::string_view name) const;
  bool Allows(std::string_view verb) const;
};

using ResourcePtr = std::shared_ptr<const ResourceInfo>;

/// What is served now. Not thread-safe: it lives with the core. Infos handed out stay valid after removal.
class Registry {
 public:
  /// Adds a resource, or replaces what is served under the same group, version and plural.
  void Add(ResourceInfo info);
  void Remove(std::string_view group, std::string_view version, std::string_view plural);

  ResourcePtr Find(std::string_view group, std::string_view version, std::string_view plural) const;
  /// By group and plural, in the version that comes first by the rules of CRD version priority (v2 > v1 > v1beta1).
  ResourcePtr FindAnyVersion(std::string_view group, std::string_view plural) const;
  ResourcePtr FindKind(std::string_view group, std::string_view version, std::string_view kind) const;
  /// Whether built-in resources are served under the group.
  bool HasBuiltInGroup(std::string_view group) const;
  /// All, ordered by group, version and plural.
  std::vector<ResourcePtr> All() const;
  /// Changes with every Add and Remove, so that documents made from the registry can be cached.
  std::uint64_t generation() const { return generation_; }
  /// `then` runs after each Add and Remove.
  void OnChange(std::function<void()> then) { observers_.push_back(std::move(then)); }

 private:
  void Changed();

  std::map<std::tuple<std::string, std::string, std::string>, ResourcePtr, std::less<>> by_name_;
  std::uint64_t generation_ = 0;
  std::vector<std::function<void()>> observers_;
};

/// Whether version `a` comes before `b` in the order of CRD versions: v10 > v2 > v1 > v11beta2 > v10beta3 > v1alpha1 >
/// foo.
bool VersionBefore(std::string_view a, std::string_view b);

/// The built-in resources, with their shapes from kube/builtin.
void AddBuiltinResources(Registry& registry);

}  // namespace gpuop::sim
