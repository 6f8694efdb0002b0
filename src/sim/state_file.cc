#include "sim/state_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "base/text.h"
#include "os/system_error.h"

namespace gpuop::sim {
namespace {

constexpr std::string_view kMagic = "gpu-operator sim state 1\n";
constexpr std::size_t kHeadBytes = 4 + 8;          // length, checksum
constexpr std::size_t kFixedBytes = 8 + 2 + 2;     // revision, length of table, length of key
constexpr std::uint32_t kMaxRecord = 256U << 20U;  // nothing that an API server stores is longer
constexpr std::size_t kSnapshotParcel = 4U << 20U;

template <class T>
void AppendNumber(std::string& out, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((number >> (8 * i)) & 0xff);
}

template <class T>
T ReadNumber(std::string_view in, std::size_t at) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number = static_cast<T>(number | static_cast<T>(static_cast<T>(static_cast<unsigned char>(in[at + i])) << (8 * i)));
  return number;
}

void AppendRecord(std::string& out, std::uint64_t revision, std::string_view table, std::string_view key,
                  std::string_view json) {
  const std::size_t head = out.size();
  out.resize(head + kHeadBytes);
  AppendNumber<std::uint64_t>(out, revision);
  AppendNumber<std::uint16_t>(out, static_cast<std::uint16_t>(table.size()));
  AppendNumber<std::uint16_t>(out, static_cast<std::uint16_t>(key.size()));
  out.append(table).append(key).append(json);
  const std::string_view payload = std::string_view(out).substr(head + kHeadBytes);
  std::string numbers;
  AppendNumber<std::uint32_t>(numbers, static_cast<std::uint32_t>(payload.size()));
  AppendNumber<std::uint64_t>(numbers, Hash64(payload));
  out.replace(head, kHeadBytes, numbers);
}

/// One record; views into the file's bytes.
struct Record {
  std::uint64_t revision = 0;
  std::string_view table, key, json;
};

enum class Found : std::uint8_t { kRecord, kEnd, kTorn, kBroken };

/// Reads the record at `at` and moves it behind; only a last record can be torn.
Found ReadRecord(std::string_view file, std::size_t& at, Record& record) {
  const std::size_t left = file.size() - at;
  if (left == 0) return Found::kEnd;
  if (left < kHeadBytes) return Found::kTorn;
  const auto length = ReadNumber<std::uint32_t>(file, at);
  const auto sum = ReadNumber<std::uint64_t>(file, at + 4);
  if (length < kFixedBytes || length > kMaxRecord) return Found::kBroken;
  if (left < kHeadBytes + length) return Found::kTorn;
  const std::string_view payload = file.substr(at + kHeadBytes, length);
  if (Hash64(payload) != sum) return left == kHeadBytes + length ? Found::kTorn : Found::kBroken;
  const std::size_t table = ReadNumber<std::uint16_t>(payload, 8), key = ReadNumber<std::uint16_t>(payload, 10);
  if (kFixedBytes + table + key > length) return Found::kBroken;
  record.revision = ReadNumber<std::uint64_t>(payload, 0);
  record.table = payload.substr(kFixedBytes, table);
  record.key = payload.substr(kFixedBytes + table, key);
  record.json = payload.substr(kFixedBytes + table + key);
  at += kHeadBytes + length;
  return Found::kRecord;
}

Result<std::string> ReadFile(const os::Fd& fd, const std::string& path) {
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return os::FailErrno(errno, "stat " + path);
  std::string bytes(static_cast<std::size_t>(st.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::pread(fd.get(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os::FailErrno(errno, "read " + path);
    if (n == 0) bytes.resize(at);
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<StateFile>> StateFile::Open(const std::string& path, Store& store) {
  os::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600));
  if (!fd.valid()) return os::FailErrno(errno, "open " + path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return Fail(Code::kUnavailable, path + ": another process keeps its cluster there");
  std::unique_ptr<StateFile> file(new StateFile(path, std::move(fd)));
  TRY(file->Load(store));
  return file;
}

Result<> StateFile::Load(Store& store) {
  ASSIGN(const std::string bytes, ReadFile(fd_, path_));
  std::size_t at = kMagic.size();
  if (bytes.size() < kMagic.size()) {
    if (!kMagic.starts_with(bytes)) return Fail(Code::kInvalid, path_ + ": not a state file");
    if (::ftruncate(fd_.get(), 0) != 0) return os::FailErrno(errno, "truncate " + path_);
    size_ = size_after_compaction_ = kMagic.size();
    return WriteAll(fd_, kMagic);
  }
  if (!bytes.starts_with(kMagic)) return Fail(Code::kInvalid, path_ + ": not a state file");
  std::map<std::pair<std::string_view, std::string_view>, Record> live;
  std::uint64_t revision = 0;
  Record record;
  Found found;
  while ((found = ReadRecord(bytes, at, record)) == Found::kRecord) {
    revision = std::max(revision, record.revision);
    if (record.json.empty())
      live.erase({record.table, record.key});
    else
      live[{record.table, record.key}] = record;
  }
  if (found == Found::kBroken)
    return Fail(Code::kInvalid, fmt::format("{}: broken at byte {}; what follows cannot be trusted", path_, at));
  dropped_ = bytes.size() - at;
  if (dropped_ > 0 && ::ftruncate(fd_.get(), static_cast<off_t>(at)) != 0)
    return os::FailErrno(errno, "truncate " + path_);
  size_ = at;
  for (const auto& [key, r] : live) {
    size_after_compaction_ += kHeadBytes + kFixedBytes + r.table.size() + r.key.size() + r.json.size();
    store.Restore(r.table, r.revision, std::string(r.json));
  }
  if (revision > 0) store.SetRevision(revision);
  return {};
}

Result<> StateFile::WriteAll(const os::Fd& fd, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os::FailErrno(errno, "write " + path_);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Answer<> StateFile::Append(std::uint64_t revision, std::string_view table, std::string_view key,
                           std::string_view json) {
  buffer_.clear();
  AppendRecord(buffer_, revision, table, key, json);
  if (auto written = WriteAll(fd_, buffer_); !written) {
    // Whatever part of the record is there must not stand before the next one.
    if (::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) fd_.Close();
    return std::unexpected(InternalError(written.error().text));
  }
  size_ += buffer_.size();
  return {};
}

Result<> StateFile::Compact(const Store& store) {
  const std::string path = path_ + ".new";
  os::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600));
  if (!fd.valid()) return os::FailErrno(errno, "open " + path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return os::FailErrno(errno, "lock " + path);
  std::string parcel(kMagic);
  std::uint64_t size = 0;
  Result<> written;
  const auto flush = [&] {
    size += parcel.size();
    if (written) written = WriteAll(fd, parcel);
    parcel.clear();
  };
  store.ForEach([&](std::string_view table, const StoredPtr& stored) {
    AppendRecord(parcel, stored->revision, table, StoreKey(stored->ns, stored->name), stored->json);
    if (parcel.size() > kSnapshotParcel) flush();
  });
  // The counter itself: the newest write may have been a deletion.
  AppendRecord(parcel, store.revision(), "", "", "");
  flush();
  if (!written) return written;
  if (::fsync(fd.get()) != 0) return os::FailErrno(errno, "sync " + path);
  if (::rename(path.c_str(), path_.c_str()) != 0) return os::FailErrno(errno, "rename " + path);
  fd_ = std::move(fd);
  size_ = size_after_compaction_ = size;
  return {};
}

}  // namespace gpuop::sim
