#include <cstddef>
#include <cstdint>
#include <string_view>

#include "container/oci/spec.h"
#include "container/runtime/image.h"

/// Any JSON may stand where an OCI specification should.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuop::container;
  auto oci = gpuop::data::ParseJson({reinterpret_cast<const char*>(data), size});
  if (!oci || !oci->is_object()) return 0;
  RuntimeConfig config;
  config.accept_volume_mounts = true;
  const ContainerImage image(*oci, config);
  (void)image.Devices(true).size();
  (void)image.Requirements().has_value();
  (void)image.Capabilities().has_value();
  (void)SetOciEnv(*oci, "A=b").has_value();
  (void)PutOciMount(*oci, {"/a", "bind", "/b", {"rbind"}}).has_value();
  (void)SortOciMounts(*oci).has_value();
  (void)PutOciDevice(*oci, {.path = "/dev/x", .type = "c"}).has_value();
  (void)AllowOciDevice(*oci, "c", 1, 2, "rwm").has_value();
  (void)AddOciHook(*oci, "createContainer", {"/h", {}, {}, {}}).has_value();
  (void)AddOciGid(*oci, 5).has_value();
  return 0;
}
