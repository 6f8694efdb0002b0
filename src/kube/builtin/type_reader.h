#pragma once
// Turns the table's text into data::Schema, a type at a time.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "data/schema.h"
#include "kube/builtin/index.h"

namespace gpuop::kube::builtin {

/// Not thread-safe. Equal field shapes share one node; a type met while it is being read refers to itself.
class TypeReader {
 public:
  /// `index` must outlive the reader.
  explicit TypeReader(const Index& index) : index_(index) {}

  /// Null when there is no such type.
  data::SchemaPtr Type(std::string_view name);

 private:
  struct FieldText;

  data::Property Field(std::string_view line, std::string_view package);
  /// The schema of "[]EnvVar keys=name patch=merge merge=name" and of every other type with its marks.
  data::SchemaPtr Shape(const FieldText& field, std::string_view package);
  std::shared_ptr<data::Schema> Bare(std::string_view type, std::string_view package);
  data::SchemaPtr Element(std::string_view type, std::string_view package);
  std::string FullName(std::string_view type, std::string_view package) const;
  data::SchemaPtr Form(const TypeText& text);

  const Index& index_;
  std::map<std::string, data::SchemaPtr, std::less<>> types_;
  /// Field shapes that are not just a named type, by their text.
  std::map<std::string, data::SchemaPtr, std::less<>> shapes_;
};

}  // namespace gpuop::kube::builtin
