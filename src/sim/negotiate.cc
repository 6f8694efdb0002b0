#include "sim/negotiate.h"

#include <optional>

#include "base/text.h"

namespace gpuop::sim {
namespace {

std::optional<Form> FormOf(std::string_view range) {
  Form form;
  const auto parts = Split(range, ';');
  const std::string media = ToLower(Trim(parts[0]));
  form.yaml = media == "application/yaml";
  if (form.yaml) form.content_type = "application/yaml";
  if (!form.yaml && media != "application/json" && media != "*/*" && media != "application/*") return std::nullopt;
  std::string as, version, group;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto pair = Cut(Trim(parts[i]), '=');
    if (!pair) continue;
    if (pair->first == "as") as = pair->second;
    if (pair->first == "v") version = pair->second;
    if (pair->first == "g") group = pair->second;
  }
  if (as.empty()) return form;
  if (group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return std::nullopt;
  form.version = version;
  if (as == "Table")
    form.kind = Form::Kind::kTable;
  else if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList")
    form.kind = Form::Kind::kPartial;
  else
    return std::nullopt;
  return form;
}

}  // namespace

Answer<Form> Negotiate(std::string_view accept, bool list) {
  if (Trim(accept).empty()) return Form{};
  for (std::string_view range : Split(accept, ','))
    if (auto form = FormOf(Trim(range))) return *std::move(form);
  std::string offered = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  if (list) offered += ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  return std::unexpected(NotAcceptable(offered));
}

}  // namespace gpuop::sim
