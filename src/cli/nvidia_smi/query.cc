#include <fmt/core.h>

#include <expected>

#include "cli/nvidia_smi/fields.h"
#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

std::string Comma(const std::string& line, std::string_view next) {
  return line.empty() ? std::string(next) : line + ", " + std::string(next);
}

std::string Cell(const Result<std::string>& value, std::string_view unit) {
  if (value) return unit.empty() ? *value : *value + " " + std::string(unit);
  switch (value.error().code) {
    case Code::kGone: return value.error().text.contains("RESET_REQUIRED") ? "[GPU requires reset]" : "[GPU is lost]";
    case Code::kForbidden: return "[Insufficient Permissions]";
    case Code::kUnsupported:
    case Code::kNotFound: return "[N/A]";
    default: return "[Unknown Error]";
  }
}

Outcome UnknownField(const std::string& name) {
  return {fmt::format("Field \"{}\" is not a valid field to query.\n", name), 2};
}

/// The fields that a query asks for, and the line that names them ("" when none is wanted).
template <class Column>
struct Columns {
  std::vector<const Column*> fields;
  std::string header;
};

/// The columns that `arguments` names, each as `find` knows it; the first that is unknown is the outcome instead.
template <class Column>
std::expected<Columns<Column>, Outcome> Choose(const Arguments& arguments, const Column* (*find)(std::string_view)) {
  Columns<Column> out;
  for (const std::string& name : arguments.fields) {
    const Column* const field = find(name);
    if (field == nullptr) return std::unexpected(UnknownField(name));
    out.fields.push_back(field);
    out.header =
        Comma(out.header, field->unit.empty() || !arguments.units ? std::string(field->name)
                                                                  : fmt::format("{} [{}]", field->name, field->unit));
  }
  out.header = arguments.header ? out.header + "\n" : "";
  return out;
}

/// A field of --query-compute-apps.
struct AppField {
  std::string_view name, unit;
  Result<std::string> (*read)(const Gpu& gpu, const Process& process, const std::string& now);
};
constexpr AppField kAppFields[] = {
    {"timestamp", "", [](const Gpu&, const Process&, const std::string& now) { return Result<std::string>(now); }},
    {"gpu_name", "", [](const Gpu& g, const Process&, const std::string&) { return g.Text(&F::DeviceGetName); }},
    {"gpu_bus_id", "", [](const Gpu& g, const Process&, const std::string&) { return Result<std::string>(g.bus_id); }},
    {"gpu_serial", "", [](const Gpu& g, const Process&, const std::string&) { return g.Text(&F::DeviceGetSerial); }},
    {"gpu_uuid", "", [](const Gpu& g, const Process&, const std::string&) { return g.Text(&F::DeviceGetUUID); }},
    {"pid", "",
     [](const Gpu&, const Process& p, const std::string&) { return Result<std::string>(std::to_string(p.pid)); }},
    {"process_name", "", [](const Gpu&, const Process& p, const std::string&) { return Result<std::string>(p.name); }},
    {"used_gpu_memory", "MiB",
     [](const Gpu&, const Process& p, const std::string&) {
       return p.bytes ? Result<std::string>(std::to_string(*p.bytes >> 20U)) : Fail(Code::kUnsupported, "");
     }},
};

const AppField* FindAppField(std::string_view name) {
  if (name == "used_memory") name = "used_gpu_memory";
  if (name == "name") name = "process_name";
  for (const AppField& field : kAppFields)
    if (field.name == name) return &field;
  return nullptr;
}

}  // namespace

Outcome QueryGpus(const Arguments& arguments, const std::vector<Gpu>& gpus, std::size_t attached,
                  const std::string& now) {
  const auto columns = Choose<Field>(arguments, FindField);
  if (!columns) return columns.error();
  Outcome out;
  out.text = columns->header;
  for (const Gpu& gpu : gpus) {
    std::string line;
    for (const Field* field : columns->fields)
      line = Comma(line, Cell(field->read(gpu, {now, attached}), arguments.units ? field->unit : ""));
    out.text += line + "\n";
  }
  return out;
}

Outcome QueryApps(const Arguments& arguments, const std::vector<Gpu>& gpus, const std::string& now) {
  const auto columns = Choose<AppField>(arguments, FindAppField);
  if (!columns) return columns.error();
  Outcome out;
  out.text = columns->header;
  for (const Gpu& gpu : gpus)
    for (const Process& process : ProcessesOn(gpu)) {
      if (process.type == "G") continue;
      std::string line;
      for (const AppField* field : columns->fields)
        line = Comma(line, Cell(field->read(gpu, process, now), arguments.units ? field->unit : ""));
      out.text += line + "\n";
    }
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
