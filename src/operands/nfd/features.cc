#include "operands/nfd/features.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::string_view kElements = "elements", kAttributes = "attributes";

Result<const data::JsonObject*> Object(const data::Json& in, std::string_view where) {
  if (const auto* object = in.if_object()) return object;
  return Fail(Code::kInvalid, std::string(where) + ": expected an object, got " + std::string(data::KindName(in)));
}

/// Calls `read` with the elements of each feature of one kind.
template <class Read>
Result<> EachFeature(const data::JsonObject& features, std::string_view kind, const Read& read) {
  const data::Json* of_kind = features.if_contains(kind);
  if (of_kind == nullptr || of_kind->is_null()) return {};
  ASSIGN(const auto* const by_name, Object(*of_kind, kind));
  for (const auto& feature : *by_name) {
    const std::string where = std::string(kind) + "." + std::string(feature.key());
    ASSIGN(const auto* const holder, Object(feature.value(), where));
    const data::Json* elements = holder->if_contains(kElements);
    const data::Json none;
    TRY(read(std::string(feature.key()), elements == nullptr ? none : *elements, where + ".elements"));
  }
  return {};
}

Result<TextMap> ReadTexts(const data::Json& in, std::string_view where) {
  TextMap out;
  if (in.is_null()) return out;
  ASSIGN(const auto* const object, Object(in, where));
  for (const auto& member : *object) {
    const auto* text = member.value().if_string();
    if (text == nullptr)
      return Fail(Code::kInvalid, std::string(where) + "." + std::string(member.key()) + ": expected a string, got " +
                                      std::string(data::KindName(member.value())));
    out.insert_or_assign(std::string(member.key()), std::string(data::AsView(*text)));
  }
  return out;
}

Result<> ReadInstances(const data::Json& in, const std::string& where, std::vector<TextMap>& out) {
  if (in.is_null()) return {};
  const auto* list = in.if_array();
  if (list == nullptr) return Fail(Code::kInvalid, where + ": expected a list, got " + std::string(data::KindName(in)));
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string here = where + "[" + std::to_string(i) + "]";
    ASSIGN(const auto* const instance, Object((*list)[i], here));
    const data::Json* attributes = instance->if_contains(kAttributes);
    if (attributes == nullptr) {
      out.emplace_back();
      continue;
    }
    ASSIGN(out.emplace_back(), ReadTexts(*attributes, here + ".attributes"));
  }
  return {};
}

}  // namespace

void Features::Add(const Features& other) {
  for (const auto& [name, elements] : other.flags) flags[name].insert(elements.begin(), elements.end());
  for (const auto& [name, elements] : other.attributes) {
    TextMap& mine = attributes[name];
    for (const auto& [key, value] : elements) mine.insert_or_assign(key, value);
  }
  for (const auto& [name, elements] : other.instances) {
    std::vector<TextMap>& mine = instances[name];
    mine.insert(mine.end(), elements.begin(), elements.end());
  }
}

TextMap TextsAt(const data::JsonObject& object, std::string_view path) {
  TextMap out;
  const auto* const map = data::GetObject(object, path);
  if (map == nullptr) return out;
  for (const auto& member : *map)
    if (const auto* text = member.value().if_string()) out[std::string(member.key())] = data::AsView(*text);
  return out;
}

data::JsonObject ToObject(const TextMap& map) {
  data::JsonObject out;
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

data::JsonObject ToObject(const Features& features) {
  data::JsonObject flags, attributes, instances;
  for (const auto& [name, elements] : features.flags) {
    data::JsonObject names;
    for (const std::string& element : elements) names[element] = data::JsonObject();
    flags[name] = data::JsonObject{{kElements, std::move(names)}};
  }
  for (const auto& [name, elements] : features.attributes)
    attributes[name] = data::JsonObject{{kElements, ToObject(elements)}};
  for (const auto& [name, elements] : features.instances) {
    data::JsonArray list;
    for (const TextMap& element : elements) list.push_back(data::JsonObject{{kAttributes, ToObject(element)}});
    instances[name] = data::JsonObject{{kElements, std::move(list)}};
  }
  return {{"flags", std::move(flags)}, {"attributes", std::move(attributes)}, {"instances", std::move(instances)}};
}

Result<Features> ReadFeatures(const data::Json& in) {
  Features out;
  if (in.is_null()) return out;
  ASSIGN(const auto* const features, Object(in, "features"));
  TRY(EachFeature(*features, "flags",
                  [&](std::string name, const data::Json& elements, const std::string& where) -> Result<> {
                    TextSet& names = out.flags[std::move(name)];
                    if (elements.is_null()) return {};
                    ASSIGN(const auto* const object, Object(elements, where));
                    for (const auto& element : *object) names.emplace(element.key());
                    return {};
                  }));
  TRY(EachFeature(*features, "attributes",
                  [&](std::string name, const data::Json& elements, const std::string& where) -> Result<> {
                    ASSIGN(out.attributes[std::move(name)], ReadTexts(elements, where));
                    return {};
                  }));
  TRY(EachFeature(*features, "instances", [&](std::string name, const data::Json& elements, const std::string& where) {
    return ReadInstances(elements, where, out.instances[std::move(name)]);
  }));
  return out;
}

}  // namespace gpuop::operands::nfd
