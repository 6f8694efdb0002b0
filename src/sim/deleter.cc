#include "sim/deleter.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "sim/fields.h"
#include "sim/list_options.h"
#include "sim/strategy.h"

namespace gpuop::sim {

using boost::json::array;
using boost::json::object;
using boost::json::value;

namespace {

constexpr char kOrphan[] = "orphan", kForeground[] = "foregroundDeletion";

Status InvalidOptions(FieldError error) { return Invalid("meta.k8s.io", "DeleteOptions", "", {std::move(error)}); }

bool Any(const array* list) { return list != nullptr && !list->empty(); }

bool BoolAt(const object& o, std::string_view name) {
  const value* v = o.if_contains(name);
  return v != nullptr && v->is_bool() && v->get_bool();
}

std::string Success(const ResourceInfo& info, const Stored& stored) {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":)";
  data::AppendJsonString(out, stored.name);
  if (!info.group.empty()) out += fmt::format(",\"group\":\"{}\"", info.group);
  return out + fmt::format(",\"kind\":\"{}\",\"uid\":\"{}\"}}}}", info.plural, stored.uid);
}

}  // namespace

Answer<object> Deleter::ReadOptions(ApiServer& server, Request& request) {
  if (Trim(request.http->body).empty()) return object{};
  if (request.http->content_type.contains("protobuf")) {
    std::vector<std::string> problems;
    return server.types().Decode(request, request.http->content_type, request.http->body, problems);
  }
  auto parsed = data::ParseJson(request.http->body);
  if (!parsed || !parsed->is_object())
    return std::unexpected(BadRequest("couldn't get version/kind; json parse error: " +
                                      (parsed ? std::string("expected an object") : parsed.error().text)));
  const std::string_view kind = TextAt(parsed->get_object(), "kind");
  if (!kind.empty() && kind != "DeleteOptions")
    return std::unexpected(BadRequest(
        fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"", kind,
                    TextAt(parsed->get_object(), "apiVersion"))));
  return std::move(parsed->get_object());
}

Answer<Deleter::Options> Deleter::Understand(const object& given) const {
  Options options;
  options.grace = IntAt(given, "gracePeriodSeconds");
  if (const auto v = request_.Param("gracePeriodSeconds"); v && !options.grace) options.grace = ParseInt(*v);
  options.policy = TextAt(given, "propagationPolicy");
  if (const auto v = request_.Param("propagationPolicy"); v && options.policy.empty()) options.policy = *v;
  options.uid = TextAt(given, "preconditions.uid");
  options.revision = TextAt(given, "preconditions.resourceVersion");
  const bool old_style = given.contains("orphanDependents") || request_.Param("orphanDependents");
  if (old_style && !options.policy.empty())
    return std::unexpected(InvalidOptions({FieldError::Kind::kInvalid, "propagationPolicy", Quote(options.policy),
                                           "orphanDependents and deletionPropagation cannot be both set"}));
  if (!options.policy.empty() && options.policy != "Foreground" && options.policy != "Background" &&
      options.policy != "Orphan")
    return std::unexpected(InvalidOptions({FieldError::Kind::kNotSupported, "propagationPolicy", Quote(options.policy),
                                           "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""}));
  if (old_style)
    options.policy =
        BoolAt(given, "orphanDependents") || BoolParam(*request_.http, "orphanDependents") ? "Orphan" : "Background";
  if (const array* dry_run = ArrayAt(given, "dryRun"); Any(dry_run))
    for (const value& v : *dry_run) {
      if (v != "All")
        return std::unexpected(InvalidOptions(
            {FieldError::Kind::kNotSupported, "dryRun", data::ToJson(*dry_run), "supported values: \"All\""}));
      request_.dry_run = true;
    }
  return options;
}

Answer<> Deleter::CheckPreconditions(const Options& options, const Stored& stored) const {
  ResourceInfo by_kind;  // these conflicts name the kind instead of the resource
  by_kind.group = info_.group, by_kind.plural = info_.kind;
  if (!options.uid.empty() && options.uid != stored.uid)
    return std::unexpected(
        Conflict(by_kind, stored.name,
                 fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). "
                             "The object might have been deleted and then recreated",
                             options.uid, stored.uid)));
  if (!options.revision.empty() && options.revision != std::to_string(stored.revision))
    return std::unexpected(Conflict(
        by_kind, stored.name,
        fmt::format(
            "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record ({}). The "
            "object might have been modified",
            options.revision, stored.revision)));
  return {};
}

Answer<Response> Deleter::One(const object& given) {
  ASSIGN(const Form form, Negotiate(request_.http->accept));
  ASSIGN(const Options options, Understand(given));
  const StoredPtr stored = server_.store().Get(info_.table, request_.ns(), request_.name());
  if (info_.table == "/namespaces" &&
      (request_.name() == "default" || request_.name() == "kube-system" || request_.name() == "kube-public"))
    return std::unexpected(Forbidden(info_, request_.name(), "this namespace may not be deleted"));
  if (!stored) return std::unexpected(NotFound(info_, request_.name()));
  ASSIGN(const Deleted deleted, DeleteStored(stored, options));
  if (deleted.gone && !ReturnsDeleted(info_)) return Response::Json(Success(info_, *stored));
  const Encoder encoder = server_.EncoderFor(request_, form);
  return deleted.last ? encoder.Object(deleted.last) : encoder.Object(deleted.object);
}

Answer<Response> Deleter::Collection(const object& given) {
  ASSIGN(const Form form, Negotiate(request_.http->accept));
  ASSIGN(const Options options, Understand(given));
  ASSIGN(const ListOptions list, ReadListOptions(request_));
  Store::Query query;
  if (info_.namespaced && !request_.ns().empty()) query.ns = request_.ns();
  query.matches = list.filter.matches;
  query.limit = list.limit;
  const Page page = server_.store().List(info_.table, query);
  for (const StoredPtr& stored : page.items) {
    // Deleting one may have taken another with it.
    if (server_.store().Get(info_.table, stored->ns, stored->name) != stored) continue;
    if (auto done = DeleteStored(stored, options); !done && done.error().code != 404)
      return std::unexpected(done.error());
  }
  return server_.EncoderFor(request_, form).List(page.items, {server_.store().revision(), "", std::nullopt});
}

void Deleter::MarkDeleting(object& o) const {
  object& metadata = Child(o, "metadata");
  if (!metadata.contains("deletionTimestamp")) metadata["deletionTimestamp"] = FormatTime(server_.executor().Wall());
  metadata["deletionGracePeriodSeconds"] = 0;
}

/// True when the object was marked by its kind's grace; `pending`: it was on its way already.
bool Deleter::MarkGraceful(object& o, const Options& options, bool& pending) const {
  if (info_.table != "/pods") return false;
  object& metadata = Child(o, "metadata");
  const auto running = IntAt(metadata, "deletionGracePeriodSeconds");
  const std::int64_t grace = PodGraceSeconds(o, options.grace);
  const auto now = server_.executor().Wall();
  if (const auto since = ParseTime(TextAt(metadata, "deletionTimestamp"))) {
    // Only a shorter time than what remains may be asked for.
    pending = !options.grace || !running || std::max<std::int64_t>(*options.grace, 0) >= *running;
    if (pending) return false;
    const std::int64_t shorter = *options.grace < 0 ? 1 : *options.grace;
    metadata["deletionTimestamp"] = FormatTime(*since - std::chrono::seconds(*running - shorter));
    metadata["deletionGracePeriodSeconds"] = shorter;
    return true;
  }
  metadata["deletionTimestamp"] = FormatTime(now + std::chrono::seconds(grace));
  metadata["deletionGracePeriodSeconds"] = grace;
  if (const auto generation = IntAt(metadata, "generation"); generation && *generation > 0)
    metadata["generation"] = *generation + 1;
  return true;
}

/// Puts the finalizers that the propagation policy asks for; true when that changed any.
bool Deleter::SetFinalizers(object& o, const Options& options) const {
  if (options.policy.empty()) return false;
  object& metadata = Child(o, "metadata");
  array wanted;
  if (const array* old = ArrayAt(metadata, "finalizers"))
    for (const value& v : *old)
      if (v != kOrphan && v != kForeground) wanted.push_back(v);
  if (options.policy == "Orphan") wanted.emplace_back(kOrphan);
  if (options.policy == "Foreground") wanted.emplace_back(kForeground);
  const array* old = ArrayAt(metadata, "finalizers");
  if (old == nullptr ? wanted.empty() : data::JsonEqual(*old, wanted)) return false;
  if (wanted.empty())
    metadata.erase("finalizers");
  else
    metadata["finalizers"] = std::move(wanted);
  return true;
}

/// A namespace goes in two steps: it turns Terminating, and whoever empties it finalizes it. True when nothing holds
/// it.
bool Deleter::DeleteNamespace(object& o) const {
  object& metadata = Child(o, "metadata");
  if (!metadata.contains("deletionTimestamp")) metadata["deletionTimestamp"] = FormatTime(server_.executor().Wall());
  Child(o, "status")["phase"] = "Terminating";
  return !Any(ArrayAt(o, "spec.finalizers")) && !Any(ArrayAt(o, "metadata.finalizers"));
}

Answer<StoredPtr> Deleter::Save(object& o) { return server_.store().Put(info_.table, o); }

Answer<Deleter::Deleted> Deleter::Remove(const StoredPtr& stored, object o) {
  if (request_.dry_run) return Deleted{nullptr, std::move(o), true};
  ASSIGN(StoredPtr last, server_.store().Delete(info_.table, stored->ns, stored->name));
  return Deleted{std::move(last), {}, true};
}

Answer<Deleter::Deleted> Deleter::DeleteStored(const StoredPtr& stored, const Options& options) {
  TRY(CheckPreconditions(options, *stored));
  auto parsed = data::ParseJson(stored->json);
  GPUOP_CHECK(parsed.has_value() && parsed->is_object());
  object o = std::move(parsed->get_object());
  const object old = o;
  TRY(server_.Check(request_, nullptr, &old));
  bool pending = false, now = false;
  const bool graceful = MarkGraceful(o, options, pending);
  if (pending) return Deleted{stored, {}, false};
  const bool finalizers_changed = SetFinalizers(o, options);
  const bool held = Any(ArrayAt(o, "metadata.finalizers"));
  if (info_.table == "/namespaces")
    now = DeleteNamespace(o);
  else if (!graceful && held)
    MarkDeleting(o);
  const std::int64_t grace = IntAt(o, "metadata.deletionGracePeriodSeconds").value_or(0);
  if (info_.table != "/namespaces") now = !held && grace == 0;
  const bool changed = graceful || finalizers_changed || held || info_.table == "/namespaces";
  if (!changed || (now && info_.table == "/namespaces")) return Remove(stored, std::move(o));
  if (request_.dry_run) return Deleted{nullptr, std::move(o), now};
  StoredPtr kept = stored;
  if (!data::JsonEqual(value(o), value(old))) {
    ASSIGN(kept, Save(o));
  }
  if (now) return Remove(kept, std::move(o));
  return Deleted{std::move(kept), {}, false};
}

}  // namespace gpuop::sim
