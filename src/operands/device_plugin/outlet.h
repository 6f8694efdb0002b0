#pragma once
// Where a resource's devices are offered: towards the kubelet, one gRPC server a resource.

#include <functional>
#include <memory>
#include <string>

#include "operands/device_plugin/answer.h"
#include "operands/device_plugin/roster.h"

namespace gpuop::operands::device_plugin {

/// All that is needed to answer for a resource; never changed once it is made.
struct Offer {
  Offer(ResourceState state, const Affinity& affinity, std::shared_ptr<const Settings> settings, Extras extras);

  const ResourceState state;
  const Chooser chooser;
  const std::shared_ptr<const Settings> settings;
  const Extras extras;
  /// The ListAndWatchResponse, encoded.
  const std::string list;
};

class Outlet {
 public:
  virtual ~Outlet() = default;
  /// What is offered from now on.
  virtual void Set(std::shared_ptr<const Offer> offer) = 0;
  /// Tells the kubelet of the resource, again if need be: it has come back.
  virtual void Register() = 0;
  /// Something happened to sockets: makes its own anew if it is gone, and registers then.
  virtual void Check() = 0;
  /// Whether the kubelet watches the list.
  virtual bool live() const = 0;
};

/// Makes the outlet of a resource, which offers at once.
using MakeOutlet = std::function<std::unique_ptr<Outlet>(std::shared_ptr<const Offer> first)>;

}  // namespace gpuop::operands::device_plugin
