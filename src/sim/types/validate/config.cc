#include <boost/json.hpp>

#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;

/// Keys of one map, in the order of their names, as Go walks them in errors.
void CheckKeys(Findings& out, const Object& object, const char* field, const Path& at) {
  const Object* data = ObjectAt(object, field);
  if (data == nullptr) return;
  std::set<std::string, std::less<>> keys;
  for (const auto& [key, value] : *data) keys.emplace(key);
  const Path map = at.Child(field);
  for (const std::string& key : keys) out.Messages(map.Key(key), key, data::CheckConfigKey(key));
}

std::size_t Bytes(const Object& object, const char* field) {
  const Object* data = ObjectAt(object, field);
  std::size_t total = 0;
  if (data != nullptr)
    for (const auto& [key, value] : *data)
      if (value.is_string()) total += value.get_string().size();
  return total;
}

/// What was immutable stays as it is, and stays immutable.
void CheckFrozen(Findings& out, const Object& now, const Object* old, std::initializer_list<const char*> fields) {
  if (old == nullptr || !TrueAt(*old, "immutable")) return;
  const Path root;
  constexpr const char* kWords = "field is immutable when `immutable` is set";
  if (!TrueAt(now, "immutable")) out.Forbidden(root.Child("immutable"), kWords);
  const auto differs = [&](const char* field) {
    const json::value none;
    return !data::JsonEqual(now.contains(field) ? now.at(field) : none, old->contains(field) ? old->at(field) : none);
  };
  for (const char* field : fields)
    if (differs(field)) out.Forbidden(root.Child(field), kWords);
}

bool Has(const Object& secret, std::string_view key) {
  const Object* data = ObjectAt(secret, "data");
  return data != nullptr && data->contains(key);
}

/// What a Secret of a well-known type must hold.
void CheckType(Findings& out, const Object& secret) {
  const Path data("data");
  const std::string_view type = TextAt(secret, "type");
  const auto needs = [&](std::string_view key) {
    if (!Has(secret, key)) out.Required(data.Key(key));
  };
  if (type == "kubernetes.io/dockerconfigjson") needs(".dockerconfigjson");
  if (type == "kubernetes.io/dockercfg") needs(".dockercfg");
  if (type == "kubernetes.io/ssh-auth") needs("ssh-privatekey");
  if (type == "kubernetes.io/tls") {
    needs("tls.crt");
    needs("tls.key");
  }
  if (type == "kubernetes.io/basic-auth" && !Has(secret, "username") && !Has(secret, "password")) {
    needs("username");
    needs("password");
  }
  if (type != "kubernetes.io/service-account-token") return;
  const Object* metadata = ObjectAt(secret, "metadata");
  const Object* annotations = metadata == nullptr ? nullptr : ObjectAt(*metadata, "annotations");
  constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
  if (annotations != nullptr && !TextAt(*annotations, kAccount).empty()) return;
  const Path root("metadata");
  const Path notes = root.Child("annotations");
  out.Required(notes.Key(kAccount));
}

}  // namespace

void CheckConfigMap(Findings& out, const Object& object, const Object* old) {
  const Path root;
  CheckKeys(out, object, "data", root);
  CheckKeys(out, object, "binaryData", root);
  const Object *text = ObjectAt(object, "data"), *binary = ObjectAt(object, "binaryData");
  const Path data = root.Child("data");
  if (text != nullptr && binary != nullptr)
    for (const auto& [key, value] : *text)
      if (binary->contains(key)) {
        const std::string_view name(key.data(), key.size());
        out.Invalid(data.Key(name), name, "duplicate of key present in binaryData");
      }
  if (Bytes(object, "data") + Bytes(object, "binaryData") / 4 * 3 > kMaxBytes)
    out.errors.push_back({FieldError::Kind::kTooLong, "", "", "may not be more than 1048576 bytes"});
  CheckFrozen(out, object, old, {"data", "binaryData"});
}

void CheckSecret(Findings& out, const Object& object, const Object* old) {
  const Path root;
  CheckKeys(out, object, "data", root);
  if (Bytes(object, "data") / 4 * 3 > kMaxBytes)
    out.errors.push_back({FieldError::Kind::kTooLong, "data", "", "may not be more than 1048576 bytes"});
  CheckType(out, object);
  if (old != nullptr) Immutable(out, object, *old, "type", root);
  CheckFrozen(out, object, old, {"data"});
}

}  // namespace gpuop::sim::types
