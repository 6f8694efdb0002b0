#include "operator/status_writer.h"

#include <algorithm>
#include <boost/json.hpp>

namespace gpuop::op {
namespace {

/// Whether the lists differ in nothing but messages.
bool SameButForMessages(const std::vector<api::Condition>& a, const std::vector<api::Condition>& b) {
  return std::ranges::equal(a, b, [](const api::Condition& x, const api::Condition& y) {
    return x.type == y.type && x.status == y.status && x.reason == y.reason &&
           x.observed_generation == y.observed_generation;
  });
}

}  // namespace

Result<std::optional<Duration>> StatusWriter::Write(const kube::ObjectRef& ref, const kube::ObjectMeta& meta,
                                                    const std::string& state, const std::string& ns,
                                                    const std::vector<api::Condition>& conditions,
                                                    const StatusReport& wanted) {
  if (state == wanted.state && ns == ns_ && conditions == wanted.conditions) return std::optional<Duration>();
  const boost::json::object patch = StatusPatch(wanted.state, ns_, wanted.conditions);
  const std::string text = boost::json::serialize(patch);
  const TimePoint now = clock_.Now();
  {
    Lock l(mu_);
    const auto it = last_.find(meta.uid);
    if (it != last_.end()) {
      // Written already; the cache has not caught up.
      if (it->second.version == meta.resource_version && it->second.text == text && now < it->second.at + kPace)
        return std::optional<Duration>(kPace);
      const bool counts_only = state == wanted.state && SameButForMessages(conditions, wanted.conditions);
      if (counts_only && now < it->second.at + kPace) return std::optional<Duration>(it->second.at + kPace - now);
    }
    last_[meta.uid] = {meta.resource_version, text, now};
  }
  kube::ObjectRef status = ref;
  status.subresource = "status";
  auto answer = client_.Patch(status, kube::PatchType::kMerge, patch);
  if (!answer && answer.error().code == Code::kNotFound) return std::optional<Duration>();
  if (!answer) {
    Lock l(mu_);
    last_.erase(meta.uid);  // it was not written
    return std::unexpected(std::move(answer).error().During("write status of " + ref.name));
  }
  return std::optional<Duration>();
}

}  // namespace gpuop::op
