#include "sim/cluster.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "net/url.h"
#include "sim/types/discovery/discovery.h"
#include "sim/types/openapi/openapi.h"

namespace gpuop::sim {
namespace {

/// The key that signs service accounts' tokens: the same cluster (the same seed) keeps accepting them.
std::string SigningKey(std::uint64_t seed) {
  Rng rng(seed ^ 0x70c3ULL);
  return NewUuid(rng) + NewUuid(rng);
}

}  // namespace

ControlPlane::ControlPlane(Executor& executor, std::uint64_t seed, HistoryLimit history)
    : executor_(executor), rng_(seed), fault_rng_(seed ^ 0xfa017ULL), store_(history), types_(executor) {
  AddBuiltinResources(registry_);
  server_ = std::make_unique<ApiServer>(ApiServer::Parts{executor_, rng_, store_, registry_});
  server_->SetTypes(types_);
  plugins_ = std::make_unique<Plugins>(*server_, Plugins::Options{.signing_key = SigningKey(seed), .ca = {}});
  types_.SetCustom(plugins_->custom_types());
  types::ServeDiscovery(*server_, registry_);
  types::ServeOpenApi(*server_, registry_);
}

ControlPlane::~ControlPlane() = default;

void ControlPlane::Make(std::string path, std::string body) {
  kube::ApiRequest create;
  create.method = "POST";
  create.path = std::move(path);
  create.content_type = "application/json";
  create.user_agent = "kube-apiserver";
  create.body = std::move(body);
  const Response made = server_->Handle(create, User::Admin());
  GPUOP_CHECK(made.status == 201);
}

void ControlPlane::Bootstrap() {
  if (!event_expiry_) event_expiry_ = std::make_unique<EventExpiry>(executor_, store_);
  plugins_->Bootstrap();
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    if (!store_.Get("/namespaces", "", name))
      Make("/api/v1/namespaces", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  }
  if (!store_.Get("/services", "default", "kubernetes"))
    Make("/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"kubernetes","labels":{"component":"apiserver","provider":"kubernetes"}},)"
         R"("spec":{"clusterIP":"10.96.0.1","ipFamilyPolicy":"SingleStack",)"
         R"("ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":6443}]}})");
}

Cluster::Cluster(std::uint64_t seed, HistoryLimit history)
    : executor_(seed), plane_(executor_, seed, history), admin_(plane_.DoorFor(User::Admin())) {
  plane_.store().Observe([this](std::string_view table, const Event& event) {
    executor_.Trace(
        fmt::format("{} {} {} {}", event.revision, table, static_cast<int>(event.type), event.object->json));
  });
  plane_.Bootstrap();
}

kube::ApiResponse Cluster::Call(const std::string& method, const std::string& path, const std::string& body,
                                const std::string& content_type) {
  kube::ApiRequest request;
  request.method = method;
  const auto parts = Cut(path, '?');
  request.path = parts ? std::string(parts->first) : path;
  if (parts) request.query = net::DecodeQuery(parts->second).value_or(net::QueryPairs{});
  if (!body.empty()) request.content_type = content_type;
  request.body = body;
  const Response response = server().Handle(request, User::Admin());
  return {response.status, response.content_type, response.body.Join(), response.retry_after};
}

}  // namespace gpuop::sim
