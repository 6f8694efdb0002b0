#pragma once

#include <cstdint>
#include <string>

namespace gpuop {

/// A small, seedable random source (SplitMix64). The same seed gives the same numbers on every machine,
/// which is what makes a simulated run repeatable. Not for secrets. Not thread-safe.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next();
  /// A number in [0, bound); 0 when bound is 0.
  std::uint64_t Below(std::uint64_t bound);
  /// A number in [0, 1).
  double Unit();

 private:
  std::uint64_t state_;
};

/// A random (version 4) UUID in its usual 36-character form.
std::string NewUuid(Rng& rng);
/// A suffix as the API server makes for generateName: `length` of its 27 letters and digits that spell no words.
std::string NameSuffix(Rng& rng, std::size_t length = 5);
/// A seed from the operating system, fit for the process's one Rng.
std::uint64_t RandomSeed();

}  // namespace gpuop
