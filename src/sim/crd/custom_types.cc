#include "sim/crd/custom_types.h"

#include <algorithm>
#include <optional>

#include "data/schema_check.h"
#include "sim/crd/embedded.h"
#include "sim/crd/field_errors.h"
#include "sim/peek.h"
#include "sim/types/conform.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostValidators = 256;

/// Runs `change` on the object as a value, without copying it.
template <class F>
auto AsValue(json::object& object, F&& change) {
  json::value whole(std::move(object));
  auto result = change(whole);
  object = std::move(whole.get_object());
  return result;
}

Status CannotHandle(const ResourceInfo& info, std::string_view why) {
  return BadRequest(std::string(info.kind) + " in version \"" + info.version + "\" cannot be handled as a " +
                    info.kind + ": " + std::string(why));
}

bool HasRules(const data::Schema& schema) {
  return (schema.constraints != nullptr && !schema.constraints->rules.empty()) ||
         (schema.items != nullptr && HasRules(*schema.items)) ||
         (schema.values != nullptr && HasRules(*schema.values)) ||
         std::ranges::any_of(schema.properties, [](const data::Property& p) { return HasRules(*p.schema); });
}

/// Rules are not asked about an object that has not even the shape that they expect.
bool KeepsRulesFromRunning(const FieldError& e) {
  using Kind = FieldError::Kind;
  return e.kind == Kind::kRequired || e.kind == Kind::kNotSupported || e.kind == Kind::kTooLong ||
         e.kind == Kind::kTooMany || e.kind == Kind::kTypeInvalid;
}

}  // namespace

Answer<> CustomTypes::Conform(const Request& request, json::object& object, std::vector<std::string>& problems) {
  const ResourceInfo& info = *request.resource;
  const json::value* meta = Peek(object, {"metadata"});
  if (metadata_ != nullptr && meta != nullptr && meta->is_object()) {
    std::vector<std::string> unknown;
    const auto done = types::Conform(*metadata_, object["metadata"].get_object(), unknown);
    if (!done) return std::unexpected(CannotHandle(info, done.error().text));
    constexpr std::string_view kUnknown = "unknown field \"";
    for (std::string& text : unknown) {
      if (text.starts_with(kUnknown)) text.insert(kUnknown.size(), "metadata.");
      problems.push_back(std::move(text));
    }
  }
  if (info.schema == nullptr) return {};
  if (metadata_ != nullptr) {
    const auto done =
        AsValue(object, [&](json::value& whole) { return ConformEmbedded(whole, *info.schema, *metadata_); });
    if (!done) return std::unexpected(CannotHandle(info, done.error()));
  }
  std::vector<std::string> pruned =
      AsValue(object, [&](json::value& whole) { return data::Prune(whole, *info.schema); });
  std::ranges::sort(pruned);
  for (const std::string& path : pruned) problems.push_back("unknown field \"" + path + "\"");
  return {};
}

void CustomTypes::Default(const Request& request, json::object& object) {
  if (request.resource->schema == nullptr) return;
  AsValue(object, [&](json::value& whole) {
    data::ApplyDefaults(whole, *request.resource->schema);
    return true;
  });
}

const CustomTypes::Held& CustomTypes::HeldBy(const data::SchemaPtr& schema) {
  if (validators_.size() > kMostValidators) validators_.clear();
  const auto it = validators_.find(schema.get());
  if (it != validators_.end()) return it->second;
  return validators_.emplace(schema.get(), Held{schema, data::SchemaValidator(schema), HasRules(*schema)})
      .first->second;
}

std::vector<FieldError> CustomTypes::Validate(const Request& request, const json::object& object,
                                              const json::object* old) {
  if (request.resource->schema == nullptr) return {};
  const json::value now(object);
  const Held& held = HeldBy(request.resource->schema);
  std::optional<json::value> before;
  if (old != nullptr) before.emplace(*old);
  std::vector<FieldError> errors = FromData(held.validator.Validate(now, before ? &*before : nullptr));
  std::ranges::move(CheckEmbedded(now, *held.schema), std::back_inserter(errors));
  if (held.has_rules && std::ranges::any_of(errors, KeepsRulesFromRunning))
    errors.push_back(
        {FieldError::Kind::kInvalid, "<nil>", "null",
         "some validation rules were not checked because the object was invalid; correct the existing errors "
         "to complete validation"});
  return errors;
}

Answer<> CustomTypes::Convert(const ResourceInfo& to, json::object& object) {
  object["apiVersion"] = to.ApiVersion();
  if (to.schema == nullptr) return {};
  AsValue(object, [&](json::value& whole) {
    // What is stored gets the defaults of the version it is stored in, whatever version it is read in.
    if (to.storage_schema != nullptr) data::ApplyDefaults(whole, *to.storage_schema);
    data::Prune(whole, *to.schema);
    return true;
  });
  return {};
}

}  // namespace gpuop::sim
