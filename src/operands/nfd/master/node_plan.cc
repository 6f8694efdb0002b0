#include "operands/nfd/master/node_plan.h"

#include <algorithm>

#include "base/text.h"
#include "data/quantity.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::string_view kLabelsNote = "feature-labels", kAnnotationsNote = "feature-annotations",
                           kResourcesNote = "extended-resources", kTaintsNote = "taints";

std::string NoteName(const NodeSettings& settings, std::string_view note) {
  return settings.instance_prefix + std::string(kNotesNs) + "/" + std::string(note);
}

/// "key=value:Effect", or "key:Effect".
std::string TaintText(const api::NfdTaint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

bool SamePlace(const api::NfdTaint& a, const api::NfdTaint& b) { return a.key == b.key && a.effect == b.effect; }

/// Gathers checked names; what has a namespace of its own wins over what was given the usual one.
class Names {
 public:
  Names(std::string_view what, NodeWish& wish, TextMap& out) : what_(what), wish_(wish), out_(out) {}

  template <class NameOf, class TextOf>
  void Add(const TextMap& in, const NameOf& name_of, const TextOf& text_of) {
    for (const bool prefixed : {false, true})
      for (const auto& [key, value] : in) {
        if ((key.find('/') != key.npos) != prefixed) continue;
        auto name = name_of(key);
        auto text = name ? text_of(value) : Result<std::string>(std::unexpected(name.error()));
        if (text)
          out_.insert_or_assign(*name, *std::move(text));
        else
          wish_.problems.push_back(std::string(what_) + " " + Quote(key) + ": " + text.error().text);
      }
  }

 private:
  std::string_view what_;
  NodeWish& wish_;
  TextMap& out_;
};

/// The differences of one kind of names as members of a merge patch. Those that `before` notes and nobody wants any
/// more are removed; the answer is what is ours afterwards.
std::vector<std::string> Differ(const TextMap& live, const TextSet& before, const TextMap& wanted, bool overwrite,
                                data::JsonObject& patch) {
  std::vector<std::string> ours;
  for (const auto& [name, value] : wanted) {
    const auto it = live.find(name);
    if (it != live.end() && !overwrite && !before.contains(name)) continue;
    ours.push_back(name);
    if (it == live.end() || it->second != value) patch[name] = value;
  }
  for (const std::string& name : before)
    if (!wanted.contains(name) && live.contains(name)) patch[name] = nullptr;
  return ours;
}

/// Sets or removes one note.
void PutNote(const NodeState& node, const std::string& name, const std::string& list, data::JsonObject& patch) {
  const auto it = node.annotations.find(name);
  if (list.empty() && it != node.annotations.end()) patch[name] = nullptr;
  if (!list.empty() && (it == node.annotations.end() || it->second != list)) patch[name] = list;
}

TextSet Noted(const NodeState& node, const NodeSettings& settings, std::string_view note) {
  const auto it = node.annotations.find(NoteName(settings, note));
  return it == node.annotations.end() ? TextSet() : FullNames(it->second);
}

data::Json TaintObject(const api::NfdTaint& taint) {
  data::JsonObject out{{"key", taint.key}, {"effect", taint.effect}};
  if (!taint.value.empty()) out["value"] = taint.value;
  if (!taint.time_added.empty()) out["timeAdded"] = taint.time_added;
  return out;
}

/// The list of taints that the node shall have, if it differs.
std::optional<data::JsonArray> DifferTaints(const NodeState& node, const TextSet& before,
                                            const std::vector<api::NfdTaint>& wanted) {
  data::JsonArray list;
  bool differs = false;
  std::vector<api::NfdTaint> missing = wanted;
  for (const api::NfdTaint& live : node.taints) {
    const auto want = std::ranges::find_if(missing, [&](const auto& w) { return SamePlace(w, live); });
    if (want != missing.end()) {
      differs = differs || want->value != live.value;
      list.push_back(TaintObject(want->value == live.value ? live : *want));
      missing.erase(want);
    } else if (before.contains(TaintText(live))) {
      differs = true;
    } else {
      list.push_back(TaintObject(live));
    }
  }
  for (const api::NfdTaint& taint : missing) list.push_back(TaintObject(taint));
  if (!differs && missing.empty()) return std::nullopt;
  return list;
}

/// Extended resources of the status. What is to go is taken out of allocatable too, which the kubelet would keep.
std::optional<data::JsonObject> DifferResources(const NodeState& node, const TextSet& before, const TextMap& wanted) {
  data::JsonObject capacity, allocatable;
  for (const auto& [name, value] : wanted) {
    const auto it = node.capacity.find(name);
    if (it == node.capacity.end() || it->second != value) capacity[name] = value;
  }
  for (const std::string& name : before)
    if (!wanted.contains(name) && node.capacity.contains(name)) capacity[name] = allocatable[name] = nullptr;
  if (capacity.empty()) return std::nullopt;
  data::JsonObject status{{"capacity", std::move(capacity)}};
  if (!allocatable.empty()) status["allocatable"] = std::move(allocatable);
  return data::JsonObject{{"status", std::move(status)}};
}

TextSet NotedTaints(const NodeState& node, const NodeSettings& settings) {
  TextSet out;
  const auto it = node.annotations.find(NoteName(settings, kTaintsNote));
  if (it == node.annotations.end()) return out;
  for (const std::string_view taint : Split(it->second, ','))
    if (!Trim(taint).empty()) out.emplace(Trim(taint));
  return out;
}

}  // namespace

Result<NodeState> NodeState::FromJson(const data::JsonObject& node) {
  NodeState out;
  ASSIGN(out.name, data::RequireString(node, "metadata.name"));
  out.resource_version = data::StringOr(node, "metadata.resourceVersion");
  out.labels = TextsAt(node, "metadata.labels");
  out.annotations = TextsAt(node, "metadata.annotations");
  out.capacity = TextsAt(node, "status.capacity");
  out.taints = ReadTaints(node);
  return out;
}

std::vector<api::NfdTaint> ReadTaints(const data::JsonObject& node) {
  std::vector<api::NfdTaint> out;
  const auto* const taints = data::GetArray(node, "spec.taints");
  if (taints == nullptr) return out;
  for (const data::Json& taint : *taints)
    out.push_back({std::string(data::StringOr(taint, "key")), std::string(data::StringOr(taint, "value")),
                   std::string(data::StringOr(taint, "effect")), std::string(data::StringOr(taint, "timeAdded"))});
  return out;
}

std::string ResourcesNote(const NodeSettings& settings) { return NoteName(settings, kResourcesNote); }

NodeWish WishFor(Features& features, const TextMap& object_labels, const std::vector<const RuleList*>& rules,
                 const NodeSettings& settings) {
  NodeWish out;
  RulesOutput made = ApplyRules(rules, features);
  out.problems = std::move(made.problems);
  const auto label_name = [&](const std::string& name) { return settings.names.LabelName(name); };
  const auto label_text = [&](const std::string& text) -> Result<std::string> {
    ASSIGN(std::string value, ValueOf(text, features));
    TRY(CheckLabelText(value));
    return value;
  };
  if (settings.labels) {
    Names names("label", out, out.labels);
    if (settings.node_feature_labels) names.Add(object_labels, label_name, label_text);
    names.Add(made.output.labels, label_name, label_text);
  }
  if (settings.annotations)
    Names("annotation", out, out.annotations)
        .Add(
            made.output.annotations, [&](const std::string& name) { return settings.names.AnnotationName(name); },
            [](const std::string& text) -> Result<std::string> {
              TRY(CheckAnnotationText(text));
              return text;
            });
  if (settings.extended_resources)
    Names("extended resource", out, out.extended_resources)
        .Add(
            made.output.extended_resources, [&](const std::string& name) { return settings.names.ResourceName(name); },
            [&](const std::string& text) -> Result<std::string> {
              ASSIGN(const std::string value, ValueOf(text, features));
              return data::CanonicalQuantity(value);
            });
  for (api::NfdTaint& taint : made.output.taints) {
    if (!settings.enable_taints) break;
    if (const auto fits = CheckTaint(taint); !fits) {
      out.problems.push_back("taint " + Quote(taint.key) + ": " + fits.error().text);
      continue;
    }
    taint.time_added.clear();
    std::erase_if(out.taints, [&](const api::NfdTaint& other) { return SamePlace(other, taint); });
    out.taints.push_back(std::move(taint));
  }
  return out;
}

NodePatch PlanNode(const NodeState& node, const NodeWish& wish, const NodeSettings& settings) {
  NodePatch out;
  data::JsonObject labels, annotations;
  const auto our_labels =
      Differ(node.labels, Noted(node, settings, kLabelsNote), wish.labels, settings.allow_overwrite, labels);
  const auto our_annotations =
      Differ(node.annotations, Noted(node, settings, kAnnotationsNote), wish.annotations, true, annotations);
  std::vector<std::string> resources, taints;
  for (const auto& [name, value] : wish.extended_resources) resources.push_back(name);
  for (const api::NfdTaint& taint : wish.taints) taints.push_back(TaintText(taint));
  std::ranges::sort(taints);
  PutNote(node, NoteName(settings, kLabelsNote), ShortList(our_labels), annotations);
  PutNote(node, NoteName(settings, kAnnotationsNote), ShortList(our_annotations), annotations);
  PutNote(node, ResourcesNote(settings), ShortList(resources), annotations);
  PutNote(node, NoteName(settings, kTaintsNote), Join(taints, ","), annotations);
  // Older masters wrote these.
  for (const char* old : {"worker.version", "master.version"})
    if (node.annotations.contains(NoteName(settings, old))) annotations[NoteName(settings, old)] = nullptr;

  data::JsonObject metadata, patch;
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  if (auto list = DifferTaints(node, NotedTaints(node, settings), wish.taints)) {
    // The list goes as a whole: only over the one that was read.
    if (!node.resource_version.empty()) metadata["resourceVersion"] = node.resource_version;
    patch["spec"] = data::JsonObject{{"taints", *std::move(list)}};
  }
  if (!metadata.empty()) patch["metadata"] = std::move(metadata);
  if (!patch.empty()) out.node = std::move(patch);
  out.status = DifferResources(node, Noted(node, settings, kResourcesNote), wish.extended_resources);
  return out;
}

bool HasOurs(const NodeState& node, const NodeSettings& settings) {
  return std::ranges::any_of(
      std::array{kLabelsNote, kAnnotationsNote, kResourcesNote, kTaintsNote},
      [&](std::string_view note) { return node.annotations.contains(NoteName(settings, note)); });
}

}  // namespace gpuop::operands::nfd
