#include "container/engine/plan.h"

#include <algorithm>

#include "base/text.h"
#include "container/engine/edit.h"
#include "container/engine/texts.h"

namespace gpuop::container {
namespace {

using data::Json;
using data::JsonObject;

void Prune(JsonObject& table) {
  for (auto it = table.begin(); it != table.end();) {
    JsonObject* inner = it->value().if_object();
    if (inner != nullptr) Prune(*inner);
    it = inner != nullptr && inner->empty() ? table.erase(it) : it + 1;
  }
}

void EraseAt(Json& root, const data::TomlPath& path) {
  Json* at = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    JsonObject* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(path[i]);
    if (at == nullptr) return;
  }
  if (JsonObject* object = at->if_object()) object->erase(path.back());
}

/// All of a configuration but what we may change.
Json Others(EngineKind kind, const EngineConfig& config, std::int64_t version, const std::vector<std::string>& ours) {
  Json rest = config.whole;
  const data::TomlPath runtimes = RuntimesPath(kind, version), fallback = DefaultPath(kind, version);
  for (const std::string& name : ours) {
    data::TomlPath path = runtimes;
    path.push_back(name);
    EraseAt(rest, path);
  }
  EraseAt(rest, fallback);
  if (kind == EngineKind::kDocker) EraseAt(rest, {"features", "cdi"});
  if (kind == EngineKind::kContainerd) {
    EraseAt(rest, CriPath(version, {"enable_cdi"}));
    EraseAt(rest, {"imports"});
    EraseAt(rest, {"version"});
  }
  Prune(rest.get_object());
  return rest;
}

Result<> CheckAfter(EngineKind kind, const EnginePlan& plan, const EngineFiles& files, const EngineWish& wish) {
  std::vector<std::string> ours;
  for (const WantedRuntime& runtime : wish.runtimes) {
    ours.push_back(runtime.name);
    const EngineRuntime* found = plan.after.Find(runtime.name);
    if (found == nullptr || found->binary != runtime.binary)
      return Fail(Code::kConflict, "runtime " + runtime.name + " would be hidden by a file that " +
                                       std::string(EngineName(kind)) + " reads after " + files.drop_in);
  }
  const std::string& wanted = wish.set_as_default ? wish.runtimes[0].name : plan.before.default_runtime;
  const bool was_ours = std::ranges::find(ours, plan.before.default_runtime) != ours.end();
  if (plan.after.default_runtime != wanted && (wish.set_as_default || !was_ours))
    return Fail(Code::kConflict,
                "the default runtime would be " + Quote(plan.after.default_runtime) + " instead of " + Quote(wanted));
  if (!data::JsonEqual(Others(kind, plan.before, plan.after.version, ours),
                       Others(kind, plan.after, plan.after.version, ours)))
    return Fail(Code::kUnsupported, "other settings of " + files.config + " would change their meaning");
  return {};
}

/// Reads the planned texts back and fills the plan's outcome in.
Result<> ReadBack(EngineKind kind, const EngineTexts& texts, const EngineFiles& files, ImportRule rule,
                  EnginePlan& plan) {
  EngineTexts next = texts;
  for (auto it = plan.texts.begin(); it != plan.texts.end();) {
    const auto old = texts.find(it->first);
    const bool same = it->second ? old != texts.end() && old->second == *it->second : old == texts.end();
    if (it->second)
      next[it->first] = *it->second;
    else
      next.erase(it->first);
    it = same ? plan.texts.erase(it) : std::next(it);
  }
  ASSIGN(plan.before, UnderstandEngine(kind, texts, files, rule));
  ASSIGN(plan.after, UnderstandEngine(kind, next, files, rule));
  plan.meaning_changes = !data::JsonEqual(plan.before.whole, plan.after.whole);
  return {};
}

}  // namespace

Result<EnginePlan> PlanEngineSetUp(EngineKind kind, const EngineTexts& texts, const EngineFiles& files,
                                   const EngineWish& wish, ImportRule rule) {
  if (wish.runtimes.empty()) return Fail(Code::kInvalid, "no runtime to set up");
  if (kind == EngineKind::kDocker && !files.drop_in.empty())
    return Fail(Code::kInvalid, "docker reads no drop-in file: " + files.drop_in);
  EnginePlan plan;
  switch (kind) {
    case EngineKind::kContainerd: {
      ASSIGN(plan.texts, SetUpContainerd(texts, files, wish, rule));
      break;
    }
    case EngineKind::kCrio: {
      ASSIGN(plan.texts, SetUpCrio(texts, files, wish));
      break;
    }
    case EngineKind::kDocker: {
      ASSIGN(plan.texts, SetUpDocker(texts, files, wish));
      break;
    }
  }
  TRY(ReadBack(kind, texts, files, rule, plan));
  TRY(CheckAfter(kind, plan, files, wish));
  return plan;
}

Result<EnginePlan> PlanEngineCleanUp(EngineKind kind, const EngineTexts& texts, const EngineFiles& files,
                                     const std::vector<std::string>& names, const std::string& folder,
                                     ImportRule rule) {
  EnginePlan plan;
  if (!files.drop_in.empty()) plan.texts[files.drop_in] = std::nullopt;
  if (const auto it = texts.find(files.config); it != texts.end()) {
    ASSIGN(std::string text, WithoutRuntimes(kind, it->first, it->second, names, folder));
    plan.texts[files.config] = std::move(text);
  }
  TRY(ReadBack(kind, texts, files, rule, plan));
  return plan;
}

std::string CrioHookText(const std::string& path) {
  constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const std::string folder = os::FolderOf(path), name = path.substr(path.rfind('/') + 1);
  std::string search = "PATH=" + std::string(kPath);
  if (!(":" + std::string(kPath) + ":").contains(":" + folder + ":")) search += ":" + folder;
  return data::ToPrettyJson(
             JsonObject{{"version", "1.0.0"},
                        {"hook", JsonObject{{"path", path}, {"args", {name, "prestart"}}, {"env", {search}}}},
                        {"when", JsonObject{{"always", true}, {"commands", {".*"}}}},
                        {"stages", {"prestart"}}}) +
         "\n";
}

}  // namespace gpuop::container
