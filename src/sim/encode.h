#pragma once
// Objects as clients ask to see them: in a version, whole, as metadata alone, or as rows of a Table.

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "sim/hooks.h"
#include "sim/negotiate.h"
#include "sim/resource.h"
#include "sim/response.h"
#include "sim/store.h"

namespace gpuop::sim {

/// What stands in a list's own metadata.
struct ListMeta {
  std::uint64_t revision = 0;
  std::string continue_token;
  std::optional<std::size_t> remaining;
};

/// Renders stored objects of one resource in one form. Cheap to make; holds references only.
class Encoder {
 public:
  /// `include_object`: what a Table's rows carry: "Metadata", "Object" or "None".
  Encoder(const ResourceInfo& info, const Form& form, TypeSystem& types, TableRenderer& tables, WallTime now,
          std::string_view include_object = "Metadata");

  /// One object; `status` is the HTTP status.
  Response Object(const StoredPtr& stored, int status = 200) const;
  /// One that is not stored (a dry run, a scale): already in the resource's version.
  Response Object(const boost::json::object& object, int status = 200) const;
  Response List(const std::vector<StoredPtr>& items, const ListMeta& meta) const;
  /// The text of a watch event's object. `columns`: a Table names its columns (the first event of a watch).
  std::string EventObject(const Stored& stored, bool columns) const;
  /// The same for the text of an object that is not stored as it is (another resourceVersion).
  std::string EventObject(std::string_view json, std::uint32_t metadata_at, std::uint32_t metadata_end,
                          bool columns) const;
  /// Whether objects are shown exactly as they are stored.
  bool Verbatim() const { return form_.kind == Form::Kind::kObject && !converts_; }

 private:
  std::string Converted(std::string_view json) const;
  std::string Partial(std::string_view metadata) const;
  std::string Row(const boost::json::object& o, std::string_view metadata) const;
  /// A Table of one object that has been parsed, in the resource's version.
  std::string Table(const boost::json::object& o, std::string_view metadata, bool columns) const;
  /// The stored text, parsed, in the resource's version.
  boost::json::object Read(std::string_view json) const;
  void AppendItem(Body& body, const StoredPtr& stored) const;

  const ResourceInfo& info_;
  const Form& form_;
  TypeSystem& types_;
  TableRenderer& tables_;
  WallTime now_;
  std::string_view include_object_;
  bool converts_;
};

/// Whether a resource is served in another form than its table keeps.
bool Converts(const ResourceInfo& info);

}  // namespace gpuop::sim
