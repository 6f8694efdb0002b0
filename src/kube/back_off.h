#pragma once

#include <algorithm>

#include "base/clock.h"
#include "base/rng.h"

namespace gpuop::kube {

/// How long to wait after repeated failures: `first`, doubled each time up to `longest`, then shortened at random by
/// up to `jitter` (0 to 1) of it, so that many clients do not return at once.
struct BackOff {
  Duration first = std::chrono::milliseconds(800);
  Duration longest = std::chrono::seconds(30);
  double jitter = 0.5;

  /// The wait after `failures` in a row (1 is the first).
  Duration After(int failures, Rng& rng) const {
    Duration wait = first;
    for (int i = 1; i < failures && wait < longest; ++i) wait *= 2;
    wait = std::min(wait, longest);
    return wait - std::chrono::duration_cast<Duration>(wait * (jitter * rng.Unit()));
  }
};

}  // namespace gpuop::kube
