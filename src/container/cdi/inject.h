#pragma once
// Puts CDI devices into an OCI runtime specification (config.json), which stays JSON so that what we do not know of it
// stays as it is. CDI specification 1.1.0, "OCI Edits"; OCI runtime specification 1.2.

#include <functional>
#include <string>
#include <vector>

#include "container/cdi/cache.h"
#include "data/json.h"

namespace gpuop::container {

/// A node on the host.
struct HostNode {
  /// 'b', 'c' or 'p'.
  char type = 'c';
  unsigned major = 0, minor = 0;
  /// Permission bits.
  std::uint32_t mode = 0;
};
/// Looks at a path of the host. kNotFound when nothing is there, kInvalid when it is no node.
using NodeLookup = std::function<Result<HostNode>(const std::string& path)>;
/// The lookup on a host's files.
NodeLookup NodesOf(const os::Fs& fs);

/// Injects `devices` (qualified names, doubles dropped) in their order: of each, its spec's edits once, then its own.
/// On an error `oci` is as it was. kNotFound: "unresolvable CDI devices a, b", with what the specs say about each.
Result<> InjectCdiDevices(const CdiCache& cache, const std::vector<std::string>& devices, const NodeLookup& nodes,
                          data::Json& oci);

/// Makes one set of edits in `oci`. On an error a part of them may have been made.
Result<> ApplyCdiEdits(const CdiEdits& edits, const NodeLookup& nodes, data::Json& oci);

}  // namespace gpuop::container
