#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/cuda/driver/context.h"
#include "machine/state/nodes.h"

namespace gpuop::machine::cuda {

/// Objects that programs hold by pointer. A pointer that is none of them is an error, not a crash. Thread-safe.
template <class T>
class Registry {
 public:
  T* Add(std::shared_ptr<T> object) {
    T* handle = object.get();
    Lock lock(mu_);
    objects_[handle] = std::move(object);
    return handle;
  }
  /// Keeps the object alive while the caller uses it; nullptr: no such object.
  std::shared_ptr<T> Find(const void* handle) const {
    Lock lock(mu_);
    const auto it = objects_.find(handle);
    return it == objects_.end() ? nullptr : it->second;
  }
  /// Takes it out.
  std::shared_ptr<T> Remove(const void* handle) {
    Lock lock(mu_);
    const auto it = objects_.find(handle);
    if (it == objects_.end()) return nullptr;
    auto object = std::move(it->second);
    objects_.erase(it);
    return object;
  }
  template <class Which>
  void RemoveIf(Which which) {
    std::vector<std::shared_ptr<T>> removed;  // destroyed without the lock
    Lock lock(mu_);
    for (auto it = objects_.begin(); it != objects_.end();) {
      if (which(*it->second)) {
        removed.push_back(std::move(it->second));
        it = objects_.erase(it);
      } else {
        ++it;
      }
    }
  }

 private:
  mutable Mutex mu_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_ GUARDED_BY(mu_);
};

/// Code that belongs to no context yet (cuLibraryLoadData): loaded into each context that uses one of its kernels.
struct Library {
  std::string text;
  Mutex mu;
  std::map<Context*, std::shared_ptr<Module>> modules GUARDED_BY(mu);
  std::vector<std::string> kernels;
};

/// A kernel of a library.
struct Kernel {
  Library* library = nullptr;
  std::string name;
};

/// Code being put together (cuLinkCreate).
struct Link {
  std::vector<std::string> inputs;
  std::string output;
  char *error_log = nullptr, *info_log = nullptr;
  std::size_t error_size = 0, info_size = 0;
};

/// A pool of device memory (cuMemPoolCreate). What is freed goes back to the device at once.
struct Pool {
  int ordinal = 0;
  std::map<int, std::uint64_t> attributes;
};

/// What cuInit makes of this process: its devices, and every object of its calls.
class Driver {
 public:
  /// Finds the machine. kNoDevice, kSystemDriverMismatch, kSystemNotReady, kUnknown: what the machine's faults and the
  /// device nodes of this process make of it.
  static Cu Open(Found found, const std::optional<std::string>& visible, std::unique_ptr<Driver>& driver);
  ~Driver();

  State& state() { return *state_; }
  const std::vector<Device>& devices() const { return devices_; }
  /// nullptr: no such ordinal.
  const Device* FindDevice(int ordinal) const;
  std::uint32_t cuda_version() const { return cuda_version_; }

  Cu CreateContext(int ordinal, unsigned flags, Context*& made);
  Cu DestroyContext(const void* handle);
  /// The primary context, made at its first use; each needs a Release.
  Cu RetainPrimary(int ordinal, Context*& context);
  Cu ReleasePrimary(int ordinal);
  Cu ResetPrimary(int ordinal);
  Cu SetPrimaryFlags(int ordinal, unsigned flags);
  void PrimaryState(int ordinal, unsigned& flags, bool& active);

  /// The kernel in `context`; kInvalidPtx when it cannot run on its device.
  Cu Instantiate(const Kernel& kernel, Context& context, std::shared_ptr<Function>& function);
  Cu InstantiateLibrary(Library& library, Context& context, std::shared_ptr<Module>& module);
  /// The function that a CUfunction or CUkernel handle stands for, in `context`.
  Cu FindFunction(const void* handle, Context& context, std::shared_ptr<Function>& function);

  Allocations allocations;
  Registry<Context> contexts;
  Registry<Module> modules;
  Registry<Function> functions;
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Library> libraries;
  Registry<Kernel> kernels;
  Registry<Link> links;
  Registry<Pool> pools;
  std::vector<Pool*> default_pools;  ///< by ordinal
  std::atomic<std::uint64_t> ids = 0;

 private:
  Driver(std::unique_ptr<State> state, std::vector<Device> devices, std::uint32_t cuda_version);

  struct Primary {
    Context* context = nullptr;
    unsigned users = 0, flags = 0;
  };
  std::unique_ptr<State> state_;
  std::vector<Device> devices_;
  const std::uint32_t cuda_version_;
  Mutex mu_;
  std::vector<Primary> primaries_ GUARDED_BY(mu_);
};

}  // namespace gpuop::machine::cuda
