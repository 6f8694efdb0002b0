#pragma once
// Schemas as OpenAPI writes them.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "data/schema.h"

namespace gpuop::sim::types {

enum class OpenApiVersion : std::uint8_t { kV2, kV3 };

/// Appends JSON schemas to a text. Named types become references and are remembered.
class SchemaWriter {
 public:
  explicit SchemaWriter(OpenApiVersion version) : version_(version) {}

  /// A type in full. `group_version_kind`: the array as JSON text, or empty.
  void Definition(std::string& out, const data::Schema& schema, std::string_view group_version_kind);
  /// A type's use: a reference, or the schema itself where it has no name. `words` describe the field that uses it.
  void Use(std::string& out, const data::Schema& schema, const data::Property* field = nullptr,
           std::string_view words = {});
  /// `{"$ref":"…"}`.
  void Reference(std::string& out, std::string_view name);

  /// Names of all types referred to so far.
  const std::set<std::string, std::less<>>& referred() const { return referred_; }

 private:
  void Body(std::string& out, const data::Schema& schema, bool use);
  void Members(std::string& out, const data::Schema& schema);
  void Marks(std::string& out, const data::Schema& schema, bool use);
  bool Form(std::string& out, const data::Schema& schema);
  void Limits(std::string& out, const data::Schema& schema);

  OpenApiVersion version_;
  std::set<std::string, std::less<>> referred_;
};

}  // namespace gpuop::sim::types
