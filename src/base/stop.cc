#include "base/stop.h"

#include "base/mutex.h"

namespace gpuop {

void WaitForStop(const std::stop_token& stop) {
  Mutex mu;
  std::condition_variable_any never;
  Lock l(mu);
  never.wait(mu, stop, [] { return false; });
}

}  // namespace gpuop
