#include "sim/node/host_runtime.h"

#include "base/text.h"
#include "container/cdi/inject.h"
#include "container/cdi/names.h"
#include "container/runtime/modify.h"
#include "os/real_fs.h"

namespace gpuop::sim::node {
namespace {

/// Handlers that call NVIDIA's runtime, which gives a container what it asks for.
constexpr std::string_view kNvidiaRuntime = "nvidia-container-runtime";
constexpr const char* kNvidiaConfig = "nvidia-container-runtime/config.toml";
/// Device numbers that stand for files of the machine during an injection; above all that Linux gives out.
constexpr std::int64_t kFirstMajor = 4096;

/// Gives every file of the machine that stands for a node numbers of its own.
class Nodes {
 public:
  explicit Nodes(const os::Fs& host) : host_(host) {}

  Result<container::HostNode> Look(const std::string& path) {
    auto real = host_.Resolve(path);
    if (!real)
      return Fail(Code::kNotFound, "failed to stat CDI host device " + Quote(path) + ": no such file or directory");
    sources_[{kFirstMajor, next_}] = path;
    return container::HostNode{.type = 'c',
                               .major = static_cast<unsigned>(kFirstMajor),
                               .minor = static_cast<unsigned>(next_++),
                               .mode = 0666};
  }
  const NodeSources& sources() const { return sources_; }

 private:
  const os::Fs& host_;
  NodeSources sources_;
  std::int64_t next_ = 0;
};

/// What NVIDIA's runtime at `binary` is configured to do.
Result<container::RuntimeConfig> RuntimeConfigOf(const os::Fs& host, const std::string& binary) {
  container::RuntimeConfig config;
  for (const std::string& path :
       {os::FolderOf(binary) + "/.config/" + kNvidiaConfig, std::string("/etc/") + kNvidiaConfig}) {
    const auto text = host.Read(path);
    if (!text) continue;
    ASSIGN(config, container::ReadRuntimeConfig(*text));
    break;
  }
  if (binary.ends_with(".cdi")) config.runtime.mode = "cdi";
  if (binary.ends_with(".legacy")) config.runtime.mode = "legacy";
  return config;
}

/// What NVIDIA's runtime at `binary` makes of a specification; `root` is where the machine's files are.
Result<> RunNvidiaRuntime(const os::Fs& host, const std::string& root, const std::string& binary, Nodes& nodes,
                          data::Json& oci) {
  ASSIGN(const container::RuntimeConfig config, RuntimeConfigOf(host, binary));
  const std::string driver_root = config.cli.root.empty() ? "/" : config.cli.root;
  std::unique_ptr<os::RealFs> driver;
  if (driver_root != "/" && !root.empty()) {
    ASSIGN(driver, os::RealFs::Open(root + driver_root));
  }
  const container::ShimNode node{.host = host,
                                 .driver = driver ? static_cast<const os::Fs&>(*driver) : host,
                                 .driver_root = driver_root,
                                 .nodes = [&nodes](const std::string& path) { return nodes.Look(path); },
                                 .warn = [](const std::string&) {}};
  TRY(container::ModifyForGpus(config, node, oci));
  return {};
}

}  // namespace

Result<std::optional<container::EngineConfig>> ReadContainerdConfig(const os::Fs& host) {
  using container::EngineKind;
  const container::EngineFiles files{.config = "/etc/containerd/config.toml"};
  ASSIGN(const auto texts, container::ReadEngineTexts(EngineKind::kContainerd, host, files));
  if (texts.empty()) return std::optional<container::EngineConfig>();
  ASSIGN(auto config,
         container::UnderstandEngine(EngineKind::kContainerd, texts, files, container::ImportRule::kMerge));
  return std::optional(std::move(config));
}

struct HostRuntime::Config {
  /// nullopt: no configuration file, which is the engine's default.
  std::optional<container::EngineConfig> engine;
  bool broken = false;
};

HostRuntime::HostRuntime(const os::Fs& host, std::string root)
    : host_(host), root_(std::move(root)), cdi_(host), config_(std::make_shared<Config>()) {}

Result<> HostRuntime::Reload() {
  auto engine = ReadContainerdConfig(host_);
  const Result<> read = engine ? Result<>() : Result<>(std::unexpected(engine.error()));
  config_ = std::make_shared<Config>(Config{.engine = engine ? *std::move(engine) : std::nullopt, .broken = !read});
  return read;
}

Result<> HostRuntime::CheckHandler(const std::string& handler) const {
  if (config_->broken)
    return Fail(Code::kUnavailable, "the container engine does not run: its configuration cannot be read");
  if (handler.empty() || handler == "runc") return {};
  if (config_->engine && config_->engine->Find(handler) != nullptr) return {};
  return Fail(Code::kNotFound, "no runtime for " + Quote(handler) + " is configured");
}

Result<ContainerSpec> HostRuntime::Complete(data::Json oci, const DeviceOptions& devices, const std::string& handler,
                                            const std::string& id) {
  std::vector<std::string> names = devices.cdi;
  auto annotated = container::ParseCdiAnnotations(devices.annotations);
  if (!annotated)
    return Fail(Code::kInvalid, "failed to generate container " + Quote(id) +
                                    " spec: failed to generate spec: " + annotated.error().text);
  names.insert(names.end(), annotated->devices.begin(), annotated->devices.end());
  const bool enabled = !config_->engine || config_->engine->cdi;
  Nodes nodes(host_);
  const auto look = [&nodes](const std::string& path) { return nodes.Look(path); };
  if (!names.empty() && enabled) {
    cdi_.Refresh();
    if (auto done = container::InjectCdiDevices(cdi_, names, look, oci); !done)
      return Fail(done.error().code,
                  "failed to generate container " + Quote(id) +
                      " spec: failed to generate spec: CDI device injection failed: " + done.error().text);
  }
  const std::string& name = handler.empty() && config_->engine ? config_->engine->default_runtime : handler;
  const container::EngineRuntime* runtime = config_->engine ? config_->engine->Find(name) : nullptr;
  if (runtime != nullptr && runtime->binary.find(kNvidiaRuntime) != std::string::npos)
    if (auto done = RunNvidiaRuntime(host_, root_, runtime->binary, nodes, oci); !done)
      return Fail(
          done.error().code,
          "failed to create containerd task: failed to create shim task: OCI runtime create failed: could not apply "
          "required modification to OCI specification: error modifying OCI spec: failed to inject CDI devices: " +
              done.error().text + ": unknown");
  ASSIGN(ContainerSpec spec, ReadOci(oci, nodes.sources()));
  spec.id = id;
  for (const DeviceOptions::Node& node : devices.nodes) spec.devices.push_back({node.container_path, node.host_path});
  return spec;
}

}  // namespace gpuop::sim::node
