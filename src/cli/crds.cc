#include "cli/crds.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <string_view>

#include "api/crd.h"
#include "api/reference.h"
#include "data/yaml.h"

namespace gpuop::cli {
namespace {

constexpr const char* kUsage =
    "usage: gpu-operator crds [NAME...]     print the CustomResourceDefinitions, or those named, as YAML\n"
    "       gpu-operator crds --names       print their names\n"
    "       gpu-operator crds --reference NAME...     print the page of all fields, as docs/reference has it\n";

void Print(const api::Definition& definition, bool first) {
  if (!first) std::fputs("---\n", stdout);
  const std::string text = data::ToYaml(api::CustomResourceDefinitionOf(definition));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void PrintReference(const api::Definition& definition, bool) {
  std::fputs(api::ReferencePage(definition).c_str(), stdout);
}

int PrintNamed(std::span<char* const> names, void (*print)(const api::Definition&, bool first)) {
  bool first = true;
  for (const std::string_view name : names) {
    const auto it = std::ranges::find(api::Definitions(), name, &api::Definition::name);
    if (it == api::Definitions().end()) {
      std::fprintf(stderr, "gpu-operator crds: no definition is called %s; see --names\n", std::string(name).c_str());
      return 2;
    }
    print(*it, first);
    first = false;
  }
  return 0;
}

}  // namespace

int RunCrds(std::span<char* const> args) {
  const std::string_view first = args.empty() ? std::string_view() : args[0];
  if (first == "--help" || first == "-h") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (first == "--names") {
    for (const api::Definition& d : api::Definitions()) std::puts(d.name().c_str());
    return 0;
  }
  if (first == "--reference" && args.size() > 1) return PrintNamed(args.subspan(1), PrintReference);
  if (first.starts_with("-")) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (!args.empty()) return PrintNamed(args, Print);
  for (const api::Definition& d : api::Definitions()) Print(d, &d == &api::Definitions().front());
  return 0;
}

}  // namespace gpuop::cli
