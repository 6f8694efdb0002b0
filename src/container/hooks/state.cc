#include "base/text.h"
#include "container/hooks/hooks.h"
#include "data/json.h"
#include "os/real_fs.h"

namespace gpuop::container {

Result<std::string> ContainerRoot(std::string_view state) {
  constexpr std::size_t kLongest = 64U << 20U;
  ASSIGN(const data::Json value, data::ParseJson(state));
  ASSIGN(const std::string bundle, data::RequireString(value, "bundle"));
  if (!bundle.starts_with('/')) return Fail(Code::kInvalid, "bundle: " + Quote(bundle) + " is not absolute");
  ASSIGN(const auto fs, os::RealFs::Open(bundle));
  ASSIGN(const std::string text, fs->Read("/config.json", kLongest));
  ASSIGN(const data::Json spec, data::ParseJson(text));
  std::string root(data::StringOr(spec, "root.path"));
  if (!root.empty() && !root.starts_with('/')) root.insert(0, bundle + "/");
  std::string_view plain = root;
  while (plain.ends_with('/')) plain.remove_suffix(1);
  if (plain.empty()) return Fail(Code::kInvalid, "the container's root is " + Quote(root) + ": refused");
  return std::string(plain);
}

}  // namespace gpuop::container
