#include "machine/cuda/exports/process.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuop::machine::cuda {
namespace {

Mutex init_mu;
/// Never destroyed: programs call from their own destructors, and threads of contexts run until the process ends.
std::atomic<Driver*> the_driver = nullptr;
std::atomic<int> owner = 0;

}  // namespace

Cu Initialize() {
  Lock lock(init_mu);
  if (the_driver != nullptr) return owner == ::getpid() ? Cu::kSuccess : Cu::kNotInitialized;
  auto found = FindMachine();
  if (!found) return found.error().code == Code::kNotFound ? Cu::kNoDevice : Cu::kUnknown;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::unique_ptr<Driver> driver;
  const Cu rc =
      Driver::Open(std::move(*found), visible == nullptr ? std::nullopt : std::optional<std::string>(visible), driver);
  if (rc != Cu::kSuccess) return rc;
  owner = ::getpid();
  the_driver = driver.release();
  return Cu::kSuccess;
}

Driver* TheDriver() { return owner == ::getpid() ? the_driver.load() : nullptr; }

std::vector<Context*>& ContextStack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

std::shared_ptr<Context> CurrentContext(Driver& driver) {
  return ContextStack().empty() ? nullptr : driver.contexts.Find(ContextStack().back());
}

void CopyText(std::string_view text, char* to, int size) {
  if (to == nullptr || size <= 0) return;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

}  // namespace gpuop::machine::cuda
