#include "kube/client.h"

#include <boost/json.hpp>
#include <condition_variable>

#include "base/mutex.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;
using Query = std::vector<std::pair<std::string, std::string>>;

void AddText(Query& query, std::string name, const std::string& value) {
  if (!value.empty()) query.emplace_back(std::move(name), value);
}
void AddNumber(Query& query, std::string name, std::optional<std::int64_t> value) {
  if (value) query.emplace_back(std::move(name), std::to_string(*value));
}

std::string_view Name(FieldValidation v) {
  switch (v) {
    case FieldValidation::kServerDefault: return "";
    case FieldValidation::kIgnore: return "Ignore";
    case FieldValidation::kWarn: return "Warn";
    case FieldValidation::kStrict: return "Strict";
  }
  return "";
}

std::string_view Name(Propagation p) {
  switch (p) {
    case Propagation::kServerDefault: return "";
    case Propagation::kOrphan: return "Orphan";
    case Propagation::kBackground: return "Background";
    case Propagation::kForeground: return "Foreground";
  }
  return "";
}

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson: return "application/json-patch+json";
    case PatchType::kMerge: return "application/merge-patch+json";
    case PatchType::kStrategic: return "application/strategic-merge-patch+json";
  }
  return "";
}

json::object ToJson(const DeleteOptions& o, std::string_view api_version) {
  json::object out{{"kind", "DeleteOptions"}, {"apiVersion", api_version}};
  if (o.grace_seconds) out["gracePeriodSeconds"] = *o.grace_seconds;
  if (const auto policy = Name(o.propagation); !policy.empty()) out["propagationPolicy"] = policy;
  if (!o.uid.empty() || !o.resource_version.empty()) {
    json::object& preconditions = out["preconditions"].emplace_object();
    if (!o.uid.empty()) preconditions["uid"] = o.uid;
    if (!o.resource_version.empty()) preconditions["resourceVersion"] = o.resource_version;
  }
  if (o.dry_run) out["dryRun"].emplace_array().emplace_back("All");
  return out;
}

ApiRequest ListRequest(const Resource& resource, const ListOptions& o) {
  ApiRequest r;
  r.path = PathOf({resource, o.ns, {}, {}});
  AddText(r.query, "labelSelector", o.label_selector);
  AddText(r.query, "fieldSelector", o.field_selector);
  AddText(r.query, "continue", o.continue_token);
  // A continued list is of the moment its token names.
  if (o.continue_token.empty()) {
    AddText(r.query, "resourceVersion", o.resource_version);
    AddText(r.query, "resourceVersionMatch", o.resource_version_match);
  }
  if (o.limit > 0) AddNumber(r.query, "limit", o.limit);
  return r;
}

ApiRequest LogRequest(std::string_view ns, std::string_view pod, const LogOptions& o) {
  ApiRequest r;
  r.path = PathOf({{"", "v1", "pods", "Pod", true}, std::string(ns), std::string(pod), "log"});
  r.accept = "*/*";
  AddText(r.query, "container", o.container);
  if (o.previous) r.query.emplace_back("previous", "true");
  if (o.timestamps) r.query.emplace_back("timestamps", "true");
  AddNumber(r.query, "tailLines", o.tail_lines);
  AddNumber(r.query, "sinceSeconds", o.since_seconds);
  AddNumber(r.query, "limitBytes", o.limit_bytes);
  return r;
}

std::string MetadataText(const json::object& object, std::string_view field) {
  const json::value* meta = object.if_contains("metadata");
  if (meta == nullptr || !meta->is_object()) return {};
  const json::value* v = meta->get_object().if_contains(field);
  return v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
}

bool IsRead(const ApiRequest& r) { return r.method == "GET" || r.method == "HEAD"; }

}  // namespace

bool BlockingWait(Duration span, const std::stop_token& stop) {
  Mutex mu;
  std::condition_variable_any never;
  Lock l(mu);
  never.wait_for(mu, stop, span, [] { return false; });
  return !stop.stop_requested();
}

Client Client::With(std::stop_token stop) const {
  Client other = *this;
  other.options_.stop = std::move(stop);
  return other;
}

Result<ApiResponse> Client::Send(const ApiRequest& request, std::optional<Duration>* retry_after) const {
  Duration pause = std::chrono::milliseconds(100);
  for (int attempt = 1;; ++attempt) {
    Result<ApiResponse> answer = door_->Call(request, options_.limit, options_.stop);
    if (answer && answer->status < 400) return answer;
    const bool last = attempt >= options_.attempts || !options_.wait;
    std::optional<Duration> again;
    if (answer) {
      // A Retry-After says that the request was turned away unread.
      if (answer->status == 429 || answer->status >= 500) again = answer->retry_after;
    } else if (IsRead(request) && (answer.error().code == Code::kUnavailable || answer.error().code == Code::kIo)) {
      again = pause;
      pause *= 2;
    }
    const bool refused = last || !again || *again > options_.longest_wait;
    if (refused || !options_.wait(*again, options_.stop)) {
      if (!answer) return answer;
      if (retry_after != nullptr) *retry_after = answer->retry_after;
      return std::unexpected(ReadStatus(*answer).ToError());
    }
  }
}

Result<json::object> Client::SendForObject(const ApiRequest& request) const {
  ASSIGN(const ApiResponse answer, Send(request));
  auto object = ParseObject(answer.body);
  if (!object) return std::unexpected(std::move(object).error().During(request.method + " " + request.path));
  return object;
}

ApiRequest Client::Write(std::string method, const ObjectRef& ref, const WriteOptions& o) const {
  ApiRequest r;
  r.method = std::move(method);
  r.path = PathOf(ref);
  r.content_type = "application/json";
  if (o.only_metadata) r.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  if (o.dry_run) r.query.emplace_back("dryRun", "All");
  AddText(r.query, "fieldManager", o.field_manager.empty() ? options_.field_manager : o.field_manager);
  AddText(r.query, "fieldValidation", std::string(Name(o.field_validation)));
  return r;
}

Result<json::object> Client::Get(const ObjectRef& ref) const {
  ApiRequest r;
  r.path = PathOf(ref);
  return SendForObject(r);
}

Result<json::object> Client::Create(const Resource& resource, const json::object& object,
                                    const WriteOptions& options) const {
  return Post({resource, resource.namespaced ? MetadataText(object, "namespace") : std::string(), {}, {}}, object,
              options);
}

Result<json::object> Client::Post(const ObjectRef& ref, const json::object& object, const WriteOptions& options) const {
  ApiRequest r = Write("POST", ref, options);
  r.body = json::serialize(object);
  return SendForObject(r);
}

Result<json::object> Client::Update(const ObjectRef& ref, const json::object& object,
                                    const WriteOptions& options) const {
  ApiRequest r = Write("PUT", ref, options);
  r.body = json::serialize(object);
  return SendForObject(r);
}

Result<json::object> Client::Patch(const ObjectRef& ref, PatchType type, const json::value& patch,
                                   const WriteOptions& options) const {
  ApiRequest r = Write("PATCH", ref, options);
  r.content_type = ContentType(type);
  r.body = json::serialize(patch);
  return SendForObject(r);
}

Result<json::object> Client::Apply(const ObjectRef& ref, const json::object& object, bool force,
                                   const WriteOptions& options) const {
  ApiRequest r = Write("PATCH", ref, options);
  r.content_type = "application/apply-patch+yaml";  // JSON is YAML
  if (force) r.query.emplace_back("force", "true");
  r.body = json::serialize(object);
  return SendForObject(r);
}

Result<json::object> Client::Delete(const ObjectRef& ref, const DeleteOptions& options) const {
  ApiRequest r;
  r.method = "DELETE";
  r.path = PathOf(ref);
  r.content_type = "application/json";
  r.body = json::serialize(ToJson(options, "v1"));
  return SendForObject(r);
}

Result<> Client::DeleteCollection(const Resource& resource, const ListOptions& which,
                                  const DeleteOptions& options) const {
  ApiRequest r = ListRequest(resource, which);
  std::erase_if(r.query, [](const auto& q) { return q.first == "limit" || q.first == "continue"; });
  r.method = "DELETE";
  r.content_type = "application/json";
  r.body = json::serialize(ToJson(options, "v1"));
  TRY(Send(r));
  return {};
}

Result<> Client::Evict(std::string_view ns, std::string_view pod, const DeleteOptions& options) const {
  const ObjectRef ref{{"", "v1", "pods", "Pod", true}, std::string(ns), std::string(pod), "eviction"};
  const json::object eviction{{"apiVersion", "policy/v1"},
                              {"kind", "Eviction"},
                              {"metadata", {{"name", pod}, {"namespace", ns}}},
                              {"deleteOptions", ToJson(options, "v1")}};
  Client once = *this;
  once.options_.attempts = 1;
  TRY(once.Post(ref, eviction));
  return {};
}

Result<std::int64_t> Client::GetScale(ObjectRef ref) const {
  ref.subresource = "scale";
  ASSIGN(const json::object scale, Get(ref));
  const json::value* spec = scale.if_contains("spec");
  if (spec == nullptr || !spec->is_object()) return Fail(Code::kInvalid, "scale: no spec");
  const json::value* replicas = spec->get_object().if_contains("replicas");
  return replicas != nullptr && replicas->is_int64() ? replicas->get_int64() : 0;
}

Result<> Client::SetScale(ObjectRef ref, std::int64_t replicas) const {
  ref.subresource = "scale";
  TRY(Patch(ref, PatchType::kMerge, json::object{{"spec", {{"replicas", replicas}}}}));
  return {};
}

Result<std::string> Client::Logs(std::string_view ns, std::string_view pod, const LogOptions& options) const {
  ASSIGN(ApiResponse answer, Send(LogRequest(ns, pod, options)));
  return std::move(answer.body);
}

Result<ListPage> Client::Page(const Resource& resource, const ListOptions& options,
                              std::optional<Duration>* retry_after) const {
  ASSIGN(ApiResponse answer, Send(ListRequest(resource, options), retry_after));
  ListPage page;
  page.body = std::make_unique<const std::string>(std::move(answer.body));
  ASSIGN(page.text, SplitList(*page.body));
  return page;
}

Result<> Client::List(const Resource& resource, ListOptions options,
                      const std::function<Result<>(json::object)>& each) const {
  do {
    ASSIGN(const ListPage page, Page(resource, options));
    for (const std::string_view item : page.text.items) {
      ASSIGN(json::object object, ParseObject(item));
      TRY(each(std::move(object)));
    }
    options.continue_token = page.text.continue_token;
  } while (!options.continue_token.empty());
  return {};
}

std::unique_ptr<Stream> Client::Watch(const Resource& resource, const WatchOptions& o,
                                      std::shared_ptr<StreamSink> sink) const {
  ApiRequest r;
  r.path = PathOf({resource, o.ns, {}, {}});
  r.query.emplace_back("watch", "true");
  AddText(r.query, "labelSelector", o.label_selector);
  AddText(r.query, "fieldSelector", o.field_selector);
  AddText(r.query, "resourceVersion", o.resource_version);
  if (o.bookmarks) r.query.emplace_back("allowWatchBookmarks", "true");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(o.timeout).count();
  if (seconds > 0) AddNumber(r.query, "timeoutSeconds", seconds);
  return door_->Open(r, std::move(sink));
}

}  // namespace gpuop::kube
