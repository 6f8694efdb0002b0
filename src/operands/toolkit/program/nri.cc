#include "operands/toolkit/program/nri.h"

#include <algorithm>

#include "base/text.h"
#include "container/cdi/names.h"
#include "kube/client.h"
#include "net/ttrpc/trunk.h"
#include "operands/toolkit/program/nri.pb.h"

namespace gpuop::operands::toolkit {
namespace {

/// The trunk's logical connections: on one the engine calls plugins, on the other they call it.
constexpr std::uint32_t kPluginConnection = 1, kRuntimeConnection = 2;
/// The bit of CREATE_CONTAINER, the fourth event.
constexpr std::int32_t kCreateContainer = 1 << 3;
constexpr auto kRetry = std::chrono::seconds(2);

std::string PluginIndex(const std::string& index) { return index.size() < 2 ? "0" + index : index; }

Result<std::string> CreateContainer(const Options& options, Log& log, const std::string& text) {
  nri::CreateContainerRequest request;
  if (!request.ParseFromString(text)) return Fail(Code::kInvalid, "no CreateContainerRequest");
  const NriContainer container{.ns = request.pod().namespace_(),
                               .pod = request.pod().name(),
                               .container = request.container().name(),
                               .annotations = {request.pod().annotations().begin(), request.pod().annotations().end()}};
  const auto devices = NriDevices(container, options.cdi_vendor + "/" + options.cdi_class, options.nri_namespace,
                                  options.nri_management_namespaces);
  nri::CreateContainerResponse response;
  if (!devices) {
    log.Warn("annotation for devices is passed over", {{"pod", container.ns + "/" + container.pod},
                                                       {"container", container.container},
                                                       {"reason", devices.error().text}});
    return response.SerializeAsString();
  }
  for (const std::string& device : *devices) response.mutable_adjust()->add_cdi_devices()->set_name(device);
  if (!devices->empty())
    log.Info("devices by annotation", {{"pod", container.ns + "/" + container.pod},
                                       {"container", container.container},
                                       {"devices", Join(*devices, ",")}});
  return response.SerializeAsString();
}

Result<std::string> Answer(const Options& options, Log& log, const std::string& method, const std::string& request) {
  constexpr std::string_view kService = "nri.pkg.api.v1alpha1.Plugin/";
  if (!method.starts_with(kService)) return Fail(Code::kUnsupported, "no method " + method);
  const std::string_view name = std::string_view(method).substr(kService.size());
  if (name == "Configure") {
    nri::ConfigureResponse response;
    response.set_events(kCreateContainer);
    return response.SerializeAsString();
  }
  if (name == "Synchronize") {
    // What runs already stays as it is; a long list comes in parts.
    nri::SynchronizeRequest part;
    if (!part.ParseFromString(request)) return Fail(Code::kInvalid, "no SynchronizeRequest");
    nri::SynchronizeResponse response;
    response.set_more(part.more());
    return response.SerializeAsString();
  }
  if (name == "CreateContainer") return CreateContainer(options, log, request);
  if (name == "Shutdown" || name == "StateChange") return std::string();
  return Fail(Code::kUnsupported, "no method " + method);
}

}  // namespace

Result<std::vector<std::string>> NriDevices(const NriContainer& container, const std::string& management_kind,
                                            const std::string& own_namespace, const std::vector<std::string>& allowed) {
  std::vector<std::string> devices;
  const std::string prefix = kNriAnnotation;
  for (const std::string& key : {prefix + "/container." + container.container, prefix + "/pod", prefix}) {
    const auto it = container.annotations.find(key);
    if (it == container.annotations.end()) continue;
    for (const std::string_view part : Split(it->second, ',')) {
      std::string name(Trim(part));
      if (name.empty()) continue;
      if (!container::IsCdiName(name)) return Fail(Code::kInvalid, key + ": " + Quote(name) + " is no CDI device");
      devices.push_back(std::move(name));
    }
    break;
  }
  const bool management =
      std::ranges::any_of(devices, [&](const std::string& name) { return name.starts_with(management_kind + "="); });
  const bool may = container.ns == own_namespace || std::ranges::find(allowed, container.ns) != allowed.end();
  if (management && !may)
    return Fail(Code::kForbidden, "devices of " + management_kind + " are not for namespace " + container.ns);
  return devices;
}

Result<> ServeNri(const Options& options, Log& log, const std::stop_token& stop) {
  ASSIGN(const auto trunk, net::TtrpcTrunk::Connect(options.nri_socket));
  nri::RegisterPluginRequest request;
  request.set_plugin_name("nvidia-toolkit");
  request.set_plugin_idx(PluginIndex(options.nri_index));
  ASSIGN(const std::string registered, trunk->Call(kRuntimeConnection, "nri.pkg.api.v1alpha1.Runtime", "RegisterPlugin",
                                                   request.SerializeAsString(), std::chrono::seconds(5), stop));
  log.Info("registered with the engine as an NRI plugin", {{"socket", options.nri_socket}});
  return trunk->Serve(
      kPluginConnection,
      [&](const std::string& method, const std::string& text) { return Answer(options, log, method, text); }, stop);
}

void RunNri(const Options& options, Log& log, const std::stop_token& stop) {
  std::string last;
  while (!stop.stop_requested()) {
    const auto served = ServeNri(options, log, stop);
    if (served || stop.stop_requested()) return;
    if (served.error().text != last) log.Warn("NRI: tries again", {{"error", served.error().text}});
    last = served.error().text;
    kube::BlockingWait(kRetry, stop);
  }
}

}  // namespace gpuop::operands::toolkit
