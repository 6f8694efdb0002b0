#include "sim/controllers/endpoints_controller.h"

#include <algorithm>

#include "data/json.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr Duration kGather = std::chrono::milliseconds(20);
constexpr std::string_view kServiceName = "kubernetes.io/service-name";

std::string NsOf(const kube::ObjectMeta& meta) { return std::string(meta.ns.view()); }

bool SameList(const kube::RawJson& have, const json::array& wanted) {
  const auto parsed = data::ParseJson(have.text.empty() ? "[]" : have.text);
  return parsed && data::JsonEqual(*parsed, wanted);
}

json::object Labels(const kube::Service& service) {
  json::object out;
  for (const auto& [key, value] : service.meta.labels) out[key.view()] = value.view();
  return out;
}

kube::CacheOptions Options(const ControllerParts& p, std::uint64_t number) {
  kube::CacheOptions options;
  options.seed = p.seed * 64 + number;
  options.log = &p.log;
  return options;
}

Result<> Tolerant(Result<> r) {
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace

EndpointsController::EndpointsController(ControllerParts parts, SharedCaches& caches)
    : parts_(std::move(parts)),
      caches_(caches),
      slices_(parts_.executor, parts_.client, Options(parts_, 41)),
      endpoints_(parts_.executor, parts_.client, Options(parts_, 42)),
      controller_(parts_.executor, parts_.log, {.name = "endpoints", .seed = parts_.seed + 8},
                  [this](const std::string& key) { return Reconcile(key); }) {
  slices_.AddIndex("service", [](const EndpointSlice& slice, const std::function<void(std::string_view)>& emit) {
    emit(kube::KeyOf(slice.meta.ns, slice.meta.labels.Get(kServiceName)));
  });
  controller_.Needs(caches_.services);
  controller_.Needs(caches_.pods);
  controller_.Needs(slices_);
  controller_.Needs(endpoints_);
  caches_.services.OnChange([this](const kube::Change<kube::Service>& change) { controller_.Add(change.Key()); });
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    for (const auto& service : caches_.services.List()) {
      if (service->spec.selector.empty() || service->meta.ns != change.any().meta.ns) continue;
      const kube::LabelSelector selector{service->spec.selector, {}};
      const auto selects = [&](const std::shared_ptr<const kube::Pod>& pod) {
        return pod != nullptr && kube::Matches(selector, pod->meta.labels);
      };
      if (selects(change.old) || selects(change.now)) controller_.AddAfter(service->meta.Key(), kGather);
    }
  });
}

void EndpointsController::Start() {
  slices_.Start();
  endpoints_.Start();
  controller_.Start();
}

Result<kube::Next> EndpointsController::Reconcile(const std::string& key) {
  const auto service = caches_.services.Get(key);
  if (service == nullptr) {  // slices go with their owner; Endpoints have none
    const auto [ns, name] = kube::SplitKey(key);
    if (endpoints_.Get(key) == nullptr) return kube::Next{};
    TRY(Tolerant([&]() -> Result<> {
      TRY(parts_.client.Delete(kube::Ref<Endpoints>(std::string(ns), std::string(name))));
      return {};
    }()));
    return kube::Next{};
  }
  if (service->spec.selector.empty() || service->meta.deleting()) return kube::Next{};
  const auto groups = EndpointGroups(*service, caches_.pods.Find(kByNamespace, service->meta.ns));
  TRY(SyncSlices(*service, groups));
  TRY(SyncEndpoints(*service, groups));
  return kube::Next{};
}

Result<> EndpointsController::SyncSlices(const kube::Service& service, const std::vector<EndpointGroup>& groups) {
  std::vector<SlicePtr> have = slices_.Find("service", service.meta.Key());
  std::ranges::reverse(have);  // taken from the back, in the order of their names
  const auto next = [&]() -> SlicePtr {
    if (have.empty()) return nullptr;
    SlicePtr slice = std::move(have.back());
    have.pop_back();
    return slice;
  };
  if (groups.empty()) TRY(WriteSlice(service, next(), {}, {}));
  for (const EndpointGroup& group : groups) {
    for (std::size_t at = 0; at < group.pods.size(); at += kMostInSlice) {
      const auto end = std::min(group.pods.size(), at + kMostInSlice);
      const std::vector<PodPtr> part(group.pods.begin() + static_cast<std::ptrdiff_t>(at),
                                     group.pods.begin() + static_cast<std::ptrdiff_t>(end));
      TRY(WriteSlice(service, next(), group.ports, SliceEndpoints(service, part)));
    }
  }
  for (const SlicePtr& extra : have) {
    auto r =
        parts_.client.Delete(kube::Ref<EndpointSlice>(NsOf(extra->meta), extra->meta.name), {.uid = extra->meta.uid});
    if (!r && r.error().code != Code::kNotFound) return std::unexpected(std::move(r).error());
  }
  return {};
}

Result<> EndpointsController::WriteSlice(const kube::Service& service, const SlicePtr& have, json::array ports,
                                         json::array endpoints) {
  if (have != nullptr) {
    if (SameList(have->ports, ports) && SameList(have->endpoints, endpoints)) return {};
    return Tolerant(MergePatch(parts_.client, kube::Ref<EndpointSlice>(NsOf(have->meta), have->meta.name),
                               {{"ports", std::move(ports)}, {"endpoints", std::move(endpoints)}},
                               have->meta.resource_version));
  }
  json::object labels = Labels(service);
  labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io";
  labels[kServiceName] = service.meta.name;
  const json::object slice{
      {"apiVersion", "discovery.k8s.io/v1"},
      {"kind", "EndpointSlice"},
      {"metadata",
       {{"generateName", service.meta.name + "-"},
        {"namespace", service.meta.ns.view()},
        {"labels", std::move(labels)},
        {"ownerReferences", json::array{ControllerReference(kube::Service::kResource, service.meta)}}}},
      {"addressType", "IPv4"},
      {"ports", std::move(ports)},
      {"endpoints", std::move(endpoints)}};
  TRY(parts_.client.Create(EndpointSlice::kResource, slice));
  return {};
}

Result<> EndpointsController::SyncEndpoints(const kube::Service& service, const std::vector<EndpointGroup>& groups) {
  json::array subsets = EndpointSubsets(service, groups);
  const auto have = endpoints_.Get(service.meta.Key());
  if (have != nullptr) {
    if (SameList(have->subsets, subsets)) return {};
    return Tolerant(MergePatch(parts_.client, kube::Ref<Endpoints>(NsOf(have->meta), have->meta.name),
                               {{"subsets", std::move(subsets)}}, have->meta.resource_version));
  }
  json::object labels = Labels(service);
  labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller";
  json::object object{
      {"apiVersion", "v1"},
      {"kind", "Endpoints"},
      {"metadata",
       {{"name", service.meta.name}, {"namespace", service.meta.ns.view()}, {"labels", std::move(labels)}}}};
  if (!subsets.empty()) object["subsets"] = std::move(subsets);
  auto made = parts_.client.Create(Endpoints::kResource, object);
  if (!made && made.error().code != Code::kAlreadyExists) return std::unexpected(std::move(made).error());
  return {};
}

}  // namespace gpuop::sim
