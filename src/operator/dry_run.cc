#include "operator/dry_run.h"

#include <boost/json.hpp>

#include "data/yaml.h"
#include "kube/apply.h"
#include "kube/differences.h"

namespace gpuop::op {
namespace {

std::string Indented(const std::string& text, std::string_view prefix) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.append(prefix).append(text, at, end - at).append("\n");
    at = end + 1;
  }
  return out;
}

}  // namespace

void DryRunText::AddObject(const operands::Object& wanted, const kube::AnyObject* live) {
  if (live == nullptr || live->whole.text.empty()) {
    out_.append("create ").append(wanted.Title()).append("\n");
    out_.append(Indented(data::ToYaml(wanted.body), "+ "));
    return;
  }
  const auto tree = kube::ParseObject(live->whole.text);
  if (!tree) return;
  const auto schema = kube::Applier::BuiltinSchema(wanted.resource);
  const auto differences = kube::Differences(wanted.body, *tree, schema.get());
  if (differences.empty()) return;
  out_.append("change ").append(wanted.Title()).append("\n");
  for (const kube::Difference& d : differences) {
    if (!d.live.empty()) out_.append("- ").append(d.path).append(": ").append(d.live).append("\n");
    if (!d.wanted.empty()) out_.append("+ ").append(d.path).append(": ").append(d.wanted).append("\n");
  }
}

void DryRunText::AddRemoval(const std::string& title, std::string_view how) {
  out_.append("delete ").append(title).append(how).append("\n");
}

void DryRunText::AddRefusal(const std::string& title, const std::string& why) {
  out_.append(title).append(" is wrong, and nothing would change for it: ").append(why).append("\n");
}

void DryRunText::AddPatch(const std::string& title, const boost::json::object& patch) {
  out_.append("change ").append(title).append("\n");
  for (const char* part : {"labels", "annotations"}) {
    const boost::json::value* values = patch.at("metadata").as_object().if_contains(part);
    if (values == nullptr) continue;
    for (const auto& [key, value] : values->as_object()) {
      const std::string path = std::string("metadata.").append(part).append("[").append(key).append("]");
      out_.append(value.is_null() ? "- " : "+ ").append(path);
      if (!value.is_null()) out_.append(": ").append(boost::json::serialize(value));
      out_.append("\n");
    }
  }
}

}  // namespace gpuop::op
