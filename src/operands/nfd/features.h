#pragma once
// What is known of a node, as rules see it (nfd.k8s-sigs.io/v1alpha1 NodeFeature, spec.features).

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::operands::nfd {

/// Labels, attributes: texts by name.
using TextMap = std::map<std::string, std::string, std::less<>>;
using TextSet = std::set<std::string, std::less<>>;

/// Three kinds of features, each by "domain.name": names that are there, values by name, and things that exist several
/// times.
struct Features {
  std::map<std::string, TextSet, std::less<>> flags;
  std::map<std::string, TextMap, std::less<>> attributes;
  std::map<std::string, std::vector<TextMap>, std::less<>> instances;

  /// Takes in what another source or object says: names are united, values of `other` win, instances are added.
  void Add(const Features& other);
  bool operator==(const Features&) const = default;
};

/// The texts of the object at `path`; what is none is passed over.
TextMap TextsAt(const data::JsonObject& object, std::string_view path);

/// spec.features of a NodeFeature.
data::JsonObject ToObject(const Features& features);
/// Reads spec.features. kInvalid names what is not as it should be.
Result<Features> ReadFeatures(const data::Json& in);

/// The texts as members of an object.
data::JsonObject ToObject(const TextMap& map);

}  // namespace gpuop::operands::nfd
