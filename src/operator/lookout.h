#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operands/build/meta.h"
#include "operator/fleet.h"
#include "operator/keeper.h"
#include "operator/policy_report.h"
#include "operator/world.h"

namespace gpuop::op {

/// Says what has become of single objects: whether they are as wanted, and whether their Pods run.
class Lookout {
 public:
  Lookout(World& world, Keeper& keeper, Fleet& fleet) : world_(world), keeper_(keeper), fleet_(fleet) {}

  /// Makes `report` worse if the object is not as it should be, and counts its Pods.
  void Look(const operands::Object& object, OperandReport& report);
  /// Whether each was looked at since it was wanted as it is: before, nothing can be said about it.
  bool Known(const std::vector<operands::Object>& objects) const;

 private:
  World& world_;
  Keeper& keeper_;
  Fleet& fleet_;
};

/// Sets kind, reason and message unless the report has something worse to say already.
void Worsen(OperandReport& report, OperandReport::Kind kind, std::string_view reason, std::string message);

}  // namespace gpuop::op
