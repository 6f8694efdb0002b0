#pragma once
// What the history keeps of writes that are no longer new: versions of large objects as what differs from another one.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/stored.h"

namespace gpuop::sim {

/// `text` as pieces of `base` and what is new between them; nullopt when that is not much shorter.
std::optional<std::string> Difference(std::string_view base, std::string_view text);
/// The text that Difference was made of.
std::string Rebuild(std::string_view base, std::string_view difference);

/// An object's version as what differs from `base`, another one of the same object.
class PackedVersion {
 public:
  /// Null when `version` would hardly become smaller.
  static std::shared_ptr<const PackedVersion> Pack(const Stored& version, const StoredPtr& base);
  StoredPtr Unpack() const;
  const StoredPtr& base() const { return base_; }
  /// Bytes that it holds besides the base.
  std::size_t size() const { return sizeof(PackedVersion) + difference_.size(); }

 private:
  struct Span {
    std::uint32_t at = 0, size = 0;
  };

  StoredPtr base_;
  std::string difference_;
  std::uint64_t revision_ = 0;
  std::uint32_t metadata_at_ = 0, metadata_end_ = 0, revision_at_ = 0;
  Span ns_, name_, uid_;
  /// Where they are other than the base's.
  std::unique_ptr<const Labels> labels_;
  std::unique_ptr<const TextList> fields_;
};

/// An object's version as it is or packed; of an object that was not there: neither.
struct PastVersion {
  StoredPtr whole;
  std::shared_ptr<const PackedVersion> packed;

  StoredPtr Get() const { return packed ? packed->Unpack() : whole; }
  /// One that names the same object, without unpacking.
  const Stored& Namesake() const { return packed ? *packed->base() : *whole; }
};

/// A committed write in the history.
struct PastEvent {
  Event::Type type = Event::Type::kAdded;
  std::uint64_t revision = 0;
  /// What it counts for in HistoryLimit.
  std::size_t cost = 0;
  /// While it is new; null later.
  EventPtr recent;
  /// Later.
  PastVersion object, before;

  EventPtr Get() const;
  PastVersion Before() const { return recent ? PastVersion{recent->before, nullptr} : before; }
  const Stored& Namesake() const { return recent ? *recent->object : object.Namesake(); }
};

}  // namespace gpuop::sim
