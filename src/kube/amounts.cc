#include "kube/amounts.h"

#include <algorithm>

#include "data/quantity.h"

namespace gpuop::kube {
namespace {

void RaiseTo(Amounts& to, const Amounts& least) {
  for (const auto& [name, amount] : least) {
    auto& have = to[name];
    have = std::max(have, amount);
  }
}

Amounts RequestsOf(const Container& c) {
  // Defaulting has copied limits into requests where those were absent.
  return AmountsOf(c.resources.requests.empty() ? c.resources.limits : c.resources.requests);
}

}  // namespace

std::int64_t AmountOf(const Amounts& amounts, std::string_view resource) {
  const auto it = amounts.find(resource);
  return it == amounts.end() ? 0 : it->second;
}

Amounts AmountsOf(const StringMap& quantities) {
  Amounts out;
  for (const auto& [name, text] : quantities) {
    const auto quantity = data::Quantity::Parse(text);
    if (!quantity || quantity->IsZero()) continue;
    out.emplace(name.view(), name == "cpu" ? quantity->MilliValue() : quantity->Value());
  }
  return out;
}

void AddTo(Amounts& to, const Amounts& what, std::int64_t times) {
  for (const auto& [name, amount] : what) {
    const auto it = to.try_emplace(name, 0).first;
    it->second += times * amount;
    if (it->second == 0) to.erase(it);
  }
}

Amounts PodRequests(const std::vector<ContainerRequest>& init, const std::vector<ContainerRequest>& containers,
                    const Amounts& overhead) {
  Amounts sidecars, peak;
  for (const ContainerRequest& c : init) {
    Amounts moment = sidecars;
    AddTo(moment, c.requests);
    RaiseTo(peak, moment);
    if (c.restartable) AddTo(sidecars, c.requests);
  }
  Amounts total = sidecars;
  for (const ContainerRequest& c : containers) AddTo(total, c.requests);
  RaiseTo(total, peak);
  AddTo(total, overhead);
  return total;
}

Amounts PodRequests(const PodSpec& pod) {
  std::vector<ContainerRequest> init, main;
  for (const Container& c : pod.init_containers) init.push_back({RequestsOf(c), c.restart_policy == "Always"});
  for (const Container& c : pod.containers) main.push_back({RequestsOf(c), false});
  return PodRequests(init, main, AmountsOf(pod.overhead));
}

}  // namespace gpuop::kube
