#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "data/label_selector.h"
#include "data/patch.h"
#include "sim/fields.h"
#include "sim/special.h"
#include "sim/writer.h"

namespace gpuop::sim {
namespace {

using boost::json::object;
using boost::json::value;

/// The pods' selector as text: of a LabelSelector object, of plain labels, or already a text.
std::string SelectorText(const object& o, const std::string& path) {
  if (path.empty()) return {};
  const value* v = data::Find(o, path);
  if (v == nullptr || v->is_null()) return {};
  if (v->is_string()) return std::string(data::AsView(v->get_string()));
  if (!v->is_object()) return {};
  const object& selector = v->get_object();
  value canonical = *v;
  if (!selector.contains("matchLabels") && !selector.contains("matchExpressions"))
    canonical = object{{"matchLabels", selector}};  // a ReplicationController's
  const auto parsed = data::LabelSelector::FromJson(&canonical);
  return parsed ? parsed->ToString() : std::string();
}

object ScaleOf(const ResourceInfo& info, const object& o) {
  const object& from = o.at("metadata").as_object();
  object metadata;
  for (std::string_view field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (from.contains(field)) metadata[field] = from.at(field);
  object spec, status;
  if (const auto wanted = IntAt(o, info.scale.spec_replicas).value_or(0); wanted != 0) spec["replicas"] = wanted;
  status["replicas"] = IntAt(o, info.scale.status_replicas).value_or(0);
  if (std::string selector = SelectorText(o, info.scale.selector); !selector.empty()) status["selector"] = selector;
  return {{"kind", "Scale"},
          {"apiVersion", "autoscaling/v1"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

Answer<StoredPtr> Existing(ApiServer& server, const Request& request) {
  StoredPtr stored = server.store().Get(request.resource->table, request.ns(), request.name());
  if (!stored) return std::unexpected(NotFound(*request.resource, request.name()));
  return stored;
}

/// Makes the object what `scale` asks for and answers with the scale that results.
Answer<Response> Rescale(ApiServer& server, Request& request, const StoredPtr& stored, const object& scale) {
  const ResourceInfo& info = *request.resource;
  const std::int64_t replicas = IntAt(scale, "spec.replicas").value_or(0);
  if (replicas < 0)
    return std::unexpected(Invalid("autoscaling", "Scale", request.name(),
                                   {{FieldError::Kind::kInvalid, "spec.replicas", std::to_string(replicas),
                                     "must be greater than or equal to 0"}}));
  const std::string_view name = TextAt(scale, "metadata.name"), rv = TextAt(scale, "metadata.resourceVersion");
  if (!name.empty() && name != request.name())
    return std::unexpected(BadRequest(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, request.name())));
  if (!rv.empty() && rv != std::to_string(stored->revision)) return std::unexpected(StaleWrite(info, request.name()));
  Writer writer(server, request);
  ASSIGN(object wanted, writer.ReadStored(stored));
  value root(std::move(wanted));
  data::Ensure(root, info.scale.spec_replicas) = replicas;
  ASSIGN(const Writer::Written written, writer.ReplaceStored(std::move(root.get_object()), stored));
  return Response::Json(data::ToJson(ScaleOf(info, written.object)));
}

}  // namespace

Answer<Response> GetScale(ApiServer& server, Request& request) {
  ASSIGN(const StoredPtr stored, Existing(server, request));
  ASSIGN(const object o, Writer(server, request).ReadStored(stored));
  return Response::Json(data::ToJson(ScaleOf(*request.resource, o)));
}

Answer<Response> UpdateScale(ApiServer& server, Request& request) {
  ASSIGN(const StoredPtr stored, Existing(server, request));
  std::vector<std::string> problems;
  ASSIGN(const object scale, server.types().Decode(request, request.http->content_type, request.http->body, problems));
  return Rescale(server, request, stored, scale);
}

Answer<Response> PatchScale(ApiServer& server, Request& request) {
  ASSIGN(const StoredPtr stored, Existing(server, request));
  ASSIGN(const object o, Writer(server, request).ReadStored(stored));
  const std::string_view media = request.http->content_type;
  auto patch = data::ParseJson(request.http->body);
  if (!patch) return std::unexpected(BadRequest("error decoding patch: " + patch.error().text));
  value scale = ScaleOf(*request.resource, o);
  if (media.starts_with("application/json-patch+json")) {
    auto patched = data::ApplyJsonPatch(std::move(scale), *patch);
    if (!patched) return std::unexpected(BadRequest(patched.error().text));
    scale = *std::move(patched);
  } else if (media.starts_with("application/merge-patch+json") ||
             media.starts_with("application/strategic-merge-patch+json")) {
    scale = data::ApplyMergePatch(std::move(scale), *patch);  // a Scale has no lists: both patches are one
  } else {
    return std::unexpected(UnsupportedMediaType(""));
  }
  if (!scale.is_object()) return std::unexpected(BadRequest("the patch leaves no object"));
  return Rescale(server, request, stored, scale.get_object());
}

}  // namespace gpuop::sim
