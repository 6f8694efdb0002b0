#include <algorithm>

#include "base/text.h"
#include "data/patch.h"
#include "data/reader.h"
#include "data/writer.h"
#include "data/yaml.h"
#include "data/yaml_lines.h"
#include "machine/spec/data_files.h"
#include "machine/spec/spec.h"

namespace gpuop::machine {
namespace {

/// The path that an error's text begins with; empty when it names none.
std::string_view PathOf(std::string_view text) {
  const std::size_t colon = text.find(": ");
  const std::string_view path = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  return path.find(' ') == std::string_view::npos ? path : std::string_view();
}

Error At(std::string_view file, std::string_view text, Error error) {
  const std::size_t line = data::LineOf(text, PathOf(error.text));
  error.text.insert(0, std::string(file) + ":" + std::to_string(line) + ": ");
  return error;
}

/// "yaml: line 3: …" in the form of the other errors.
Error Syntax(std::string_view file, Error error) {
  constexpr std::string_view kBefore = "yaml: line ";
  if (error.text.starts_with(kBefore)) {
    error.text.replace(0, kBefore.size(), std::string(file) + ":");
  } else {
    error.text.insert(0, std::string(file) + ":1: ");
  }
  return error;
}

}  // namespace

Result<Spec> ReadSpec(std::string_view text, std::string_view file_name) {
  auto documents = data::ParseYamlStream(text, {.max_bytes = 1U << 20});
  if (!documents) return std::unexpected(Syntax(file_name, std::move(documents).error()));
  const auto fail = [&](std::string why) {
    return std::unexpected(At(file_name, text, {Code::kInvalid, std::move(why)}));
  };
  if (documents->size() != 1) return fail("expected one document, got " + std::to_string(documents->size()));
  const data::YamlDocument& document = documents->front();
  if (!document.duplicates.empty()) return fail(document.duplicates.front() + ": written twice");
  std::vector<std::string> unknown;
  auto spec = data::ReadAs<Spec>(document.value, &unknown);
  // A field that nobody knows is often the one that is missing, misspelt: it is named first.
  if (!unknown.empty()) return fail(unknown.front() + ": unknown field");
  if (!spec) return std::unexpected(At(file_name, text, std::move(spec).error()));
  if (auto good = Check(*spec); !good) return std::unexpected(At(file_name, text, std::move(good).error()));
  return spec;
}

Result<GpuModel> ModelOf(const GpuGroup& group) {
  const GpuModel* model = FindGpuModel(group.model);
  if (model == nullptr) {
    std::vector<std::string> names;
    for (const GpuModel& known : GpuModels()) names.push_back(known.model);
    return Fail(Code::kInvalid, "model: no model is called " + Quote(group.model) + "; there are " + Join(names, ", "));
  }
  if (group.override_fields.is_null()) return *model;
  if (!group.override_fields.is_object()) return Fail(Code::kInvalid, "override: expected an object");
  data::Json merged = data::ApplyMergePatch(data::WriteValue(*model), group.override_fields);
  std::vector<std::string> unknown;
  ASSIGN(GpuModel out, data::ReadAs<GpuModel>(merged, &unknown, "override"));
  if (!unknown.empty()) return Fail(Code::kInvalid, unknown.front() + ": unknown field");
  return out;
}

std::string WriteSpec(const Spec& spec) { return data::ToYaml(data::WriteValue(spec)); }

std::vector<std::string> ReadyMadeMachines() {
  std::vector<std::string> names;
  for (const DataFile& file : MachineFiles()) names.emplace_back(file.name);
  return names;
}

std::optional<std::string_view> ReadyMadeMachine(std::string_view name) {
  const auto files = MachineFiles();
  const auto it = std::ranges::find(files, name, &DataFile::name);
  return it == files.end() ? std::nullopt : std::optional(it->text);
}

}  // namespace gpuop::machine
