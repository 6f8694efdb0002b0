#include "machine/state/state.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "base/check.h"
#include "os/fd.h"
#include "os/system_error.h"

namespace gpuop::machine {
namespace {

/// Bytes that are locked lie far behind the file's end: byte 0 of this range is the machine's lock, the table of
/// clients follows.
constexpr off_t kLockRange = off_t{1} << 40;
constexpr off_t kClientRange = kLockRange + 1;

struct flock ByteLock(short type, off_t at) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

long Futex(const std::atomic<std::uint32_t>& word, int op, std::uint32_t value, const timespec* limit) {
  return ::syscall(SYS_futex, &word, op, value, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void WakeWord(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1, std::memory_order_acq_rel);
  Futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

bool WaitWord(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::optional<Duration> limit) {
  timespec until{};
  if (limit) {
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(*limit).count() + until.tv_nsec;
    until.tv_sec += ns / 1'000'000'000;
    until.tv_nsec = ns % 1'000'000'000;
  }
  while (word.load(std::memory_order_acquire) == seen) {
    if (Futex(word, FUTEX_WAIT_BITSET, seen, limit ? &until : nullptr) != 0 && errno == ETIMEDOUT) return false;
  }
  return true;
}

std::uint64_t ClockNs(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

Result<layout::Machine*> Map(int fd, const std::string& path) {
  void* at = ::mmap(nullptr, sizeof(layout::Machine), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return os::FailErrno(errno, "map " + path);
  return static_cast<layout::Machine*>(at);
}

}  // namespace

std::uint64_t RealtimeNs() { return ClockNs(CLOCK_REALTIME); }
std::uint64_t BoottimeNs() { return ClockNs(CLOCK_BOOTTIME); }

Result<> State::Create(const std::string& path, const std::function<void(layout::Machine&)>& fill) {
  // Filled under another name: whoever opens the file finds a whole machine.
  const std::string fresh = path + ".new." + std::to_string(::getpid());
  const os::Fd fd(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return os::FailErrno(errno, "create " + fresh);
  Result<> done = [&]() -> Result<> {
    if (::ftruncate(fd.get(), sizeof(layout::Machine)) != 0) return os::FailErrno(errno, "size " + fresh);
    ASSIGN(layout::Machine * machine, Map(fd.get(), fresh));
    machine->magic = layout::kMagic;
    machine->version = layout::kVersion;
    machine->size = sizeof(layout::Machine);
    fill(*machine);
    ::munmap(machine, sizeof(layout::Machine));
    if (::fchmod(fd.get(), 0666) != 0) return os::FailErrno(errno, "chmod " + fresh);
    if (::link(fresh.c_str(), path.c_str()) != 0) return os::FailErrno(errno, "create " + path);
    return {};
  }();
  ::unlink(fresh.c_str());
  return done;
}

Result<std::unique_ptr<State>> State::Open(const std::string& path) {
  os::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return os::FailErrno(errno, "open " + path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return os::FailErrno(errno, "stat " + path);
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(sizeof(std::uint64_t) * 2))
    return Fail(Code::kInvalid, path + ": not the state of a machine");
  if (info.st_size != sizeof(layout::Machine))
    return Fail(Code::kInvalid, path + ": the state of a machine in another layout; create the machine anew");
  ASSIGN(layout::Machine * machine, Map(fd.get(), path));
  if (machine->magic != layout::kMagic || machine->version != layout::kVersion ||
      machine->size != sizeof(layout::Machine)) {
    ::munmap(machine, sizeof(layout::Machine));
    return Fail(Code::kInvalid, path + ": not the state of a machine, or one in another layout");
  }
  return std::unique_ptr<State>(new State(path, fd.Release(), machine));
}

State::State(std::string path, int fd, layout::Machine* machine)
    : path_(std::move(path)), fd_(fd), pid_(::getpid()), machine_(machine) {}

State::~State() {
  ::munmap(machine_, sizeof(layout::Machine));
  ::close(fd_);
}

void State::Reopen() {
  std::string same = "/proc/self/fd/" + std::to_string(fd_);
  int fd = ::open(same.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    ::close(fd_);
    fd_ = fd;
  }
  pid_ = ::getpid();
  own_.reset();
}

void State::TakeLock() {
  mu_.lock();
  if (pid_.load(std::memory_order_relaxed) != ::getpid()) Reopen();
  struct flock lock = ByteLock(F_WRLCK, kLockRange);
  while (::fcntl(fd_, F_OFD_SETLKW, &lock) != 0) GPUOP_CHECK(errno == EINTR);
  // Whoever died while writing left entries of which each is either there or not (in_use is written last): the
  // machine is whole as it stands, and only those who wait must look again.
  if (machine_->writing != 0) {
    machine_->writing = 0;
    WakeWord(machine_->change_word);
  }
}

void State::ReleaseLock() {
  struct flock lock = ByteLock(F_UNLCK, kLockRange);
  ::fcntl(fd_, F_OFD_SETLK, &lock);
  mu_.unlock();
}

State::Reading State::Read() {
  TakeLock();
  return Reading(machine_, this);
}

State::Writing State::Write() {
  TakeLock();
  machine_->writing = 1;
  return {this, true};
}

State::Writing State::WriteQuietly() {
  TakeLock();
  machine_->writing = 1;
  return {this, false};
}

State::Writing::~Writing() {
  if (state_ == nullptr) return;
  state_->machine_->writing = 0;
  state_->ReleaseLock();
  if (wakes_) WakeWord(state_->machine_->change_word);
}

bool State::WaitChange(std::uint32_t seen, std::optional<Duration> limit) {
  return WaitWord(machine_->change_word, seen, limit);
}

bool State::WaitEvent(std::uint32_t seen, std::optional<Duration> limit) {
  return WaitWord(machine_->event_word, seen, limit);
}

void State::WakeAll() {
  WakeWord(machine_->change_word);
  WakeWord(machine_->event_word);
}

bool State::Hold(std::size_t entry) {
  if (own_.test(entry)) return false;  // the lock is this descriptor's already, and would be given again
  struct flock lock = ByteLock(F_WRLCK, kClientRange + static_cast<off_t>(entry));
  if (::fcntl(fd_, F_OFD_SETLK, &lock) != 0) return false;
  own_.set(entry);
  return true;
}

void State::Leave(std::size_t entry) {
  struct flock lock = ByteLock(F_UNLCK, kClientRange + static_cast<off_t>(entry));
  ::fcntl(fd_, F_OFD_SETLK, &lock);
  own_.reset(entry);
}

bool State::Held(std::size_t entry) {
  if (own_.test(entry)) return true;
  struct flock lock = ByteLock(F_WRLCK, kClientRange + static_cast<off_t>(entry));
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void PushEvent(layout::Machine& machine, layout::Event event) {
  event.sequence = machine.events + 1;
  event.time_ns = RealtimeNs();
  machine.ring[machine.events % layout::kMaxEvents] = event;
  machine.events = event.sequence;
  WakeWord(machine.event_word);
}

}  // namespace gpuop::machine
