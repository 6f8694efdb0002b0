#pragma once

#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

#include "kube/door.h"

namespace gpuop::e2e {

/// A bug planted in front of an API server: each mutant breaks one promise of the API in the way that a faulty
/// server would. The suite must notice every one of them; otherwise it could not be trusted when it says nothing.
struct Mutant {
  const char* name;
  /// A scenario that must notice it.
  const char* scenario;
};
/// For test reports.
inline void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

/// All mutants.
std::vector<Mutant> AllMutants();

/// `door` with one mutant's bug. Unknown names break nothing.
std::unique_ptr<kube::Door> MakeMutantDoor(std::unique_ptr<kube::Door> door, std::string_view mutant);

}  // namespace gpuop::e2e
