#include "api/chain.h"

#include <algorithm>

namespace gpuop::api {
namespace {

constexpr std::string_view kFirstCheckWords = "; first check: ";
constexpr std::size_t kMostMessage = 1023;

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Cuts at a character's beginning, so that the text stays UTF-8.
std::string_view Cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

std::string_view Name(Link link) {
  switch (link) {
    case Link::kHostDriver: return "host driver";
    case Link::kToolkit: return "toolkit and CDI";
    case Link::kDevicePlugin: return "device plugin";
    case Link::kScheduler: return "scheduler";
    case Link::kCuda: return "CUDA";
    case Link::kHealth: return "health";
  }
  return "";
}

const Reason& Find(ReasonCode code) { return Reasons()[static_cast<std::size_t>(code)]; }

const Reason* FindReason(std::string_view name) {
  const auto reasons = Reasons();
  const auto it = std::ranges::find(reasons, name, &Reason::name);
  return it == reasons.end() ? nullptr : &*it;
}

bool TakesGpuOut(ReasonCode code) {
  using enum ReasonCode;
  return code == kXidFatal || code == kEccUncorrected || code == kRowRemapFailed || code == kRowRemapPending ||
         code == kNvlinkDown;
}

const Finding* FirstBroken(std::span<const Finding> findings) {
  const Finding* first = nullptr;
  for (const Finding& finding : findings) {
    const Reason& reason = Find(finding.code);
    if (reason.severity == Severity::kFine) continue;
    const bool worse = first == nullptr || reason.severity > Find(first->code).severity;
    const bool same = !worse && reason.severity == Find(first->code).severity;
    if (worse || (same && reason.link < Find(first->code).link)) first = &finding;
  }
  return first;
}

std::string FirstCheck(ReasonCode code, std::string_view node, std::string_view pod) {
  const Reason& reason = Find(code);
  std::string command = Replaced(std::string(reason.first_check), "{node}", node);
  command = Replaced(std::move(command), "{pod}", pod.empty() ? "POD" : pod);
  if (reason.on_node && !command.empty()) command.append(" (on node ").append(node).append(")");
  return command;
}

std::string_view ConditionStatus(ReasonCode code) {
  if (code == ReasonCode::kValidating || code == ReasonCode::kValidatorStopped) return "Unknown";
  return Find(code).severity == Severity::kBroken ? "False" : "True";
}

std::string ConditionMessage(const Finding& finding, std::string_view node) {
  const Reason& reason = Find(finding.code);
  std::string message;
  if (reason.severity != Severity::kFine) message.append(Name(reason.link)).append(": ");
  message.append(reason.words);
  std::string end = FirstCheck(finding.code, node);
  if (!end.empty()) end.insert(0, kFirstCheckWords);
  const std::size_t used = message.size() + 2 + end.size();
  if (!finding.evidence.empty() && used < kMostMessage)
    message.append(": ").append(Cut(finding.evidence, kMostMessage - used));
  return message.append(end);
}

std::optional<std::string_view> FirstCheckIn(std::string_view message) {
  const std::size_t at = message.rfind(kFirstCheckWords);
  if (at == std::string_view::npos) return std::nullopt;
  return message.substr(at + kFirstCheckWords.size());
}

}  // namespace gpuop::api
