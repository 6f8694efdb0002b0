#include "e2e/api/mutant_door.h"

#include <boost/json.hpp>
#include <string>
#include <utility>

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

/// Removes a field inside the body's metadata.
void DropFromBody(kube::ApiRequest& request, std::initializer_list<std::string_view> path) {
  boost::system::error_code error;
  json::value body = json::parse(request.body, error);
  if (error || !body.is_object()) return;
  json::object* at = &body.as_object();
  for (const std::string_view* step = path.begin(); step + 1 < path.end(); ++step) {
    json::value* next = at->if_contains(*step);
    if (next == nullptr || !next->is_object()) return;
    at = &next->as_object();
  }
  at->erase(*(path.end() - 1));
  request.body = json::serialize(body);
}

void DropQuery(kube::ApiRequest& request, std::string_view name) {
  std::erase_if(request.query, [&](const auto& q) { return q.first == name; });
}

void SetQuery(kube::ApiRequest& request, std::string_view name, std::string_view value) {
  for (auto& [key, old] : request.query)
    if (key == name) old = value;
}

using Mutate = void (*)(kube::ApiRequest&);

struct Planted {
  Mutant mutant;
  Mutate request;
  std::string_view swallowed_event;
};

const std::vector<Planted>& AllPlanted() {
  static const std::vector<Planted> planted = {
      {{"updates ignore the version they were based on", "update"},
       [](kube::ApiRequest& r) {
         if (r.method == "PUT") DropFromBody(r, {"metadata", "resourceVersion"});
       },
       ""},
      {{"dry runs are carried out", "dry-run"}, [](kube::ApiRequest& r) { DropQuery(r, "dryRun"); }, ""},
      {{"apply always takes what others own", "apply-own-and-remove"},
       [](kube::ApiRequest& r) {
         if (r.content_type == "application/apply-patch+yaml") SetQuery(r, "force", "true");
       },
       ""},
      {{"deletion ignores preconditions", "delete-preconditions"},
       [](kube::ApiRequest& r) {
         if (r.method == "DELETE") DropFromBody(r, {"preconditions"});
       },
       ""},
      {{"writes to status change the rest too", "generation"},
       [](kube::ApiRequest& r) {
         if (r.method == "PATCH" && r.path.ends_with("/status"))
           r.path.resize(r.path.size() - std::string_view("/status").size());
       },
       ""},
      {{"lists pay no heed to label selectors", "label-selectors"},
       [](kube::ApiRequest& r) { DropQuery(r, "labelSelector"); },
       ""},
      {{"lists come whole whatever the limit", "pages"}, [](kube::ApiRequest& r) { DropQuery(r, "limit"); }, ""},
      {{"watches lose deletions", "watch"}, [](kube::ApiRequest&) {}, R"({"type":"DELETED")"},
  };
  return planted;
}

/// Passes pieces on but for those that begin with `swallowed`.
class LossySink final : public kube::StreamSink {
 public:
  LossySink(std::shared_ptr<kube::StreamSink> next, std::string_view swallowed)
      : next_(std::move(next)), swallowed_(swallowed) {}
  void OnData(std::string_view piece) override {
    if (!swallowed_.empty() && piece.starts_with(swallowed_)) return;
    next_->OnData(piece);
  }
  void OnEnd(Result<> why, std::optional<Duration> retry_after) override { next_->OnEnd(std::move(why), retry_after); }

 private:
  std::shared_ptr<kube::StreamSink> next_;
  const std::string_view swallowed_;
};

class MutantDoor final : public kube::Door {
 public:
  MutantDoor(std::unique_ptr<kube::Door> door, const Planted& planted) : door_(std::move(door)), planted_(planted) {}

  Result<kube::ApiResponse> Call(const kube::ApiRequest& request, Duration limit, std::stop_token stop) override {
    kube::ApiRequest changed = request;
    planted_.request(changed);
    return door_->Call(changed, limit, std::move(stop));
  }
  std::unique_ptr<kube::Stream> Open(const kube::ApiRequest& request, std::shared_ptr<kube::StreamSink> sink) override {
    kube::ApiRequest changed = request;
    planted_.request(changed);
    return door_->Open(changed, std::make_shared<LossySink>(std::move(sink), planted_.swallowed_event));
  }

 private:
  std::unique_ptr<kube::Door> door_;
  const Planted& planted_;
};

}  // namespace

std::vector<Mutant> AllMutants() {
  std::vector<Mutant> mutants;
  for (const Planted& planted : AllPlanted()) mutants.push_back(planted.mutant);
  return mutants;
}

std::unique_ptr<kube::Door> MakeMutantDoor(std::unique_ptr<kube::Door> door, std::string_view mutant) {
  for (const Planted& planted : AllPlanted())
    if (mutant == planted.mutant.name) return std::make_unique<MutantDoor>(std::move(door), planted);
  return door;
}

}  // namespace gpuop::e2e
