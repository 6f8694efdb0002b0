#include "kube/builtin/table.h"

#include <map>
#include <tuple>

#include "base/check.h"
#include "base/mutex.h"
#include "base/text.h"
#include "kube/builtin/index.h"
#include "kube/builtin/type_reader.h"

namespace gpuop::kube::builtin {
namespace {

const Index& TheIndex() {
  static const Index& index = *new Index(ReadIndex());
  return index;
}

/// The one reader, whose types are shared by everybody. Never destroyed: types refer to each other in circles.
struct SharedTypes {
  Mutex mu;
  TypeReader reader GUARDED_BY(mu){TheIndex()};
};

SharedTypes& TheTypes() {
  static SharedTypes& types = *new SharedTypes;
  return types;
}

}  // namespace

const std::vector<BuiltinResource>& Resources() { return TheIndex().resources; }

const BuiltinResource* FindResource(std::string_view group, std::string_view version, std::string_view plural) {
  const auto key = [](const BuiltinResource& r) {
    return std::tuple<std::string_view, std::string_view, std::string_view>(r.group, r.version, r.plural);
  };
  const auto& all = Resources();
  const auto it = std::ranges::lower_bound(all, std::tuple(group, version, plural), {}, key);
  return it == all.end() || key(*it) != std::tuple(group, version, plural) ? nullptr : &*it;
}

data::SchemaPtr FindKind(std::string_view group, std::string_view version, std::string_view kind) {
  const auto& kinds = TheIndex().kinds;
  auto it = kinds.find(std::tuple(group, version, kind));
  if (it == kinds.end()) it = kinds.find(std::tuple(std::string_view("*"), std::string_view("*"), kind));
  return it == kinds.end() ? nullptr : FindType(it->second);
}

data::SchemaPtr FindType(std::string_view name) {
  SharedTypes& types = TheTypes();
  Lock lock(types.mu);
  return types.reader.Type(name);
}

std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
  for (const TypeText& type : TheIndex().types) names.push_back(type.name);
  return names;
}

std::vector<KindName> KindsOf(std::string_view type_name) {
  const TypeText* type = TheIndex().Find(type_name);
  return type == nullptr ? std::vector<KindName>{} : type->kinds;
}

}  // namespace gpuop::kube::builtin
