#include "operands/gfd/output.h"

#include <cstdio>
#include <utility>

#include "api/nfd.h"
#include "kube/types/pod.h"
#include "operands/node_feature.h"

namespace gpuop::operands::gfd {
namespace {

std::string Lines(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out.append(key).append("=").append(value).append("\n");
  return out;
}

/// The object, without owners.
data::JsonObject NodeFeatureOf(const std::string& ns, const std::string& node, const Labels& labels) {
  data::JsonObject own;
  for (const auto& [key, value] : labels) own[key] = value;
  const data::JsonObject none;
  return NodeFeatureObject(ns, "nvidia-features-for-" + node, node,
                           {{"flags", none}, {"attributes", none}, {"instances", none}}, std::move(own));
}

}  // namespace

Result<bool> FileOutput::Write(const Labels& labels) {
  std::string text = Lines(labels);
  if (const auto before = fs_.Read(path_); before && *before == text) return false;
  TRY(fs_.WriteAtomic(path_, text, os::FileAttributes{.mode = 0644}));
  return true;
}

void FileOutput::Withdraw() {
  // A file that cannot be removed stays true until the next run.
  if (!keep_) static_cast<void>(fs_.Remove(path_));
}

Result<bool> StdoutOutput::Write(const Labels& labels) {
  if (labels == last_) return false;
  const std::string text = Lines(labels);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return Fail(Code::kIo, "standard output cannot be written");
  last_ = labels;
  return true;
}

Result<boost::json::array> NodeFeatureOutput::Owners() const {
  boost::json::array owners;
  if (pod_.empty()) return owners;
  ASSIGN(const boost::json::object pod, client_.Get(kube::Ref<kube::Pod>(ns_, pod_)));
  const data::Json whole(pod);
  if (const auto* references = data::GetArray(whole, "metadata.ownerReferences"))
    for (const data::Json& reference : *references)
      if (data::BoolOr(reference, "controller") && data::StringOr(reference, "kind") == "DaemonSet") {
        auto owner = OwnerReference(data::StringOr(reference, "apiVersion"), "DaemonSet",
                                    data::StringOr(reference, "name"), data::StringOr(reference, "uid"));
        owner["controller"] = true;
        owners.emplace_back(std::move(owner));
      }
  owners.emplace_back(OwnerReference("v1", "Pod", pod_, data::StringOr(whole, "metadata.uid")));
  return owners;
}

Result<bool> NodeFeatureOutput::Write(const Labels& labels) {
  boost::json::object wanted = NodeFeatureOf(ns_, node_, labels);
  ASSIGN(boost::json::array owners, Owners());
  if (!owners.empty()) wanted["metadata"].as_object()["ownerReferences"] = std::move(owners);
  const kube::ObjectRef ref{api::kNodeFeature, ns_, "nvidia-features-for-" + node_, {}};
  auto live = client_.Get(ref);
  if (!live && live.error().code == Code::kNotFound) {
    TRY(client_.Create(api::kNodeFeature, wanted));
    return true;
  }
  if (!live) return std::unexpected(std::move(live).error());
  const data::Json now(*live), want(wanted);
  bool same = true;
  for (const char* path : {"spec", "metadata.labels", "metadata.ownerReferences"}) {
    const data::Json *a = data::Find(now, path), *b = data::Find(want, path);
    same = same && (b == nullptr || (a != nullptr && data::JsonEqual(*a, *b)));
  }
  if (same) return false;
  wanted["metadata"].as_object()["resourceVersion"] = data::StringOr(now, "metadata.resourceVersion");
  TRY(client_.Update(ref, wanted));
  return true;
}

}  // namespace gpuop::operands::gfd
