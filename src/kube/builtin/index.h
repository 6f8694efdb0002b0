#pragma once
// Where each type stands in the table's text. Format: tools/schema/README.md.

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kube/builtin/table.h"

namespace gpuop::kube::builtin {

/// A type that nobody has asked for yet.
struct TypeText {
  std::string name;          ///< "io.k8s.api.core.v1.PodSpec"
  std::string_view package;  ///< "io.k8s.api.core.v1"
  std::string_view form;     ///< of a @form line; empty for a struct
  bool atomic = false;
  std::string_view fields;  ///< the field lines of a struct
  std::vector<KindName> kinds;
};

struct Index {
  /// Alias to full name: "corev1" to "io.k8s.api.core.v1".
  std::map<std::string_view, std::string_view> packages;
  std::vector<TypeText> types;
  /// Type name to position in `types`.
  std::map<std::string_view, std::size_t> by_name;
  /// Group, version and kind to type name.
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::string_view> kinds;
  std::vector<BuiltinResource> resources;

  const TypeText* Find(std::string_view name) const;
};

/// Reads the compiled-in table. A line that breaks the format ends the process: it is part of the program.
Index ReadIndex();

}  // namespace gpuop::kube::builtin
