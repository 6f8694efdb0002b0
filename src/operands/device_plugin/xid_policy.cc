#include "operands/device_plugin/xid_policy.h"

#include "base/text.h"
#include "data/duration.h"
#include "gpu/xid.h"
#include "operands/plugin_settings.h"

namespace gpuop::operands::device_plugin {
namespace {

enum class Effect { kIgnore, kUnhealthy };
using Recovery = XidRule::Recovery;

std::span<const data::EnumName<Effect>> NamesOf(Effect) {
  static constexpr data::EnumName<Effect> kNames[] = {{"ignore", Effect::kIgnore}, {"unhealthy", Effect::kUnhealthy}};
  return kNames;
}

}  // namespace

/// Beside its type, where the reader looks for it.
static std::span<const data::EnumName<Recovery>> NamesOf(Recovery) {
  static constexpr data::EnumName<Recovery> kNames[] = {
      {"reset", Recovery::kReset}, {"quiet", Recovery::kQuiet}, {"never", Recovery::kNever}};
  return kNames;
}

namespace {

struct XidEntry {
  std::int64_t xid = -1;
  Effect effect = Effect::kUnhealthy;
  std::optional<Recovery> recovery;
  template <class V>
  void Visit(V& v) {
    v("xid", xid);
    v("effect", effect);
    v("recovery", recovery);
  }
};

struct HealthSection {
  std::optional<std::string> quiet;
  std::vector<XidEntry> xids;
  template <class V>
  void Visit(V& v) {
    v("quiet", quiet);
    v("xids", xids);
  }
};

/// Xids of "48, 79"; `all` when one of the words is "all" or "xids".
std::set<unsigned> ReadList(const std::string& text, bool& all) {
  std::set<unsigned> out;
  for (const std::string_view part : Split(text, ',')) {
    const std::string word = ToLower(Trim(part));
    if (word == "all" || word == "xids") all = true;
    if (const auto number = ParseInt(word); number && *number >= 0 && *number <= UINT32_MAX)
      out.insert(static_cast<unsigned>(*number));
  }
  return out;
}

Recovery RecoveryOf(const gpu::Xid& xid) {
  return xid.severity == gpu::XidSeverity::kFatal ? Recovery::kReset : Recovery::kQuiet;
}

}  // namespace

const std::set<unsigned>& XidPolicy::AlwaysIgnored() {
  static const std::set<unsigned> ignored = {13, 31, 43, 45, 68, 109};
  return ignored;
}

Result<XidPolicy> XidPolicy::Make(const data::Json& health, const std::string& disabled, const std::string& enabled) {
  XidPolicy out;
  ASSIGN(const auto section, ReadSection<HealthSection>(health, "health"));
  if (section.quiet) {
    auto quiet = data::ParseDuration(*section.quiet);
    if (!quiet) return std::unexpected(std::move(quiet).error().During("health.quiet"));
    if (*quiet <= Duration::zero()) return Fail(Code::kInvalid, "health.quiet: must be longer than nothing");
    out.quiet_ = *quiet;
  }
  for (std::size_t i = 0; i < section.xids.size(); ++i) {
    const XidEntry& entry = section.xids[i];
    const std::string here = "health.xids[" + std::to_string(i) + "].xid";
    if (entry.xid < 0 || entry.xid > UINT32_MAX) return Fail(Code::kInvalid, here + ": must be given, 0 or more");
    const auto xid = static_cast<unsigned>(entry.xid);
    const XidRule rule{entry.effect == Effect::kIgnore, entry.recovery.value_or(RecoveryOf(gpu::FindXid(xid)))};
    if (!out.rules_.emplace(xid, rule).second) return Fail(Code::kInvalid, here + ": is in the list twice");
  }
  bool all_disabled = false, all_enabled = false;
  out.disabled_ = ReadList(disabled, all_disabled);
  out.enabled_ = ReadList(enabled, all_enabled);
  out.off_ = all_disabled && !all_enabled;
  out.nothing_ignored_ = all_enabled;
  return out;
}

XidRule XidPolicy::RuleOf(unsigned xid) const {
  const auto own = rules_.find(xid);
  const gpu::Xid known = gpu::FindXid(xid);
  XidRule rule{AlwaysIgnored().contains(xid) || !gpu::MakesUnhealthy(known), RecoveryOf(known)};
  if (own != rules_.end()) rule = own->second;
  if (disabled_.contains(xid)) rule.ignore = true;
  if (enabled_.contains(xid) || nothing_ignored_) rule.ignore = false;
  if (off_) rule.ignore = true;
  return rule;
}

}  // namespace gpuop::operands::device_plugin
