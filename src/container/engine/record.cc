#include "container/engine/record.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "data/reader.h"
#include "data/writer.h"

namespace gpuop::container {
namespace {

/// One file as it is written.
struct Entry {
  std::string path, kind, content, after;
  std::int64_t mode = 0, uid = 0, gid = 0;

  template <class V>
  void Visit(V& v) {
    v("path", path, {.required = true});
    v("kind", kind, {.required = true, .enumeration = {"absent", "file", "link"}});
    v("mode", mode, {.minimum = 0, .maximum = 07777});
    v("uid", uid, {.minimum = 0});
    v("gid", gid, {.minimum = 0});
    v("content", content);
    v("after", after);
  }
};

struct Document {
  std::int64_t version = 1;
  std::vector<Entry> files;

  template <class V>
  void Visit(V& v) {
    v("version", version, {.required = true});
    v("files", files, {.required = true});
  }
};

std::string_view KindName(os::FileState::Kind kind) {
  switch (kind) {
    case os::FileState::Kind::kAbsent: return "absent";
    case os::FileState::Kind::kFile: return "file";
    case os::FileState::Kind::kLink: break;
  }
  return "link";
}

Result<EngineRecord::File> ReadFile(const Entry& entry) {
  EngineRecord::File file{.path = entry.path, .before = {}, .after = std::nullopt};
  if (entry.kind != "absent")
    file.before.kind = entry.kind == "file" ? os::FileState::Kind::kFile : os::FileState::Kind::kLink;
  if (entry.kind == "file")
    file.before.attributes = {static_cast<mode_t>(entry.mode), static_cast<uid_t>(entry.uid),
                              static_cast<gid_t>(entry.gid)};
  auto bytes = Base64Decode(entry.content);
  if (!bytes) return Fail(Code::kInvalid, entry.path + ": content is no base64");
  file.before.bytes = *std::move(bytes);
  if (entry.after.empty()) return file;
  std::uint64_t sum = 0;
  const char* end = entry.after.data() + entry.after.size();
  if (const auto [at, error] = std::from_chars(entry.after.data(), end, sum, 16); error != std::errc() || at != end)
    return Fail(Code::kInvalid, entry.path + ": after is no checksum");
  file.after = sum;
  return file;
}

}  // namespace

const EngineRecord::File* EngineRecord::Find(std::string_view path) const {
  const auto it = std::ranges::find(files, path, [](const File& f) { return std::string_view(f.path); });
  return it == files.end() ? nullptr : &*it;
}

std::string WriteEngineRecord(const EngineRecord& record) {
  Document document;
  for (const EngineRecord::File& file : record.files) {
    char sum[17] = "";
    if (file.after) std::snprintf(sum, sizeof sum, "%016llx", static_cast<unsigned long long>(*file.after));
    document.files.push_back({.path = file.path,
                              .kind = std::string(KindName(file.before.kind)),
                              .content = Base64Encode(file.before.bytes),
                              .after = sum,
                              .mode = file.before.attributes.mode,
                              .uid = file.before.attributes.uid,
                              .gid = file.before.attributes.gid});
  }
  return data::ToPrettyJson(data::WriteValue(document)) + "\n";
}

Result<EngineRecord> ReadEngineRecord(std::string_view text) {
  ASSIGN(const data::Json value, data::ParseJson(text));
  ASSIGN(const Document document, data::ReadAs<Document>(value));
  if (document.version != 1) return Fail(Code::kUnsupported, "version " + std::to_string(document.version));
  EngineRecord record;
  for (const Entry& entry : document.files) {
    ASSIGN(EngineRecord::File file, ReadFile(entry));
    record.files.push_back(std::move(file));
  }
  return record;
}

}  // namespace gpuop::container
