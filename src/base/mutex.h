#pragma once
// A mutex that clang's thread safety analysis (-Wthread-safety) understands.

#include <condition_variable>
#include <mutex>

#define CAPABILITY(x) __attribute__((capability(x)))
#define SCOPED_CAPABILITY __attribute__((scoped_lockable))
// Abseil's headers define these two as well, to the same effect.
#undef GUARDED_BY
#undef PT_GUARDED_BY
#define GUARDED_BY(x) __attribute__((guarded_by(x)))
#define PT_GUARDED_BY(x) __attribute__((pt_guarded_by(x)))
#define REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define EXCLUDES(...) __attribute__((locks_excluded(__VA_ARGS__)))

namespace gpuop {

/// std::mutex with annotations. Meets BasicLockable, so that a
/// std::condition_variable_any can wait on it directly.
class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mu_.lock(); }
  void unlock() RELEASE() { mu_.unlock(); }

 private:
  std::mutex mu_;
};

/// Holds a Mutex for a scope.
class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mu) ACQUIRE(mu) : mu_(mu) { mu_.lock(); }
  ~Lock() RELEASE() { mu_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mu_;
};

}  // namespace gpuop
