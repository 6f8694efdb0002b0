#include "operands/toolkit/program/repair_news.h"

#include <fmt/core.h>

#include <utility>

#include "base/text.h"
#include "operands/node_event.h"
#include "os/heap.h"

namespace gpuop::operands::toolkit {
namespace {

constexpr int kAttempts = 3;
constexpr Duration kBetweenAttempts = std::chrono::seconds(10);
constexpr const char* kRestored = "RuntimeEntriesRestored";
constexpr const char* kLost = "RuntimeEntriesLost";
/// The engine's own words can be long.
constexpr std::size_t kMostError = 500;

/// The path on the host, which people know.
std::string PathForPeople(const container::EngineFiles& files, const std::string& path) {
  if (path == files.config) return files.ConfigForEngine();
  if (path == files.drop_in) return files.DropInForEngine();
  return !files.host_root.empty() && path.starts_with(files.host_root + "/") ? path.substr(files.host_root.size())
                                                                             : path;
}

/// "/etc/containerd/conf.d/99-nvidia.toml".
std::string Files(const Options& options, const container::EngineChange& change) {
  std::vector<std::string> out;
  for (const os::Plan::Item& item : change.files.items)
    // The record of what was there before is ours.
    if (!item.path.starts_with(options.install_dir + "/")) out.push_back(PathForPeople(options.files, item.path));
  return Join(out, ", ");
}

/// "the runtimes nvidia, nvidia-cdi and CDI".
std::string Entries(const container::EngineChange& change) {
  std::vector<std::string> runtimes;
  for (const container::EngineRuntime& after : change.after.runtimes) {
    const container::EngineRuntime* const before = change.before.Find(after.name);
    if (before == nullptr || before->binary != after.binary || before->entry != after.entry)
      runtimes.push_back(after.name);
  }
  std::vector<std::string> out;
  if (!runtimes.empty()) out.push_back("the runtimes " + Join(runtimes, ", "));
  if (change.before.default_runtime != change.after.default_runtime)
    out.push_back("the default runtime " + change.after.default_runtime);
  if (change.after.cdi && !change.before.cdi) out.emplace_back("CDI");
  return out.empty() ? "entries of the toolkit's" : Join(out, " and ");
}

std::string WhatIsLost(const Options& options, const container::EngineChange& change) {
  return fmt::format("{} were lost from {}'s configuration", Entries(change), container::EngineName(options.engine));
}

std::string_view Shorten(std::string_view text) {
  if (text.size() <= kMostError) return text;
  std::size_t size = kMostError;
  // Not inside a character.
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace

RepairBound::Answer RepairBound::Ask(TimePoint now) {
  while (!repairs_.empty() && now - repairs_.front() > kSpan) repairs_.pop_front();
  if (repairs_.size() >= kMost) return std::exchange(gave_up_, true) ? Answer::kLeave : Answer::kGiveUp;
  repairs_.push_back(now);
  gave_up_ = false;
  return Answer::kRepair;
}

RepairNews Restored(const Options& options, const container::EngineChange& change) {
  return {false, kRestored, fmt::format("{} and put back in {}", WhatIsLost(options, change), Files(options, change))};
}

RepairNews NotRestored(const Options& options, const container::EngineChange& change, const Error& error) {
  return {true, kLost,
          fmt::format("{} and could not be put back in {}: {}", WhatIsLost(options, change), Files(options, change),
                      Shorten(error.text))};
}

RepairNews GivenUp(const Options& options, const container::EngineChange& change) {
  return {true, kLost,
          fmt::format(
              "{} again; after {} repairs within {} minutes {} is left as it is: find out what rewrites it, then "
              "restart the toolkit's Pod",
              WhatIsLost(options, change), RepairBound::kMost,
              std::chrono::duration_cast<std::chrono::minutes>(RepairBound::kSpan).count(), Files(options, change))};
}

void RepairTeller::Tell(RepairNews news) {
  strand_.Post([this, news = std::move(news)]() mutable { Try(std::move(news), 1); });
}

void RepairTeller::Try(RepairNews news, int attempts) {
  const auto written = Write(news);
  // A toolkit stays small while it waits.
  os::SettleDown();
  if (written) return;
  if (attempts >= kAttempts) {
    log_.Warn("the node could not be told",
              {{"reason", std::string(news.reason)}, {"message", news.message}, {"error", written.error().text}});
    return;
  }
  strand_.PostAfter(kBetweenAttempts,
                    [this, news = std::move(news), attempts]() mutable { Try(std::move(news), attempts + 1); });
}

Result<> RepairTeller::Write(const RepairNews& news) const {
  ASSIGN(const auto client, open_());
  ASSIGN(const kube::Node node, client->Get<kube::Node>(node_));
  return WriteNodeEvent(*client, node,
                        {.warning = news.warning, .reason = news.reason, .message = news.message, .program = kTeller},
                        strand_.executor().Wall());
}

}  // namespace gpuop::operands::toolkit
