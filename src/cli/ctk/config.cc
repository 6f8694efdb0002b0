// nvidia-ctk config: the runtime's configuration file, shown and changed value by value.
#include "container/runtime/config.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "cli/ctk/cdi.h"
#include "container/flags.h"
#include "data/toml_editor.h"
#include "os/real_fs.h"

namespace gpuop::cli {
namespace {

using container::FlagSpec;
using container::FlagValues;

/// What a fresh installation has: every key that can be set, those that are off as comments.
constexpr const char* kDefaultConfig = R"(#accept-nvidia-visible-devices-as-volume-mounts = false
#accept-nvidia-visible-devices-envvar-when-unprivileged = true
disable-require = false
supported-driver-capabilities = "compat32,compute,display,graphics,ngx,utility,video"
#swarm-resource = "DOCKER_RESOURCE_GPU"

[nvidia-container-cli]
#debug = "/var/log/nvidia-container-toolkit.log"
environment = []
#ldcache = "/etc/ld.so.cache"
ldconfig = "@/sbin/ldconfig"
load-kmods = true
#no-cgroups = false
#path = "/usr/bin/nvidia-container-cli"
#root = "/run/nvidia/driver"
#user = "root:video"

[nvidia-container-runtime]
#debug = "/var/log/nvidia-container-runtime.log"
log-level = "info"
mode = "auto"
runtimes = ["runc", "crun"]

[nvidia-container-runtime.modes]

[nvidia-container-runtime.modes.cdi]
annotation-prefixes = ["cdi.k8s.io/"]
default-kind = "nvidia.com/gpu"
spec-dirs = ["/etc/cdi", "/var/run/cdi"]

[nvidia-container-runtime.modes.csv]
mount-spec-path = "/etc/nvidia-container-runtime/host-files-for-container.d"

[nvidia-container-runtime.modes.legacy]
cuda-compat-mode = "ldconfig"

[nvidia-container-runtime-hook]
path = "nvidia-container-runtime-hook"
skip-mode-detection = false

[nvidia-ctk]
path = "nvidia-ctk"
)";

/// The keys whose values are no texts.
constexpr std::array kSwitches = {"accept-nvidia-visible-devices-as-volume-mounts",
                                  "accept-nvidia-visible-devices-envvar-when-unprivileged",
                                  "disable-require",
                                  "nvidia-container-cli.load-kmods",
                                  "nvidia-container-cli.no-cgroups",
                                  "nvidia-container-cli.no-pivot",
                                  "nvidia-container-runtime-hook.skip-mode-detection",
                                  "features.allow-cuda-compat-libs-from-container",
                                  "features.allow-ldconfig-from-container",
                                  "features.allow-unknown-oci-spec-fields",
                                  "features.disable-cuda-compat-lib-hook",
                                  "features.disable-imex-channel-creation",
                                  "features.ignore-imex-channel-requests",
                                  "features.no-additional-gids-for-device-nodes"};
constexpr std::array kLists = {"nvidia-container-cli.environment",
                               "nvidia-container-runtime.runtimes",
                               "nvidia-container-runtime.modes.cdi.annotation-prefixes",
                               "nvidia-container-runtime.modes.cdi.spec-dirs",
                               "nvidia-container-runtime.modes.jit-cdi.nvcdi-feature-flags",
                               "nvidia-container-runtime.modes.jit-cdi.nvcdi-disable-hooks"};
constexpr std::array kTexts = {"supported-driver-capabilities",
                               "swarm-resource",
                               "nvidia-container-cli.debug",
                               "nvidia-container-cli.ldcache",
                               "nvidia-container-cli.ldconfig",
                               "nvidia-container-cli.path",
                               "nvidia-container-cli.root",
                               "nvidia-container-cli.user",
                               "nvidia-container-runtime.debug",
                               "nvidia-container-runtime.log-level",
                               "nvidia-container-runtime.mode",
                               "nvidia-container-runtime.modes.cdi.default-kind",
                               "nvidia-container-runtime.modes.csv.mount-spec-path",
                               "nvidia-container-runtime.modes.csv.compat-container-root",
                               "nvidia-container-runtime.modes.legacy.cuda-compat-mode",
                               "nvidia-container-runtime-hook.path",
                               "nvidia-ctk.path"};

template <class Names>
bool Has(const Names& names, const std::string& key) {
  return std::ranges::find(names, key) != names.end();
}

/// The value of KEY=TEXT by the key's type. A switch that stands alone is on.
Result<data::Json> ValueOf(const std::string& key, const std::optional<std::string>& text,
                           const std::string& separator) {
  if (Has(kSwitches, key)) {
    if (!text || *text == "true") return data::Json(true);
    if (*text == "false") return data::Json(false);
    return Fail(Code::kInvalid, "--set: " + key + ": " + Quote(*text) + " is not true or false");
  }
  if (!Has(kLists, key) && !Has(kTexts, key))
    return Fail(Code::kInvalid, "--set: " + key + ": there is no such option");
  if (!text) return Fail(Code::kInvalid, "--set: " + key + ": needs a value");
  if (Has(kTexts, key)) return data::Json(*text);
  data::JsonArray list;
  for (const std::string_view part : Split(*text, separator[0])) list.emplace_back(part);
  return data::Json(std::move(list));
}

Result<> Set(data::TomlEditor& editor, const std::string& wish, const std::string& separator) {
  const auto parts = Cut(wish, '=');
  const std::string key(parts ? parts->first : std::string_view(wish));
  ASSIGN(const data::Json value,
         ValueOf(key, parts ? std::optional(std::string(parts->second)) : std::nullopt, separator));
  data::TomlPath path;
  for (const std::string_view part : Split(key, '.')) path.emplace_back(part);
  return editor.Set(path, value);
}

const std::vector<FlagSpec>& Flags() {
  static const std::vector<FlagSpec> kFlags = {{{"--config-file", "--config", "-c"}},
                                               {{"--set"}, {}, "", false, true},
                                               {{"--set-list-separator"}, {}, ":"},
                                               {{"--in-place", "-i"}, {}, "false", true},
                                               {{"--output", "-o"}}};
  return kFlags;
}

}  // namespace

Result<std::string> ConfigDefault(const std::vector<std::string>& arguments) {
  static const std::vector<FlagSpec> kFlags = {{{"--output", "-o"}}};
  ASSIGN(const FlagValues v,
         container::ParseFlags(kFlags, arguments, [](const char*) -> const char* { return nullptr; }));
  if (v.Text("--output").empty()) return std::string(kDefaultConfig);
  TRY(WriteOutput(v.Text("--output"), kDefaultConfig));
  return std::string();
}

Result<std::string> ConfigShow(const std::vector<std::string>& arguments) {
  ASSIGN(const FlagValues v,
         container::ParseFlags(Flags(), arguments, [](const char*) -> const char* { return nullptr; }));
  if (v.On("--in-place") && !v.Text("--output").empty())
    return Fail(Code::kInvalid, "--in-place and --output exclude each other");
  const std::string separator = v.Text("--set-list-separator");
  if (separator.size() != 1) return Fail(Code::kInvalid, "--set-list-separator: must be one character");
  const std::string path = v.Text("--config-file").empty() ? container::RuntimeConfigPath() : v.Text("--config-file");
  ASSIGN(const auto host, os::RealFs::Open("/"));
  auto text = host->Read(path);
  if (!text && text.error().code != Code::kNotFound) return std::unexpected(text.error());
  auto editor = data::TomlEditor::Open(text ? *std::move(text) : kDefaultConfig);
  if (!editor) return std::unexpected(std::move(editor).error().During(path));
  // A value may hold commas: each flag is one wish.
  for (const std::string& wish : v.Each("--set")) TRY(Set(*editor, wish, separator));
  TRY(container::ReadRuntimeConfig(editor->text()));
  if (!v.On("--in-place") && v.Text("--output").empty()) return editor->text();
  TRY(WriteOutput(v.On("--in-place") ? path : v.Text("--output"), editor->text()));
  return std::string();
}

}  // namespace gpuop::cli
