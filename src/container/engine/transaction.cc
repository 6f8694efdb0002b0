#include "container/engine/transaction.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "container/engine/edit.h"
#include "container/engine/texts.h"
#include "data/json_editor.h"

namespace gpuop::container {
namespace {

/// A configuration is what its name leads to: a link stays a link.
Result<std::string> Target(const os::Fs& fs, const std::string& path) {
  auto target = fs.Resolve(path);
  if (target || target.error().code != Code::kNotFound) return target;
  auto folder = fs.Resolve(os::FolderOf(path));
  if (!folder) return path;
  return (*folder == "/" ? "" : *folder) + path.substr(path.rfind('/'));
}

os::Change Restore(const std::string& path, const os::FileState& state) {
  os::Change change{.path = path, .kind = state.kind, .bytes = state.bytes};
  if (state.kind == os::FileState::Kind::kFile) change.attributes = state.attributes;
  return change;
}

std::optional<std::uint64_t> SumOf(const os::FileState& state) {
  return state.kind == os::FileState::Kind::kAbsent ? std::nullopt : std::optional(Hash64(state.bytes));
}

}  // namespace

Result<os::Recovery> EngineTransaction::Recover() {
  return journal_.Recover({.activate = [this](os::Hooks::Phase) { return control_.Reload(); }, .verify = {}});
}

Result<EngineRecord> EngineTransaction::LoadRecord(bool& found) const {
  const auto text = fs_.Read(target_.record, 4 * os::Journal::kFileLimit);
  found = text.has_value();
  if (!text && text.error().code == Code::kNotFound) return EngineRecord();
  if (!text) return std::unexpected(text.error());
  auto record = ReadEngineRecord(*text);
  if (!record) return std::unexpected(std::move(record).error().During(target_.record));
  return record;
}

Result<std::vector<os::Change>> EngineTransaction::ToChanges(const EnginePlan& plan) const {
  std::vector<os::Change> changes;
  for (const auto& [path, text] : plan.texts) {
    ASSIGN(std::string target, Target(fs_, path));
    changes.push_back({.path = std::move(target),
                       .kind = text ? os::FileState::Kind::kFile : os::FileState::Kind::kAbsent,
                       .bytes = text.value_or("")});
  }
  return changes;
}

Result<EngineChange> EngineTransaction::Finish(std::string name, const EnginePlan& plan,
                                               std::vector<os::Change> changes) const {
  EngineChange out{.files = {}, .before = plan.before, .after = plan.after, .reload = plan.meaning_changes};
  ASSIGN(out.files, journal_.MakePlan(std::move(name), changes));
  return out;
}

os::FileState EngineTransaction::OriginalOf(const os::Plan::Item& item, const EngineRecord& old,
                                            const EngineWish& wish) const {
  const EngineRecord::File* known = old.Find(item.path);
  if (known == nullptr) return item.before;
  if (known->after == SumOf(item.before)) return known->before;
  // Somebody changed the file after us: what is theirs is the file without our entries.
  if (item.before.kind != os::FileState::Kind::kFile || item.path == target_.files.drop_in) return known->before;
  os::FileState theirs = item.before;
  for (const WantedRuntime& runtime : wish.runtimes)
    if (auto text =
            WithoutRuntimes(target_.kind, item.path, theirs.bytes, {runtime.name}, os::FolderOf(runtime.binary)))
      theirs.bytes = *std::move(text);
  return theirs;
}

Result<EngineChange> EngineTransaction::PlanSetUp(const EngineWish& wish) const {
  ASSIGN(const EngineTexts texts, ReadEngineTexts(target_.kind, fs_, target_.files));
  ASSIGN(const EnginePlan plan, PlanEngineSetUp(target_.kind, texts, target_.files, wish, target_.rule));
  return FinishWithRecord(plan, wish);
}

Result<EngineChange> EngineTransaction::FinishWithRecord(const EnginePlan& plan, const EngineWish& wish) const {
  ASSIGN(std::vector<os::Change> changes, ToChanges(plan));
  const std::string name = std::string(EngineName(target_.kind)) + " configuration";
  ASSIGN(EngineChange change, Finish(name, plan, changes));
  if (change.empty()) return change;
  bool found = false;
  ASSIGN(EngineRecord record, LoadRecord(found));
  for (const os::Plan::Item& item : change.files.items) {
    EngineRecord::File file{item.path, OriginalOf(item, record, wish), SumOf(item.after)};
    std::erase_if(record.files, [&](const EngineRecord::File& old) { return old.path == item.path; });
    record.files.push_back(std::move(file));
  }
  changes.push_back({.path = target_.record,
                     .bytes = WriteEngineRecord(record),
                     .attributes = os::FileAttributes{.mode = 0600, .uid = ::geteuid(), .gid = ::getegid()}});
  return Finish(name, plan, std::move(changes));
}

Result<EngineChange> EngineTransaction::PlanCleanUp(const std::vector<std::string>& names,
                                                    const std::string& folder) const {
  ASSIGN(const EngineTexts texts, ReadEngineTexts(target_.kind, fs_, target_.files));
  ASSIGN(EnginePlan plan, PlanEngineCleanUp(target_.kind, texts, target_.files, names, folder, target_.rule));
  bool found = false;
  ASSIGN(const EngineRecord record, LoadRecord(found));
  std::vector<os::Change> changes;
  EngineTexts next = texts;
  ASSIGN(const std::vector<os::Change> without_record, ToChanges(plan));
  for (const os::Change& change : without_record)
    if (record.Find(change.path) == nullptr) changes.push_back(change);
  for (const EngineRecord::File& file : record.files) {
    const auto now = fs_.Read(file.path, os::Journal::kFileLimit);
    const bool ours = now ? file.after == Hash64(*now) : !file.after && now.error().code == Code::kNotFound;
    if (ours) changes.push_back(Restore(file.path, file.before));
    if (ours || (!now && now.error().code == Code::kNotFound)) continue;
    const auto edited = std::ranges::find(without_record, file.path, &os::Change::path);
    if (edited != without_record.end()) changes.push_back(*edited);
  }
  if (found) changes.push_back({.path = target_.record, .kind = os::FileState::Kind::kAbsent});
  for (const auto& [path, text] : texts) {
    ASSIGN(const std::string target, Target(fs_, path));
    const auto change = std::ranges::find(changes, target, &os::Change::path);
    if (change == changes.end()) continue;
    if (change->kind == os::FileState::Kind::kAbsent)
      next.erase(path);
    else
      next[path] = change->bytes;
  }
  ASSIGN(plan.after, UnderstandEngine(target_.kind, next, target_.files, target_.rule));
  plan.meaning_changes = !data::JsonEqual(plan.before.whole, plan.after.whole);
  return Finish(std::string(EngineName(target_.kind)) + " clean-up", plan, std::move(changes));
}

Result<EngineChange> EngineTransaction::PlanForget(const std::vector<std::string>& names,
                                                   const std::string& folder) const {
  ASSIGN(const EngineChange clean, PlanCleanUp(names, folder));
  ASSIGN(const std::string config, Target(fs_, target_.files.config));
  const auto item = std::ranges::find(clean.files.items, config, &os::Plan::Item::path);
  if (item == clean.files.items.end()) return EngineChange();
  const bool absent = item->after.kind == os::FileState::Kind::kAbsent;
  std::string text = absent ? "{}" : item->after.bytes;
  const std::pair<const char*, data::Json> silent[] = {{"runtimes", data::JsonObject()}, {"default-runtime", "runc"}};
  for (const auto& [member, otherwise] : silent) {
    if (data::Find(clean.after.whole, member) != nullptr) continue;
    ASSIGN(text, data::WithJsonMember(text, {member}, otherwise));
  }
  if (!absent && text == item->after.bytes) return EngineChange();
  EnginePlan plan{
      .texts = {{target_.files.config, text}}, .before = clean.before, .after = {}, .meaning_changes = true};
  ASSIGN(plan.after, UnderstandEngine(target_.kind, {{target_.files.config, text}}, target_.files, target_.rule));
  bool found = false;
  ASSIGN(const EngineRecord record, LoadRecord(found));
  if (record.Find(config) == nullptr) {
    ASSIGN(std::vector<os::Change> changes, ToChanges(plan));
    return Finish("docker clean-up", plan, std::move(changes));
  }
  EngineWish ours;
  for (const std::string& name : names) ours.runtimes.push_back({name, folder + "/" + name});
  return FinishWithRecord(plan, ours);
}

Result<> EngineTransaction::Apply(const EngineChange& change) {
  if (change.empty()) return {};
  os::Hooks hooks;
  if (change.reload) {
    hooks.activate = [this](os::Hooks::Phase) { return control_.Reload(); };
    hooks.verify = [this, &change] { return control_.Verify(change.after); };
  }
  return journal_.Apply(change.files, hooks);
}

}  // namespace gpuop::container
