#include "cli/manage_crds.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "api/crd.h"
#include "kube/api_door.h"
#include "kube/config/config.h"
#include "kube/types/cluster.h"
#include "os/real_fs.h"

namespace gpuop::cli {
namespace {

constexpr const char* kUsage =
    "usage: gpu-operator manage-crds apply|delete [--kubeconfig FILE] [NAME...]\n"
    "  apply    make the CustomResourceDefinitions (or those named) as this program has them\n"
    "  delete   remove them and all their objects\n";

kube::ObjectRef RefOf(const std::string& name) { return kube::Ref<kube::CustomResourceDefinition>(name); }

Result<std::vector<const api::Definition*>> Named(const std::vector<std::string>& names) {
  std::vector<const api::Definition*> out;
  for (const api::Definition& d : api::Definitions())
    if (names.empty() || std::ranges::find(names, d.name()) != names.end()) out.push_back(&d);
  for (const std::string& name : names)
    if (std::ranges::find(api::Definitions(), name, &api::Definition::name) == api::Definitions().end())
      return Fail(Code::kInvalid, "no definition is called " + name + "; see gpu-operator crds --names");
  return out;
}

struct Order {
  bool apply = true;
  std::string kubeconfig;
  std::vector<std::string> names;
};

Result<Order> ParseOrder(std::span<char* const> args) {
  Order out;
  if (args.empty()) return Fail(Code::kInvalid, "apply or delete is missing");
  const std::string verb = args.front();
  if (verb != "apply" && verb != "delete") return Fail(Code::kInvalid, verb + " is neither apply nor delete");
  out.apply = verb == "apply";
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string word = args[i];
    if (word == "--kubeconfig" && i + 1 < args.size()) {
      out.kubeconfig = args[++i];
    } else if (word.starts_with("-")) {
      return Fail(Code::kInvalid, "there is no option " + word);
    } else {
      out.names.push_back(word);
    }
  }
  return out;
}

Result<> Carry(const Order& order) {
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(kube::ApiConfig config, kube::FindConfig(*fs, {.kubeconfig = order.kubeconfig}));
  ASSIGN(const auto api, kube::ApiDoor::Open(*fs, std::move(config)));
  const kube::Client client(api->door());
  return order.apply ? ApplyCrds(client, order.names) : DeleteCrds(client, order.names);
}

}  // namespace

Result<> ApplyCrds(const kube::Client& client, const std::vector<std::string>& names) {
  ASSIGN(const auto definitions, Named(names));
  for (const api::Definition* d : definitions) {
    auto applied = client.Apply(RefOf(d->name()), api::CustomResourceDefinitionOf(*d));
    if (!applied) return std::unexpected(std::move(applied).error().During("apply " + d->name()));
    std::printf("%s applied\n", d->name().c_str());
  }
  return {};
}

Result<> DeleteCrds(const kube::Client& client, const std::vector<std::string>& names) {
  ASSIGN(const auto definitions, Named(names));
  for (const api::Definition* d : definitions) {
    auto deleted = client.Delete(RefOf(d->name()));
    if (!deleted && deleted.error().code != Code::kNotFound)
      return std::unexpected(std::move(deleted).error().During("delete " + d->name()));
    std::printf("%s %s\n", d->name().c_str(), deleted ? "deleted" : "is not there");
  }
  return {};
}

int RunManageCrds(std::span<char* const> args) {
  const auto order = ParseOrder(args);
  if (!order) {
    std::fprintf(stderr, "gpu-operator manage-crds: %s\n%s", order.error().text.c_str(), kUsage);
    return 2;
  }
  if (const Result<> done = Carry(*order); !done) {
    std::fprintf(stderr, "gpu-operator manage-crds: %s\n", done.error().text.c_str());
    return done.error().code == Code::kInvalid ? 2 : 1;
  }
  return 0;
}

}  // namespace gpuop::cli
