#pragma once

#include "base/interned.h"
#include "kube/types/meta.h"

namespace gpuop::op {

/// An object of which only parts are decoded: its metadata, and of spec and status what `SpecPart` and `StatusPart`
/// visit.
template <class SpecPart, class StatusPart>
struct ObjectShape {
  using Spec = SpecPart;
  using Status = StatusPart;
  kube::ObjectMeta meta;
  Spec spec;
  Status status;
  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
};

/// Of a Pod's status no more than how far it has come.
struct PodPhase {
  Interned phase;
  bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
  template <class V>
  void Visit(V& v) {
    v("phase", phase);
  }
};

}  // namespace gpuop::op
