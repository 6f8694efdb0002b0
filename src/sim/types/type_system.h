#pragma once
// The server's knowledge of the built-in types, plugged into its core.

#include <map>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "data/schema.h"
#include "sim/hooks.h"
#include "sim/types/apply/ownership.h"

namespace gpuop::sim::types {

/// Reads, checks, defaults, validates and applies objects of built-in kinds; field ownership and apply are the same for
/// custom resources, whose other rules are `SetCustom`'s. Not thread-safe: it lives with the core.
class Types final : public TypeSystem {
 public:
  /// `executor` tells the time of writes and outlives this.
  explicit Types(Executor& executor) : executor_(executor) {}

  /// Who conforms, defaults, validates and converts custom resources. Outlives this.
  void SetCustom(TypeSystem& custom) { custom_ = &custom; }

  Answer<boost::json::object> Decode(const Request& request, std::string_view content_type, std::string_view body,
                                     std::vector<std::string>& problems) override;
  Answer<> Conform(const Request& request, boost::json::object& object, std::vector<std::string>& problems) override;
  void Default(const Request& request, boost::json::object& object) override;
  std::vector<FieldError> Validate(const Request& request, const boost::json::object& object,
                                   const boost::json::object* old) override;
  void TrackFields(const Request& request, const boost::json::object* old, boost::json::object& now) override;
  Answer<boost::json::object> Apply(const Request& request, const boost::json::object* live,
                                    const boost::json::object& wanted, bool force) override;
  Answer<> Convert(const ResourceInfo& to, boost::json::object& object) override;

 private:
  /// A custom resource's schema with metadata as every object has it.
  data::SchemaPtr WholeSchema(const ResourceInfo& info);
  /// The object of the type that says nothing: what a create starts from.
  static boost::json::object Empty(const ResourceInfo& info);
  /// The result refers to all of its arguments.
  static Writing WritingOf(const Request& request, const data::Schema* schema, const std::string& api_version,
                           const std::string& time);

  Executor& executor_;
  TypeSystem* custom_ = nullptr;
  /// By the schema they were made from, which they keep alive.
  std::map<const data::Schema*, std::pair<data::SchemaPtr, data::SchemaPtr>> whole_;
};

}  // namespace gpuop::sim::types
