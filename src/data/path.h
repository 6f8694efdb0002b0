#pragma once

#include <string>
#include <string_view>

namespace gpuop::data {

/// A field's place, built on the stack while walking down and written out only when an error needs it:
/// "spec.containers[2].image", "metadata.labels[a.b/c]". A Path refers to its parent and to its name: it must not
/// outlive either.
class Path {
 public:
  /// The root; `name` may be empty.
  explicit Path(std::string_view name = {}) : name_(name) {}
  Path Child(std::string_view name) const { return {this, Kind::kChild, name, 0}; }
  Path Index(std::size_t index) const { return {this, Kind::kIndex, {}, index}; }
  /// A map's entry.
  Path Key(std::string_view key) const { return {this, Kind::kKey, key, 0}; }

  std::string ToString() const {
    std::string out;
    Append(out);
    return out;
  }

 private:
  enum class Kind : unsigned char { kChild, kIndex, kKey };
  Path(const Path* parent, Kind kind, std::string_view name, std::size_t index)
      : parent_(parent), kind_(kind), name_(name), index_(index) {}

  void Append(std::string& out) const {
    if (parent_ != nullptr) parent_->Append(out);
    switch (kind_) {
      case Kind::kChild:
        if (!out.empty() && !name_.empty()) out += '.';
        out += name_;
        break;
      case Kind::kIndex: out.append("[").append(std::to_string(index_)).append("]"); break;
      case Kind::kKey: out.append("[").append(name_).append("]"); break;
    }
  }

  const Path* parent_ = nullptr;
  Kind kind_ = Kind::kChild;
  std::string_view name_;
  std::size_t index_ = 0;
};

}  // namespace gpuop::data
