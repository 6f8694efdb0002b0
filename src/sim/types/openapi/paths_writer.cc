#include "sim/types/openapi/paths_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "kube/builtin/table.h"

namespace gpuop::sim::types {

namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// A verb as a path shows it.
struct Operation {
  std::string_view verb, method, action;
  bool on_collection = false;
};
constexpr std::array kOperations = {
    Operation{"list", "get", "list", true},
    Operation{"create", "post", "post", true},
    Operation{"deletecollection", "delete", "deletecollection", true},
    Operation{"get", "get", "get"},
    Operation{"update", "put", "put"},
    Operation{"patch", "patch", "patch"},
    Operation{"delete", "delete", "delete"},
};

bool Has(const std::vector<std::string>& verbs, std::string_view verb) {
  return std::ranges::find(verbs, verb) != verbs.end();
}

struct TargetKind {
  std::string group, version, kind, type, list_type;
  /// Clients choose the patch by what the document lists; custom resources know no strategic one.
  bool strategic_patch = true;
};

/// The name of a kind in the table; empty when it has none there.
std::string BuiltinName(std::string_view group, std::string_view version, std::string_view kind) {
  const auto schema = kube::builtin::FindKind(group, version, kind);
  return schema == nullptr ? "" : schema->name;
}

class PathsWriter {
 public:
  PathsWriter(std::string& out, OpenApiVersion version, SchemaWriter& schemas)
      : out_(out), v3_(version == OpenApiVersion::kV3), schemas_(schemas) {}

  void Path(const std::string& path, const TargetKind& target, const std::vector<const Operation*>& operations) {
    if (operations.empty()) return;
    if (out_.back() != '{') out_ += ',';
    out_ += fmt::format("\"{}\":{{", path);
    for (const Operation* operation : operations) One(*operation, target);
    PathParameters(path);
    out_ += '}';
  }

 private:
  void One(const Operation& operation, const TargetKind& target) {
    if (out_.back() != '{') out_ += ',';
    out_ += fmt::format(R"("{}":{{"parameters":[)", operation.method);
    QueryParameters(operation);
    out_ += R"(],"responses":{"200":{"description":"OK")";
    const std::string& answer = operation.verb == "list" ? target.list_type : target.type;
    Content(operation.method == "delete" ? std::string(kMeta) + "Status" : answer);
    out_ += "}}";
    if (v3_ && (operation.method == "post" || operation.method == "put")) Body(target.type);
    if (v3_ && operation.method == "patch") PatchBody(target);
    if (v3_ && operation.method == "delete") Body(std::string(kMeta) + "DeleteOptions");
    out_ += fmt::format(
        R"(,"x-kubernetes-action":"{}","x-kubernetes-group-version-kind":{{"group":"{}","kind":"{}","version":"{}"}}}})",
        operation.action, target.group, target.kind, target.version);
  }

  void Content(const std::string& type) {
    if (type.empty()) return;
    out_ += v3_ ? R"(,"content":{"application/json":{"schema":)" : R"(,"schema":)";
    schemas_.Reference(out_, type);
    if (v3_) out_ += "}}";
  }

  void Body(const std::string& type) {
    if (type.empty()) return;
    out_ += R"(,"requestBody":{"content":{"*/*":{"schema":)";
    schemas_.Reference(out_, type);
    out_ += R"(}},"required":true})";
  }

  void PatchBody(const TargetKind& target) {
    out_ += R"(,"requestBody":{"content":{)";
    static constexpr std::string_view kStrategic = "application/strategic-merge-patch+json";
    for (const std::string_view media :
         {std::string_view("application/apply-patch+yaml"), std::string_view("application/json-patch+json"),
          std::string_view("application/merge-patch+json"), kStrategic}) {
      if (media == kStrategic && !target.strategic_patch) continue;
      if (out_.back() != '{') out_ += ',';
      out_ += fmt::format(R"("{}":{{"schema":)", media);
      schemas_.Reference(out_, std::string(kMeta) + "Patch");
      out_ += '}';
    }
    out_ += R"(},"required":true})";
  }

  void Parameter(std::string_view name, std::string_view in, std::string_view type) {
    if (out_.back() != '[') out_ += ',';
    out_ += fmt::format(R"({{"name":"{}","in":"{}",)", name, in);
    if (in == "path") out_ += R"("required":true,)";
    out_ += v3_ ? fmt::format(R"("schema":{{"type":"{}","uniqueItems":true}}}})", type)
                : fmt::format(R"("type":"{}","uniqueItems":true}})", type);
  }

  void QueryParameters(const Operation& operation) {
    const std::string_view method = operation.method;
    if (method != "get") Parameter("dryRun", "query", "string");
    if (method == "post" || method == "put" || method == "patch") {
      Parameter("fieldManager", "query", "string");
      Parameter("fieldValidation", "query", "string");
    }
    if (method == "patch") Parameter("force", "query", "boolean");
    if (method == "delete") Parameter("propagationPolicy", "query", "string");
    if (operation.verb == "list")
      for (const char* name : {"continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"})
        Parameter(name, "query", "string");
    if (operation.verb == "list") Parameter("limit", "query", "integer");
    if (operation.verb == "list") Parameter("watch", "query", "boolean");
  }

  void PathParameters(std::string_view path) {
    out_ += R"(,"parameters":[)";
    if (path.contains("{name}")) Parameter("name", "path", "string");
    if (path.contains("{namespace}")) Parameter("namespace", "path", "string");
    Parameter("pretty", "query", "string");
    out_ += ']';
  }

  std::string& out_;
  bool v3_;
  SchemaWriter& schemas_;
};

std::vector<const Operation*> Select(const std::vector<std::string>& verbs, bool collection) {
  std::vector<const Operation*> out;
  for (const Operation& operation : kOperations)
    if (operation.on_collection == collection && Has(verbs, operation.verb)) out.push_back(&operation);
  return out;
}

/// A subresource is one object: what creates it is a POST to it.
std::vector<const Operation*> SelectForSubresource(const std::vector<std::string>& verbs) {
  std::vector<const Operation*> out = Select(verbs, false);
  for (const Operation& operation : kOperations)
    if (operation.verb == "create" && Has(verbs, operation.verb)) out.push_back(&operation);
  return out;
}

}  // namespace

std::string TypeNameOf(const ResourceInfo& info) {
  if (!info.custom) return BuiltinName(info.group, info.version, info.kind);
  std::vector<std::string_view> parts = Split(info.group, '.');
  std::ranges::reverse(parts);
  std::string out;
  for (std::string_view part : parts) out.append(part).append(".");
  return out + info.version + "." + info.kind;
}

void AppendPaths(std::string& paths, const ResourceInfo& info, OpenApiVersion version, SchemaWriter& schemas) {
  PathsWriter writer(paths, version, schemas);
  const std::string root = info.group.empty() ? "/api/" + info.version : "/apis/" + info.group + "/" + info.version;
  const std::string collection = root + (info.namespaced ? "/namespaces/{namespace}/" : "/") + info.plural;
  TargetKind own{info.group, info.version, info.kind, TypeNameOf(info), {}, !info.custom};
  own.list_type = info.custom ? own.type + "List" : BuiltinName(info.group, info.version, info.list_kind);
  writer.Path(collection, own, Select(info.verbs, true));
  if (info.namespaced && Has(info.verbs, "list")) writer.Path(root + "/" + info.plural, own, {&kOperations[0]});
  const std::string item = collection + "/{name}";
  writer.Path(item, own, Select(info.verbs, false));
  for (const Subresource& sub : info.subresources) {
    TargetKind target = own;
    if (!sub.kind.empty() && sub.kind != info.kind) {
      const bool foreign = !sub.version.empty();
      target = {foreign ? sub.group : info.group, foreign ? sub.version : info.version, sub.kind, {}, {}};
      target.type = BuiltinName(target.group, target.version, target.kind);
    }
    writer.Path(item + "/" + sub.name, target, SelectForSubresource(sub.verbs));
  }
}

}  // namespace gpuop::sim::types
