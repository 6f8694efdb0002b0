#pragma once
// Which names and values a node may get from features and rules.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/nfd.h"
#include "base/result.h"
#include "data/regex.h"
#include "operands/nfd/features.h"

namespace gpuop::operands::nfd {

/// Labels that features and rules give are of these.
inline constexpr std::string_view kFeatureNs = "feature.node.kubernetes.io";
inline constexpr std::string_view kProfileNs = "profile.node.kubernetes.io";
/// The namespace of node feature discovery's own notes on objects.
inline constexpr std::string_view kNotesNs = "nfd.node.kubernetes.io";
/// The node that a NodeFeature object is about; "" when it does not say. A view into the object.
std::string_view NodeOf(const data::JsonObject& node_feature);

/// Settings of names.
struct NameRules {
  /// Namespaces that are allowed although Kubernetes' own, and whatever is denied.
  TextSet extra_label_ns;
  /// Denied: "vendor.io", or "*.vendor.io" for all below it.
  TextSet deny_label_ns;
  /// Only labels whose name (behind the slash) it finds.
  std::optional<data::Regex> label_whitelist;
  /// Names without a namespace get feature.node.kubernetes.io; else they are refused.
  bool auto_prefix = true;

  /// The full name of a label that a feature or rule calls `name`; kInvalid says why it cannot be.
  Result<std::string> LabelName(std::string_view name) const;
  /// The same for an annotation, and for an extended resource.
  Result<std::string> AnnotationName(std::string_view name) const;
  Result<std::string> ResourceName(std::string_view name) const;

 private:
  Result<std::string> WithNamespace(std::string_view name) const;
};

/// What Kubernetes takes as a label's value.
Result<> CheckLabelText(std::string_view value);
/// At most 1,024 bytes.
Result<> CheckAnnotationText(std::string_view value);
/// Key, value and effect, and that the key is not of Kubernetes' own.
Result<> CheckTaint(const api::NfdTaint& taint);

/// Names of feature.node.kubernetes.io without that, others whole, sorted, with commas: how notes list what is ours.
std::string ShortList(const std::vector<std::string>& names);
/// The full names of such a list.
TextSet FullNames(std::string_view list);

}  // namespace gpuop::operands::nfd
