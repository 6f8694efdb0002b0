#include "operands/nfd/worker/publisher.h"

#include <algorithm>

#include "api/nfd.h"
#include "base/text.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"
#include "operands/nfd/rules/name_rules.h"
#include "operands/node_feature.h"

namespace gpuop::operands::nfd {
namespace {

/// The version of NFD whose objects these are like.
constexpr const char* kVersion = "v0.19.0";

bool SameAt(const data::JsonObject& a, const data::JsonObject& b, std::string_view path) {
  const data::Json none;
  const data::Json *x = data::Find(a, path), *y = data::Find(b, path);
  return data::JsonEqual(x == nullptr ? none : *x, y == nullptr ? none : *y);
}

bool SameContent(const data::JsonObject& wanted, const data::JsonObject& live) {
  const bool owned = wanted.at("metadata").get_object().contains("ownerReferences");
  return SameAt(wanted, live, "spec") && NodeOf(wanted) == NodeOf(live) &&
         (!owned || SameAt(wanted, live, "metadata.ownerReferences"));
}

}  // namespace

data::JsonObject Publisher::ObjectOf(const NodeFacts& facts) const {
  data::JsonObject annotations{{std::string(kNotesNs) + "/worker.version", kVersion}};
  if (!program_.pod_uid.empty()) annotations[std::string(kNotesNs) + "/worker.pod.uid"] = program_.pod_uid;
  data::JsonObject out =
      NodeFeatureObject(program_.ns, program_.node, program_.node, ToObject(facts.features), ToObject(facts.labels));
  out["metadata"].get_object()["annotations"] = std::move(annotations);
  return out;
}

Result<data::JsonArray> Publisher::ReadOwners(const std::vector<Owner>& owners) {
  data::JsonArray out;
  data::JsonObject pod;
  if (std::ranges::any_of(owners, [](Owner owner) { return owner != Owner::kNode; }) && !program_.pod.empty()) {
    ASSIGN(pod, client_.Get(kube::Ref<kube::Pod>(program_.ns, program_.pod)));
  }
  for (const Owner owner : owners) {
    if (owner == Owner::kNode) {
      ASSIGN(const data::JsonObject node, client_.Get(kube::Ref<kube::Node>(program_.node)));
      out.push_back(OwnerReference("v1", "Node", program_.node, data::StringOr(node, "metadata.uid")));
    } else if (owner == Owner::kPod && !pod.empty()) {
      out.push_back(OwnerReference("v1", "Pod", program_.pod, data::StringOr(pod, "metadata.uid")));
    } else if (const auto* const above = data::GetArray(pod, "metadata.ownerReferences")) {
      for (const data::Json& reference : *above)
        if (data::StringOr(reference, "kind") == "DaemonSet") out.push_back(reference);
    }
  }
  return out;
}

std::optional<data::JsonArray> Publisher::OwnersOf(const std::vector<Owner>& owners) {
  if (owners_ && owners == owners_of_) return owners_;
  auto read = ReadOwners(owners);
  if (!read) {
    log_.Warn("the object's owner cannot be told", {{"reason", read.error().text}});
    return std::nullopt;
  }
  owners_of_ = owners;
  owners_ = *std::move(read);
  return owners_;
}

void Publisher::Remember(std::uint64_t content, const data::JsonObject& answer) {
  known_ = Known{content, std::string(data::StringOr(answer, "metadata.resourceVersion"))};
}

Result<bool> Publisher::Publish(const NodeFacts& facts, const std::vector<Owner>& owners) {
  if (distrust_.exchange(false)) known_.reset();
  data::JsonObject wanted = ObjectOf(facts);
  std::uint64_t content = Hash64(data::ToJson(wanted.at("spec")));
  for (const Owner owner : owners)
    content = Hash64(std::string(1, static_cast<char>('0' + static_cast<int>(owner))), content);
  if (known_ && known_->content == content) return false;
  auto done = Write(std::move(wanted), owners, content);
  if (!done) known_.reset();
  return done;
}

Result<bool> Publisher::Write(data::JsonObject wanted, const std::vector<Owner>& owners, std::uint64_t content) {
  const kube::ObjectRef ref{api::kNodeFeature, program_.ns, program_.node, {}};
  if (auto list = OwnersOf(owners); list && !list->empty())
    wanted["metadata"].get_object()["ownerReferences"] = *std::move(list);
  if (!known_) {
    auto live = client_.Get(ref);
    if (!live && live.error().code != Code::kNotFound) return std::unexpected(std::move(live).error());
    if (!live) {
      ASSIGN(const data::JsonObject answer, client_.Create(api::kNodeFeature, wanted));
      Remember(content, answer);
      return true;
    }
    Remember(content, *live);
    if (SameContent(wanted, *live)) return false;
  }
  wanted["metadata"].get_object()["resourceVersion"] = known_->resource_version;
  auto answer = client_.Update(ref, wanted);
  if (!answer) return std::unexpected(std::move(answer).error());
  Remember(content, *answer);
  return true;
}

}  // namespace gpuop::operands::nfd
