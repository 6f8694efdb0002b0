#include "sim/table/tables.h"

#include "base/text.h"
#include "data/json.h"
#include "sim/peek.h"
#include "sim/table/human.h"
#include "sim/table/kind_table.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kGeneric = "Name:string:name|Created At:date";

json::object Column(std::string_view name, std::string_view type, std::string_view format, std::string_view description,
                    std::int64_t priority) {
  return {{"name", name}, {"type", type}, {"format", format}, {"description", description}, {"priority", priority}};
}

/// From KindTable::columns.
json::array ParseColumns(std::string_view columns) {
  json::array out;
  for (std::string_view text : Split(columns, '|')) {
    const auto parts = Split(text, ':');
    const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : std::string_view(); };
    out.push_back(Column(part(0), part(1), part(2), "", ParseInt(part(3)).value_or(0)));
  }
  return out;
}

/// The columns of a custom resource; one that declares none shows its age.
std::vector<PrinterColumn> CustomColumns(const ResourceInfo& resource) {
  if (!resource.columns.empty()) return resource.columns;
  return {{.name = "Age", .type = "date", .format = {}, .description = {}, .json_path = ".metadata.creationTimestamp"}};
}

/// A value as JSONPath output prints it.
std::string Printed(const json::value& v) {
  if (v.is_null()) return "<no value>";
  return v.is_string() ? std::string(AsString(v)) : data::ToJson(v);
}

json::value Typed(std::string_view type, const json::value& v, WallTime now) {
  if (type == "integer" && v.is_number()) return AsInt(&v);
  if (type == "number" && v.is_number()) return v;
  if (type == "boolean" && v.is_bool()) return v;
  if (type == "date" && v.is_string()) {
    const auto at = ParseTime(AsString(v));
    return at ? json::value(HumanDuration(now - *at)) : json::value("<invalid>");
  }
  return nullptr;
}

/// What a finished Pod's row says beside its cells.
std::string PodConditions(const json::object& pod) {
  const auto phase = PeekString(pod, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return "";
  const char* message = phase == "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  json::array conditions{{{"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}}};
  return ",\"conditions\":" + data::ToJson(conditions);
}

}  // namespace

std::string Tables::Columns(const ResourceInfo& resource) {
  if (!resource.custom) {
    const KindTable* table = FindKindTable(resource.group, resource.kind);
    return data::ToJson(ParseColumns(table == nullptr ? kGeneric : table->columns));
  }
  json::array out{Column("Name", "string", "name", "", 0)};
  for (const PrinterColumn& c : CustomColumns(resource))
    out.push_back(Column(c.name, c.type, c.format, c.description, c.priority));
  return data::ToJson(out);
}

json::value Tables::CustomCell(const PrinterColumn& column, const json::value& object, WallTime now) {
  auto it = paths_.find(column.json_path);
  if (it == paths_.end()) {
    auto parsed = JsonPath::Parse(column.json_path);
    it = paths_.emplace(column.json_path, parsed ? std::optional(*std::move(parsed)) : std::nullopt).first;
  }
  if (!it->second) return nullptr;
  const auto found = it->second->Find(object);
  if (found.empty()) return nullptr;
  return column.type == "string" ? json::value(Printed(*found.front())) : Typed(column.type, *found.front(), now);
}

std::string Tables::Row(const ResourceInfo& resource, const json::object& object, WallTime now) {
  json::array cells;
  std::string conditions;
  if (resource.custom) {
    cells.emplace_back(PeekString(object, {"metadata", "name"}));
    const json::value whole(object);
    for (const PrinterColumn& c : CustomColumns(resource)) cells.push_back(CustomCell(c, whole, now));
  } else if (const KindTable* table = FindKindTable(resource.group, resource.kind)) {
    table->cells(object, now, cells);
    if (table->cells == PodCells) conditions = PodConditions(object);
  } else {
    cells.emplace_back(PeekString(object, {"metadata", "name"}));
    cells.emplace_back(PeekString(object, {"metadata", "creationTimestamp"}));
  }
  return "\"cells\":" + data::ToJson(std::move(cells)) + conditions;
}

}  // namespace gpuop::sim
