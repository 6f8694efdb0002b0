#include "sim/writer.h"

#include <fmt/core.h>

#include <charconv>

#include "base/check.h"
#include "base/text.h"
#include "data/json_brief.h"
#include "sim/fields.h"
#include "sim/metadata_rules.h"
#include "sim/strategy.h"

namespace gpuop::sim {

using boost::json::object;
using boost::json::value;

namespace {

constexpr int kGenerateAttempts = 8;

/// Whether two lists of managed fields differ in their times alone.
bool SameManagers(const object& a, const object& b) {
  const auto without_times = [](const object& metadata) {
    boost::json::array list;
    if (const auto* managed = ArrayAt(metadata, "managedFields")) list = *managed;
    for (value& entry : list)
      if (entry.is_object()) entry.get_object().erase("time");
    return value(std::move(list));
  };
  return data::JsonEqual(without_times(a), without_times(b));
}

/// Whether writing `now` over `old` would change nothing but the times in managedFields.
bool IsNoOp(const object& now, const object& old) {
  if (now.size() != old.size()) return false;
  for (const auto& [name, v] : now)
    if (name != "metadata" && !SameField(now, old, name)) return false;
  const object &a = now.at("metadata").as_object(), &b = old.at("metadata").as_object();
  for (const auto& [name, v] : a)
    if (name != "managedFields" && !SameField(a, b, name)) return false;
  for (const auto& [name, v] : b)
    if (name != "managedFields" && !a.contains(name)) return false;
  return SameManagers(a, b);
}

/// An object whose last finalizer is gone while it is being deleted goes with this write.
bool DeletesNow(const ResourceInfo& info, const object& o) {
  const object& metadata = o.at("metadata").as_object();
  if (!metadata.contains("deletionTimestamp") || IntAt(metadata, "deletionGracePeriodSeconds").value_or(0) != 0)
    return false;
  const auto empty = [](const boost::json::array* list) { return list == nullptr || list->empty(); };
  if (!empty(ArrayAt(metadata, "finalizers"))) return false;
  return info.table != "/namespaces" || empty(ArrayAt(o, "spec.finalizers"));
}

void DropEmpty(object& metadata, std::string_view field) {
  const value* v = metadata.if_contains(field);
  if (v == nullptr) return;
  const bool empty = v->is_null() || (v->is_object() && v->get_object().empty()) ||
                     (v->is_array() && v->get_array().empty()) || (v->is_string() && v->get_string().empty());
  if (empty) metadata.erase(field);
}

}  // namespace

Writer::Writer(ApiServer& server, Request& request) : server_(server), request_(request), info_(*request.resource) {}

Answer<object> Writer::ReadStored(const StoredPtr& stored) const {
  auto parsed = data::ParseJsonBriefly(stored->json);
  GPUOP_CHECK(parsed.has_value() && parsed->is_object());
  object o = std::move(parsed->get_object());
  if (Converts(info_)) TRY(server_.types().Convert(info_, o));
  return o;
}

Answer<> Writer::Report(const std::vector<std::string>& problems) {
  if (problems.empty() || request_.validation == FieldValidation::kIgnore) return {};
  if (request_.validation == FieldValidation::kWarn) {
    request_.warnings.insert(request_.warnings.end(), problems.begin(), problems.end());
    return {};
  }
  return std::unexpected(
      BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}", info_.kind,
                             info_.version, info_.kind, Join(problems, ", "))));
}

Answer<> Writer::WrongCustomType(std::string_view kind, std::string_view version, std::string_view name) const {
  if (version != info_.ApiVersion())
    return std::unexpected(BadRequest(fmt::format(
        "the API version in the data ({}) does not match the expected API version ({})", version, info_.ApiVersion())));
  return std::unexpected(
      Invalid(info_.group, kind, name, {{FieldError::Kind::kInvalid, "kind", Quote(kind), "must be " + info_.kind}}));
}

Answer<> Writer::CheckType(const object& body) const {
  const std::string_view kind = TextAt(body, "kind"), version = TextAt(body, "apiVersion");
  const bool scale = request_.subresource != nullptr && request_.subresource->kind != info_.kind;
  const std::string& wanted_kind = scale ? request_.subresource->kind : info_.kind;
  if (scale || (kind.empty() && version.empty())) return {};
  if (kind == wanted_kind && version == info_.ApiVersion()) return {};
  if (info_.custom) return WrongCustomType(kind, version, TextAt(body, "metadata.name"));
  const std::string_view short_version = version.substr(version.find('/') == version.npos ? 0 : version.find('/') + 1);
  const auto slash = version.find('/');
  const std::string_view group = slash == version.npos ? std::string_view() : version.substr(0, slash);
  const std::string why =
      server_.registry().FindKind(group, short_version, kind)
          ? fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", short_version, kind,
                        info_.group.empty() ? "core" : info_.group, info_.kind)
          : fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"", kind,
                        version);
  return std::unexpected(BadRequest(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind, short_version, info_.kind, why)));
}

Answer<> Writer::CheckNamespace(object& metadata) const {
  const std::string_view ns = TextAt(metadata, "namespace");
  if (!ns.empty() && ns != request_.ns())
    return std::unexpected(
        BadRequest("the namespace of the provided object does not match the namespace sent on the request"));
  if (info_.namespaced)
    metadata["namespace"] = request_.ns();
  else
    metadata.erase("namespace");
  return {};
}

Answer<> Writer::CheckNamespaceExists() const {
  if (!info_.namespaced) return {};
  const StoredPtr ns = server_.store().Get("/namespaces", "", request_.ns());
  if (!ns) return std::unexpected(NotFound("", "namespaces", request_.ns()));
  if (ns->fields.empty() || ns->fields[0] != "Terminating") return {};
  Status refused = Forbidden(
      info_, request_.name(),
      fmt::format("unable to create new content in namespace {} because it is being terminated", request_.ns()));
  refused.details->causes.push_back(
      {"NamespaceTerminating", fmt::format("namespace {} is being terminated", request_.ns()), "metadata.namespace"});
  return std::unexpected(std::move(refused));
}

Answer<> Writer::CheckNameOnUrl(const object& body) const {
  const std::string_view name = TextAt(body, "metadata.name");
  if (name == request_.name()) return {};
  if (name.empty())
    return std::unexpected(BadRequest(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided", request_.name())));
  return std::unexpected(BadRequest(
      fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, request_.name())));
}

Answer<> Writer::Validate(const object& o, const object* old) {
  const object& metadata = o.at("metadata").as_object();
  std::vector<FieldError> wrong = CheckMetadata(info_, metadata);
  if (old != nullptr) {
    const auto changed = CheckMetadataUpdate(metadata, old->at("metadata").as_object());
    // Built-in kinds check twice, and the causes say so.
    for (int i = info_.custom ? 1 : 0; i < 2; ++i) wrong.insert(wrong.begin(), changed.begin(), changed.end());
  }
  auto more = server_.types().Validate(request_, o, old);
  wrong.insert(wrong.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  if (!wrong.empty()) return std::unexpected(Invalid(info_, TextAt(metadata, "name"), wrong));
  return {};
}

void Writer::ResetMetadata(object& o) {
  const object given = Child(o, "metadata");
  object metadata;
  for (std::string_view field : {"name", "generateName", "namespace"})
    if (given.contains(field)) metadata[field] = given.at(field);
  metadata["uid"] = NewUuid(server_.rng());
  if (const auto generation = IntAt(given, "generation"); generation && *generation != 0)
    metadata["generation"] = *generation;
  metadata["creationTimestamp"] = FormatTime(server_.executor().Wall());
  for (std::string_view field : {"labels", "annotations", "ownerReferences", "finalizers", "managedFields"})
    if (given.contains(field)) metadata[field] = given.at(field);
  for (std::string_view field :
       {"labels", "annotations", "ownerReferences", "finalizers", "managedFields", "generateName"})
    DropEmpty(metadata, field);
  object ordered;
  ordered["kind"] = info_.kind;
  ordered["apiVersion"] = info_.ApiVersion();
  ordered["metadata"] = std::move(metadata);
  for (auto& [name, v] : o)
    if (!ordered.contains(name)) ordered[name] = std::move(v);
  o = std::move(ordered);
}

Answer<Response> Writer::Create(object body) {
  object& metadata = Child(body, "metadata");
  TRY(CheckNamespace(metadata));
  if (!TextAt(metadata, "resourceVersion").empty() && TextAt(metadata, "resourceVersion") != "0")
    return std::unexpected(Status{500, "", "resourceVersion should not be set on objects to be created", {}, {}});
  request_.attributes.name = TextAt(metadata, "name");
  ASSIGN(Written written, CreateNamed(body));
  return Answered(std::move(written), 201);
}

Answer<Writer::Written> Writer::CreateNamed(object& body) {
  TRY(CheckNamespaceExists());
  const std::string given(TextAt(body, "metadata.name")), prefix(TextAt(body, "metadata.generateName"));
  if (!given.empty() || prefix.empty()) return Insert(std::move(body));
  for (int attempt = 1;; ++attempt) {
    object candidate = body;
    // As long a prefix as leaves room for the suffix in 63 characters.
    candidate["metadata"].as_object()["name"] = prefix.substr(0, 58) + NameSuffix(server_.rng());
    auto written = Insert(std::move(candidate));
    if (written || written.error().reason != "AlreadyExists" || attempt == kGenerateAttempts) return written;
  }
}

Answer<Writer::Written> Writer::Insert(object o) {
  ResetMetadata(o);
  const std::string name(TextAt(o, "metadata.name"));
  request_.attributes.name = name;
  // Who owns which field is decided by what the client sent, before anything of the server's own is added.
  if (!request_.applied) server_.types().TrackFields(request_, nullptr, o);
  PrepareCreate(info_, o);
  if (info_.status_isolated && !info_.custom) {  // what was reset says its zeros, as the kind wants them
    std::vector<std::string> none;
    TRY(server_.types().Conform(request_, o, none));
  }
  server_.types().Default(request_, o);
  TRY(server_.Mutate(request_, &o, nullptr));
  TRY(Validate(o, nullptr));
  TRY(server_.Check(request_, &o, nullptr));
  if (server_.store().Get(info_.table, request_.ns(), name)) return std::unexpected(AlreadyExists(info_, name));
  return Commit(std::move(o));
}

Answer<Writer::Written> Writer::Commit(object o) {
  if (request_.dry_run) return Written{nullptr, std::move(o)};
  if (!Converts(info_)) {
    ASSIGN(StoredPtr stored, server_.store().Put(info_.table, o));
    return Written{std::move(stored), std::move(o)};
  }
  const ResourcePtr storage = server_.StorageOf(request_.resource);
  TRY(server_.types().Convert(*storage, o));
  ASSIGN(StoredPtr stored, server_.store().Put(info_.table, o));
  return Written{std::move(stored), std::move(o)};
}

Answer<Response> Writer::Answered(Written written, int status) {
  ASSIGN(const Form form, Negotiate(request_.http->accept));
  const Encoder encoder = server_.EncoderFor(request_, form);
  return written.stored ? encoder.Object(written.stored, status) : encoder.Object(written.object, status);
}

Answer<Response> Writer::Update() {
  ASSIGN(object body, server_.DecodeBody(request_));
  TRY(CheckNameOnUrl(body));
  TRY(CheckNamespace(Child(body, "metadata")));
  const std::string_view rv = TextAt(body, "metadata.resourceVersion");
  if (!rv.empty() && !std::ranges::all_of(rv, [](char c) { return c >= '0' && c <= '9'; }))
    return std::unexpected(
        Status{500, "", fmt::format("strconv.ParseUint: parsing {}: invalid syntax", Quote(rv)), {}, {}});
  const StoredPtr existing = server_.store().Get(info_.table, request_.ns(), request_.name());
  if (!existing) {
    if (!info_.create_on_update || request_.subresource != nullptr)
      return std::unexpected(NotFound(info_, request_.name()));
    if (!rv.empty() && rv != "0") return std::unexpected(StaleWrite(info_, request_.name()));
    ASSIGN(Written written, CreateNamed(body));
    return Answered(std::move(written), 201);
  }
  ASSIGN(Written written, ReplaceStored(std::move(body), existing));
  return Answered(std::move(written), 200);
}

Answer<Writer::Written> Writer::ReplaceStored(object wanted, const StoredPtr& existing) {
  ASSIGN(object old, ReadStored(existing));
  return Replace(std::move(wanted), std::move(old), existing);
}

Answer<> Writer::CheckPreconditions(const object& wanted, const object& old, const StoredPtr& existing) const {
  const std::string_view uid = TextAt(wanted, "metadata.uid"), own = TextAt(old, "metadata.uid");
  if (request_.http->method == "PUT" && !uid.empty() && uid != own)
    return std::unexpected(Conflict(
        info_, request_.name(),
        fmt::format(
            "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: "
            "Precondition failed: UID in precondition: {}, UID in object meta: {}",
            info_.plural, StoreKey(existing->ns, existing->name), uid, own)));
  const std::string_view rv = TextAt(wanted, "metadata.resourceVersion");
  if (rv.empty() || rv == "0") {
    if (info_.unconditional_update && !info_.custom) return {};
    return std::unexpected(
        Invalid(info_.group, info_.plural, request_.name(),
                {{FieldError::Kind::kInvalid, "metadata.resourceVersion", "0", "must be specified for an update"}}));
  }
  if (rv != std::to_string(existing->revision)) return std::unexpected(StaleWrite(info_, request_.name()));
  return {};
}

Answer<Writer::Written> Writer::Replace(object wanted, object old, const StoredPtr& existing) {
  TRY(CheckPreconditions(wanted, old, existing));
  wanted["kind"] = info_.kind;
  wanted["apiVersion"] = info_.ApiVersion();
  object& metadata = Child(wanted, "metadata");
  const object& before = old.at("metadata").as_object();
  for (std::string_view field : {"resourceVersion", "creationTimestamp"}) CopyField(metadata, before, field);
  for (std::string_view field : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds", "generateName"})
    if (!metadata.contains(field)) CopyField(metadata, before, field);
  metadata.erase("selfLink");
  for (std::string_view field : {"labels", "annotations", "ownerReferences", "finalizers"}) DropEmpty(metadata, field);
  if (!request_.applied) server_.types().TrackFields(request_, &old, wanted);
  PrepareUpdate(info_, request_.subresource, wanted, old);
  TRY(server_.Mutate(request_, &wanted, &old));
  TRY(Validate(wanted, &old));
  TRY(server_.Check(request_, &wanted, &old));
  if (IsNoOp(wanted, old)) return Written{existing, std::move(old)};
  if (!DeletesNow(info_, wanted)) return Commit(std::move(wanted));
  if (!request_.dry_run) {
    ASSIGN(const StoredPtr gone, server_.store().Delete(info_.table, existing->ns, existing->name));
    (void)gone;
  }
  return Written{nullptr, std::move(wanted)};
}

}  // namespace gpuop::sim
