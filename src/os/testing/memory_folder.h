#pragma once

#include <unistd.h>

#include "os/temp_folder.h"

namespace gpuop::os {

/// A TempFolder in memory where the machine has such a place: tests sync thousands of times.
inline TempFolder MemoryFolder() {
  return std::move(TempFolder::Make(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "").value());
}

}  // namespace gpuop::os
