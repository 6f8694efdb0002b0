#include "sim/node/scratch.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "os/real_fs.h"

namespace gpuop::sim::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMemory = "/dev/shm";
/// Programs, logs and files of some machines.
constexpr std::uint64_t kRoom = 1ULL << 30;
/// Locked by the cluster whose folder it is in, as long as that runs.
constexpr const char* kLock = "/.cluster";
/// A younger one may be about to be locked.
constexpr std::chrono::minutes kYoung{1};

bool MemoryHasRoom() {
  struct statvfs info{};
  if (::access(kMemory, W_OK | X_OK) != 0 || ::statvfs(kMemory, &info) != 0) return false;
  return (info.f_flag & ST_NOEXEC) == 0 && info.f_bavail * info.f_frsize >= kRoom;
}

void RemoveLeft(const fs::path& folder) {
  std::error_code error;
  const auto written = fs::last_write_time(folder.string() + kLock, error);
  if (error || fs::file_time_type::clock::now() - written < kYoung) return;
  const auto inside = os::RealFs::Open(folder, os::RealFs::Durability::kNone);
  if (!inside) return;
  if (const auto nobodys = (*inside)->Lock(kLock)) fs::remove_all(folder, error);
}

}  // namespace

Result<Scratch> Scratch::Make() {
  const bool memory = MemoryHasRoom();
  std::error_code error;
  if (memory)
    for (const auto& entry : fs::directory_iterator(kMemory, error))
      if (entry.path().filename().string().starts_with("gpuop-")) RemoveLeft(entry.path());
  ASSIGN(os::TempFolder folder, os::TempFolder::Make(memory ? kMemory : ""));
  ASSIGN(const auto inside, os::RealFs::Open(folder.path(), os::RealFs::Durability::kNone));
  ASSIGN(auto lock, inside->Lock(kLock));
  return Scratch(std::move(folder), std::move(lock));
}

}  // namespace gpuop::sim::node
