#include "kube/door_fake.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "data/patch.h"
#include "kube/door_fake_match.h"
#include "kube/list_text.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

ApiResponse Ok(int status, const json::object& body) {
  return {.status = status, .content_type = "application/json", .body = json::serialize(body), .retry_after = {}};
}

/// The resource as far as a path names it.
Resource ResourceIn(const RequestPath& path) { return {path.group, path.version, path.plural, path.plural, true}; }

bool HasFinalizers(const json::object& object) {
  const auto* f = data::Find(object, "metadata.finalizers");
  return f != nullptr && f->is_array() && !f->get_array().empty();
}

/// Equal but for what every write changes.
bool SameContent(json::object a, json::object b) {
  for (json::object* o : {&a, &b}) {
    json::object& meta = (*o)["metadata"].get_object();
    meta.erase("resourceVersion");
    meta.erase("generation");
    meta.erase("managedFields");
  }
  return a == b;
}

Result<data::Json> Patched(const std::string& type, const json::object& before, const data::Json& patch) {
  if (type.starts_with("application/json-patch")) return data::ApplyJsonPatch(before, patch);
  if (type.starts_with("application/strategic-merge-patch")) return data::ApplyStrategicPatch(before, patch, nullptr);
  return data::ApplyMergePatch(before, patch);
}

}  // namespace

FakeDoor::FakeDoor(Executor& executor, std::uint64_t seed) : executor_(executor), rng_(seed) {}
FakeDoor::~FakeDoor() = default;

Result<ApiResponse> FakeDoor::Call(const ApiRequest& request, Duration, std::stop_token stop) {
  if (stop.stop_requested()) return Fail(Code::kCancelled, "stopping");
  Interceptor interceptor;
  Spoiler spoiler;
  {
    Lock l(mu_);
    requests_.push_back(request);
    interceptor = interceptor_;
    spoiler = spoiler_;
  }
  if (interceptor)
    if (auto verdict = interceptor(request)) return *std::move(verdict);
  ApiResponse answer;
  {
    Lock l(mu_);
    const auto path = ParsePath(request.path);
    answer = path && !path->plural.empty() ? Answer(request, *path) : NoSuchPath().ToResponse();
  }
  if (spoiler)
    if (auto other = spoiler(request, answer)) return *std::move(other);
  return answer;
}

ApiResponse FakeDoor::Answer(const ApiRequest& request, const RequestPath& path) {
  if (request.method == "GET") {
    if (path.name.empty()) return List(request, path);
    const JsonObject* object = Find(path);
    return object == nullptr ? NotFound(ResourceIn(path), path.name).ToResponse() : Ok(200, *object);
  }
  if (request.method == "POST") return Create(request, path);
  if (request.method == "PUT") return Update(request, path);
  if (request.method == "PATCH") return Patch(request, path);
  if (request.method == "DELETE") return Delete(request, path);
  return MethodNotAllowed().ToResponse();
}

const FakeDoor::JsonObject* FakeDoor::Find(const RequestPath& path) const {
  const std::string ns = path.plural == "namespaces" ? std::string() : path.ns;
  const auto it = objects_.find({fake::Shelf(path.group, path.plural), KeyOf(ns, path.name)});
  return it == objects_.end() ? nullptr : it->second.get();
}

/// Continue tokens are "version:last key": later pages show objects as they are now, but a token's age counts.
ApiResponse FakeDoor::List(const ApiRequest& request, const RequestPath& path) {
  std::string after;
  std::uint64_t version = version_;
  if (const std::string token = fake::Query(request, "continue"); !token.empty()) {
    const auto parts = Cut(token, ':');
    version = static_cast<std::uint64_t>(ParseInt(parts ? parts->first : "").value_or(0));
    if (parts) after = parts->second;
    if (version < compacted_)
      return Expired("The provided continue parameter is too old to display a consistent list result.").ToResponse();
  }
  const auto limit = ParseInt(fake::Query(request, "limit")).value_or(0);
  json::array items;
  std::string last;
  std::string token;
  const std::string shelf = fake::Shelf(path.group, path.plural);
  for (auto it = objects_.upper_bound({shelf, after}); it != objects_.end() && it->first.first == shelf; ++it) {
    if (!fake::Selected(request, path.ns, *it->second)) continue;
    if (limit > 0 && static_cast<std::int64_t>(items.size()) == limit) {
      token = std::to_string(version) + ":" + last;
      break;
    }
    items.emplace_back(*it->second);
    last = it->first.second;
  }
  json::object meta{{"resourceVersion", std::to_string(version)}};
  if (!token.empty()) meta["continue"] = token;
  return Ok(200, {{"kind", "List"}, {"apiVersion", "v1"}, {"metadata", std::move(meta)}, {"items", std::move(items)}});
}

ApiResponse FakeDoor::Create(const ApiRequest& request, const RequestPath& path) {
  auto body = ParseObject(request.body);
  if (!body) return BadRequest(body.error().text).ToResponse();
  const bool dry_run = fake::Query(request, "dryRun") == "All";
  if (path.subresource == "eviction") {
    ApiRequest del;
    RequestPath pod = path;
    pod.subresource.clear();
    return Delete(del, pod);
  }
  json::object& meta =
      (*body)["metadata"].is_object() ? (*body)["metadata"].get_object() : (*body)["metadata"].emplace_object();
  if (!path.ns.empty()) meta["namespace"] = path.ns;
  if (!meta.contains("name")) meta["name"] = fake::MetaText(*body, "generateName") + NameSuffix(rng_);
  RequestPath at = path;
  at.name = fake::MetaText(*body, "name");
  if (Find(at) != nullptr) return AlreadyExists(ResourceIn(path), at.name).ToResponse();
  meta.erase("resourceVersion");
  meta["uid"] = NewUuid(rng_);
  meta["generation"] = 1;
  meta["creationTimestamp"] = FormatTime(executor_.Wall());
  ApiResponse answer = Store(at, *std::move(body), dry_run);
  if (answer.status == 200) answer.status = 201;
  return answer;
}

ApiResponse FakeDoor::Update(const ApiRequest& request, const RequestPath& path) {
  auto body = ParseObject(request.body);
  if (!body) return BadRequest(body.error().text).ToResponse();
  if (Find(path) == nullptr) return NotFound(ResourceIn(path), path.name).ToResponse();
  return Store(path, *std::move(body), fake::Query(request, "dryRun") == "All");
}

ApiResponse FakeDoor::Patch(const ApiRequest& request, const RequestPath& path) {
  const auto patch = data::ParseJson(request.body);
  if (!patch) return BadRequest(patch.error().text).ToResponse();
  const JsonObject* before = Find(path);
  if (before == nullptr) {
    if (!request.content_type.starts_with("application/apply-patch"))
      return NotFound(ResourceIn(path), path.name).ToResponse();
    ApiRequest create = request;
    RequestPath collection = path;
    collection.name.clear();
    return Create(create, collection);
  }
  const auto after = Patched(request.content_type, *before, *patch);
  if (!after || !after->is_object()) return BadRequest(after ? "not an object" : after.error().text).ToResponse();
  return Store(path, after->get_object(), fake::Query(request, "dryRun") == "All");
}

ApiResponse FakeDoor::Store(const RequestPath& path, JsonObject now, bool dry_run) {
  const JsonObject* before = Find(path);
  if (before != nullptr) {
    const std::string wanted = fake::MetaText(now, "resourceVersion");
    if (!wanted.empty() && wanted != fake::MetaText(*before, "resourceVersion"))
      return Modified(ResourceIn(path), path.name).ToResponse();
    if (path.subresource == "status") {
      JsonObject merged = *before;
      merged["status"] = now["status"];
      now = std::move(merged);
    }
    JsonObject& meta = now["metadata"].get_object();
    const JsonObject& old_meta = before->at("metadata").get_object();
    for (const char* kept : {"uid", "creationTimestamp", "deletionTimestamp", "generation", "resourceVersion"})
      if (const auto* v = old_meta.if_contains(kept)) meta[kept] = *v;
    if (SameContent(*before, now)) return Ok(200, *before);
    const auto* spec = now.if_contains("spec");
    const auto* old_spec = before->if_contains("spec");
    if ((spec == nullptr) != (old_spec == nullptr) || (spec != nullptr && *spec != *old_spec))
      meta["generation"] = data::IntOr(Json(*before), "metadata.generation") + 1;
  }
  if (dry_run) return Ok(200, now);
  Stamp(now);
  const std::string ns = path.plural == "namespaces" ? std::string() : path.ns;
  const Place place{fake::Shelf(path.group, path.plural), KeyOf(ns, path.name)};
  const bool going = !fake::MetaText(now, "deletionTimestamp").empty() && !HasFinalizers(now);
  ApiResponse answer = Ok(200, now);
  Commit(place, going ? nullptr : std::make_shared<const JsonObject>(std::move(now)));
  return answer;
}

void FakeDoor::Stamp(JsonObject& object) {
  object["metadata"].get_object()["resourceVersion"] = std::to_string(++version_);
}

ApiResponse FakeDoor::Delete(const ApiRequest& request, const RequestPath& path) {
  const std::string shelf = fake::Shelf(path.group, path.plural);
  if (path.name.empty()) {
    std::vector<Place> gone;
    for (auto it = objects_.lower_bound({shelf, {}}); it != objects_.end() && it->first.first == shelf; ++it)
      if (fake::Selected(request, path.ns, *it->second)) gone.push_back(it->first);
    for (const Place& place : gone) {
      ++version_;
      Commit(place, nullptr);
    }
    return Ok(200, Status{.code = 200}.ToJson());
  }
  const JsonObject* before = Find(path);
  if (before == nullptr) return NotFound(ResourceIn(path), path.name).ToResponse();
  if (const auto body = data::ParseJson(request.body.empty() ? "{}" : request.body)) {
    for (const char* field : {"uid", "resourceVersion"}) {
      const std::string_view want = data::StringOr(*body, std::string("preconditions.") + field);
      if (!want.empty() && want != fake::MetaText(*before, field))
        return Conflict(ResourceIn(path), path.name, "the precondition does not hold").ToResponse();
    }
  }
  const std::string ns = path.plural == "namespaces" ? std::string() : path.ns;
  const Place place{shelf, KeyOf(ns, path.name)};
  if (!HasFinalizers(*before)) {
    const ApiResponse answer = Ok(200, *before);
    ++version_;
    Commit(place, nullptr);
    return answer;
  }
  JsonObject going = *before;
  if (fake::MetaText(going, "deletionTimestamp").empty()) {
    going["metadata"].get_object()["deletionTimestamp"] = FormatTime(executor_.Wall());
    Stamp(going);
    Commit(place, std::make_shared<const JsonObject>(going));
  }
  return Ok(200, going);
}

FakeDoor::JsonObject FakeDoor::Put(const Resource& resource, JsonObject object) {
  Lock l(mu_);
  JsonObject& meta =
      object["metadata"].is_object() ? object["metadata"].get_object() : object["metadata"].emplace_object();
  const Place place{fake::Shelf(resource.group, resource.plural),
                    KeyOf(fake::MetaText(object, "namespace"), fake::MetaText(object, "name"))};
  const auto it = objects_.find(place);
  if (it != objects_.end()) {
    for (const char* kept : {"uid", "creationTimestamp"})
      if (!meta.contains(kept)) meta[kept] = fake::MetaText(*it->second, kept);
  }
  if (!meta.contains("uid")) meta["uid"] = NewUuid(rng_);
  if (!meta.contains("creationTimestamp")) meta["creationTimestamp"] = FormatTime(executor_.Wall());
  Stamp(object);
  Commit(place, std::make_shared<const JsonObject>(object));
  return object;
}

void FakeDoor::Remove(const ObjectRef& ref) {
  Lock l(mu_);
  const Place place{fake::Shelf(ref.resource.group, ref.resource.plural), KeyOf(ref.ns, ref.name)};
  if (!objects_.contains(place)) return;
  ++version_;
  Commit(place, nullptr);
}

std::optional<FakeDoor::JsonObject> FakeDoor::Peek(const ObjectRef& ref) const {
  Lock l(mu_);
  const auto it = objects_.find({fake::Shelf(ref.resource.group, ref.resource.plural), KeyOf(ref.ns, ref.name)});
  return it == objects_.end() ? std::nullopt : std::optional(*it->second);
}

std::vector<FakeDoor::JsonObject> FakeDoor::PeekAll(const Resource& resource) const {
  Lock l(mu_);
  std::vector<JsonObject> out;
  const std::string shelf = fake::Shelf(resource.group, resource.plural);
  for (auto it = objects_.lower_bound({shelf, {}}); it != objects_.end() && it->first.first == shelf; ++it)
    out.push_back(*it->second);
  return out;
}

void FakeDoor::Compact() {
  Lock l(mu_);
  history_.clear();
  compacted_ = version_;
}

void FakeDoor::Intercept(Interceptor interceptor) {
  Lock l(mu_);
  interceptor_ = std::move(interceptor);
}
void FakeDoor::Spoil(Spoiler spoiler) {
  Lock l(mu_);
  spoiler_ = std::move(spoiler);
}
std::vector<ApiRequest> FakeDoor::Requests() const {
  Lock l(mu_);
  return requests_;
}
std::uint64_t FakeDoor::version() const {
  Lock l(mu_);
  return version_;
}

}  // namespace gpuop::kube
