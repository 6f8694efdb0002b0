// PATCH: the four kinds of patches, and what an apply adds.

#include <fmt/core.h>

#include "base/text.h"
#include "data/patch.h"
#include "sim/fields.h"
#include "sim/writer.h"

namespace gpuop::sim {

using boost::json::object;
using boost::json::value;

namespace {

constexpr std::string_view kApply = "application/apply-patch+yaml";

Status UnsupportedPatch(const ResourceInfo& info) {
  return UnsupportedMediaType(info.custom ? "application/json-patch+json, application/merge-patch+json, "
                                            "application/apply-patch+yaml"
                                          : "");
}

/// What the text of a failed patch becomes, by the patch's kind of failure.
Status PatchFailed(const Error& error) {
  switch (error.code) {
    case Code::kInvalid: return BadRequest(error.text);
    case Code::kTooLarge: return RequestTooLarge(error.text);
    case Code::kUnsupported:
      return {422, "Invalid", "the server rejected our request due to an error in our request", StatusDetails{}, {}};
    default: return {500, "", error.text, {}, {}};
  }
}

Answer<value> ParsePatch(std::string_view body, bool list) {
  auto parsed = data::ParseJson(body);
  if (!parsed) return std::unexpected(BadRequest("error decoding patch: " + parsed.error().text));
  if (list && !parsed->is_array())
    return std::unexpected(
        BadRequest("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"));
  if (!list && !parsed->is_object())
    return std::unexpected(
        BadRequest("error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"));
  return *std::move(parsed);
}

/// Puts the members of the objects that a patch touched in the order of their names, as the API server's own quoting
/// has them. `touched` is a merge patch, or a tree of a JSON patch's paths.
void SortTouched(value& v, const value& touched) {
  if (!v.is_object() || !touched.is_object()) return;
  std::map<std::string, value> sorted;
  for (auto& [name, member] : v.get_object()) sorted.emplace(name, std::move(member));
  object& out = v.emplace_object();
  for (auto& [name, member] : sorted) {
    if (const value* below = touched.get_object().if_contains(name)) SortTouched(member, *below);
    out[name] = std::move(member);
  }
}

/// {"data":{"k":null}} for operations on /data/k.
value TreeOf(const value& json_patch) {
  value tree = object();
  for (const value& operation : json_patch.get_array()) {
    value* at = &tree;
    for (std::string_view part : Split(data::StringOr(operation, "path"), '/')) {
      if (part.empty()) continue;
      if (!at->is_object()) at->emplace_object();
      at = &at->get_object()[part];
    }
  }
  return tree;
}

/// A patch whose result is no object of the kind: the refusal of decoding it, as the patch's fault.
Status PatchMisfits(const ResourceInfo& info, const std::string& text, const Status& refusal) {
  if (refusal.code != 400) return refusal;
  std::string_view why = refusal.message;
  const std::string prefix = fmt::format("cannot be handled as a {}: ", info.kind);
  if (const auto at = why.find(prefix); at != why.npos) why.remove_prefix(at + prefix.size());
  return Invalid("", "", "", {{FieldError::Kind::kInvalid, "patch", Quote(text), std::string(why)}});
}

}  // namespace

/// An applied configuration names its type, and it is the path's.
Answer<> Writer::CheckAppliedType(const object& wanted) const {
  const std::string_view kind = TextAt(wanted, "kind"), version = TextAt(wanted, "apiVersion");
  if (kind == info_.kind && version == info_.ApiVersion()) return {};
  const std::string group_version = version.contains('/') ? std::string(version) : fmt::format("/{}", version);
  return std::unexpected(BadRequest(fmt::format("invalid object type: {}, Kind={}", group_version, kind)));
}

Answer<> Writer::CheckPatchOptions(bool apply) const {
  const auto invalid = [](FieldError e) {
    return std::unexpected(Invalid("meta.k8s.io", "PatchOptions", "", {std::move(e)}));
  };
  if (apply && request_.Param("fieldManager").value_or("").empty())
    return invalid({FieldError::Kind::kRequired, "fieldManager", "", "is required for apply patch"});
  if (!apply && request_.Param("force"))
    return invalid({FieldError::Kind::kForbidden, "force", "", "may not be specified for non-apply patch"});
  return {};
}

Answer<object> Writer::Patched(const object* live, std::string_view media) {
  const std::string& body = request_.http->body;
  std::vector<std::string> problems;
  object out;
  if (media == kApply) {
    ASSIGN(object wanted, server_.types().Decode(request_, media, body, problems));
    TRY(CheckAppliedType(wanted));
    ASSIGN(out, server_.types().Apply(request_, live, wanted, BoolParam(*request_.http, "force")));
    request_.applied = true;
  } else {
    Result<value> patched = value();
    value touched;
    if (media == "application/json-patch+json") {
      ASSIGN(const value patch, ParsePatch(body, true));
      patched = data::ApplyJsonPatch(*live, patch);
      touched = TreeOf(patch);
    } else if (media == "application/merge-patch+json") {
      ASSIGN(const value patch, ParsePatch(body, false));
      patched = data::ApplyMergePatch(*live, patch);
      touched = patch;
    } else {
      ASSIGN(value patch, ParsePatch(body, false));
      patched = data::ApplyStrategicPatch(*live, std::move(patch), info_.schema.get());
    }
    if (!patched) return std::unexpected(PatchFailed(patched.error()));
    if (!patched->is_object()) return std::unexpected(BadRequest("the patch leaves no object"));
    out = patched->get_object();
    if (auto fits = server_.types().Conform(request_, out, problems); !fits) {
      SortTouched(*patched, touched.is_object() ? touched : value(object()));
      return std::unexpected(PatchMisfits(info_, data::ToJson(*patched), fits.error()));
    }
  }
  TRY(Report(problems));
  server_.types().Default(request_, out);
  return out;
}

Answer<Response> Writer::Patch() {
  const std::string media(
      Trim(std::string_view(request_.http->content_type)
               .substr(0, std::min(request_.http->content_type.find(';'), request_.http->content_type.size()))));
  const bool apply = media == kApply, strategic = media == "application/strategic-merge-patch+json";
  if (!apply && media != "application/json-patch+json" && media != "application/merge-patch+json" &&
      (!strategic || info_.custom))
    return std::unexpected(UnsupportedPatch(info_));
  TRY(CheckPatchOptions(apply));
  const StoredPtr existing = server_.store().Get(info_.table, request_.ns(), request_.name());
  if (!existing && (!apply || request_.subresource != nullptr))
    return std::unexpected(NotFound(info_, request_.name()));
  if (!existing) {
    ASSIGN(object made, Patched(nullptr, media));
    TRY(CheckNameOnUrl(made));
    TRY(CheckNamespace(Child(made, "metadata")));
    ASSIGN(Written written, CreateNamed(made));
    return Answered(std::move(written), 201);
  }
  ASSIGN(object live, ReadStored(existing));
  ASSIGN(object wanted, Patched(&live, media));
  TRY(CheckNameOnUrl(wanted));
  TRY(CheckNamespace(Child(wanted, "metadata")));
  ASSIGN(Written written, Replace(std::move(wanted), std::move(live), existing));
  return Answered(std::move(written), 200);
}

}  // namespace gpuop::sim
