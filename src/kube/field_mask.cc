#include "kube/field_mask.h"

#include <algorithm>

#include "base/text.h"
#include "kube/json_walker.h"
#include "kube/list_text.h"

namespace gpuop::kube {

/// Copies the wanted parts of a text, which are again JSON.
class MaskedText {
 public:
  explicit MaskedText(std::string_view text) : in_(text) {}

  /// False when the text is cut short, or no JSON as far as it was looked at.
  bool Take(const FieldMask::Node& mask) {
    if (mask.fields.empty()) return TakeWhole();
    switch (in_.Peek()) {
      case '{': return TakeObject(mask);
      case '[': return TakeArray(mask);
      default: return TakeWhole();
    }
  }
  const std::string& out() const { return out_; }

 private:
  bool TakeWhole() {
    const std::string_view value = in_.Value();
    out_.append(value);
    return !value.empty();
  }

  bool TakeObject(const FieldMask::Node& mask) {
    in_.Take('{');
    out_.push_back('{');
    bool first = true;
    if (!in_.Take('}')) {
      do {
        const std::string_view key = in_.Value();
        if (key.empty() || !in_.Take(':')) return false;
        const auto wanted = std::ranges::find(mask.fields, key, &FieldMask::Node::key);
        if (wanted == mask.fields.end()) {
          if (in_.Value().empty()) return false;
          continue;
        }
        if (!std::exchange(first, false)) out_.push_back(',');
        out_.append(key).push_back(':');
        if (!Take(*wanted)) return false;
      } while (in_.Take(','));
      if (!in_.Take('}')) return false;
    }
    out_.push_back('}');
    return true;
  }

  bool TakeArray(const FieldMask::Node& mask) {
    in_.Take('[');
    out_.push_back('[');
    if (!in_.Take(']')) {
      for (bool first = true; first || in_.Take(','); first = false) {
        if (!first) out_.push_back(',');
        if (!Take(mask)) return false;
      }
      if (!in_.Take(']')) return false;
    }
    out_.push_back(']');
    return true;
  }

  JsonWalker in_;
  std::string out_;
};

FieldMask::FieldMask(std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) {
    Node* at = &root_;
    for (const std::string_view part : Split(path, '.')) {
      const std::string key = Quote(part);
      auto it = std::ranges::find(at->fields, key, &Node::key);
      if (it == at->fields.end()) it = at->fields.insert(at->fields.end(), Node{.key = key});
      at = &*it;
    }
  }
}

Result<boost::json::object> FieldMask::Parse(std::string_view text, boost::json::storage_ptr memory) const {
  MaskedText masked(text);
  if (!masked.Take(root_)) return Fail(Code::kInvalid, "bad JSON: an object is expected");
  return ParseObject(masked.out(), std::move(memory));
}

}  // namespace gpuop::kube
