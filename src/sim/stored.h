#pragma once
// Objects as the store keeps them, and the writes that made them.

#include <boost/json/object.hpp>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gpuop::sim {

/// An object's labels, kept as one flat text so that a hundred of them cost one allocation.
class Labels {
 public:
  Labels() = default;
  /// From metadata.labels; what is not a string is passed over.
  explicit Labels(const boost::json::object& labels);
  /// The label's value, or nullopt.
  std::optional<std::string_view> Find(std::string_view key) const;
  bool empty() const { return flat_.empty(); }
  bool operator==(const Labels&) const = default;

 private:
  std::string flat_;  // key \0 value \0 …
};

/// A few texts in one: eight of them cost one allocation.
class TextList {
 public:
  void Add(std::string_view text);
  std::string_view operator[](std::size_t index) const;
  std::size_t size() const { return static_cast<unsigned char>(flat_.empty() ? 0 : flat_[0]); }
  bool empty() const { return flat_.empty(); }
  void Shrink() { flat_.shrink_to_fit(); }
  bool operator==(const TextList&) const = default;

 private:
  std::string flat_;  // how many (below 256), then each as four bytes of length and the text
};

/// An object as it is kept: immutable, shared by the table, the history and every answer under way.
struct Stored {
  Stored() = default;
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;

  /// Parts of `json`, which has them anyway; of `escaped`, where they are written otherwise there.
  std::string_view ns, name, uid;
  /// metadata.resourceVersion.
  std::uint64_t revision = 0;
  /// Compact JSON: {"kind":…,"apiVersion":…,"metadata":{…},…}, in the storage version, the resourceVersion included.
  std::string json;
  /// Where "metadata" begins in `json` (lists of built-in kinds leave out what stands before), where its value ends,
  /// and where the resourceVersion's digits are.
  std::uint32_t metadata_at = 0, metadata_end = 0, revision_at = 0;
  std::forward_list<std::string> escaped;
  Labels labels;
  /// Values of the table's selectable fields, in their order.
  TextList fields;
};
using StoredPtr = std::shared_ptr<const Stored>;

/// `stored.json` with another resourceVersion.
std::string JsonAtRevision(const Stored& stored, std::uint64_t revision);

/// A committed write.
struct Event {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  std::uint64_t revision = 0;
  /// The object after the write; for kDeleted its last state with the deletion's revision.
  StoredPtr object;
  /// The object before the write; null for kAdded.
  StoredPtr before;
  /// The event as watches of whole objects send it, while somebody holds it: made once for all of them.
  mutable std::weak_ptr<const std::string> text;
};
using EventPtr = std::shared_ptr<const Event>;

}  // namespace gpuop::sim
