#include "container/cdi/spec.h"

#include "base/text.h"
#include "data/json.h"
#include "data/reader.h"
#include "data/writer.h"
#include "data/yaml.h"

namespace gpuop::container {
namespace {

struct Document {
  data::Json value;
  std::vector<std::string> duplicates;
};

/// JSON is YAML, and much quicker to read as what it is.
Result<Document> ParseText(std::string_view text) {
  if (Trim(text).starts_with('{'))
    if (auto json = data::ParseJsonFindingDuplicates(text))
      return Document{std::move(json->value), std::move(json->duplicates)};
  ASSIGN(auto stream, data::ParseYamlStream(text, {.max_bytes = kCdiSpecLimit}));
  if (stream.empty()) return Fail(Code::kInvalid, "the file is empty");
  return Document{std::move(stream[0].value), std::move(stream[0].duplicates)};
}

Result<CdiSpec> ReadUnnamed(std::string_view text) {
  if (text.size() > kCdiSpecLimit) return Fail(Code::kTooLarge, "longer than 4 MiB");
  ASSIGN(const Document document, ParseText(text));
  if (!document.value.is_object())
    return Fail(Code::kInvalid, "expected an object, got " + std::string(data::KindName(document.value)));
  if (!document.duplicates.empty()) return Fail(Code::kInvalid, document.duplicates[0] + ": comes twice");
  std::vector<std::string> unknown;
  ASSIGN(CdiSpec spec, data::ReadAs<CdiSpec>(document.value, &unknown));
  if (!unknown.empty()) return Fail(Code::kInvalid, unknown[0] + ": unknown field");
  TRY(CheckCdiSpec(spec));
  return spec;
}

}  // namespace

Result<CdiSpec> ReadCdiSpec(std::string_view file, std::string_view text) {
  auto spec = ReadUnnamed(text);
  if (!spec) return std::unexpected(std::move(spec).error().During(file));
  return spec;
}

std::string CdiSpecToYaml(const CdiSpec& spec) { return "---\n" + data::ToYaml(data::WriteValue(spec)); }
std::string CdiSpecToJson(const CdiSpec& spec) { return data::ToPrettyJson(data::WriteValue(spec)) + "\n"; }

}  // namespace gpuop::container
