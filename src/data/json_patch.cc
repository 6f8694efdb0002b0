#include <boost/json.hpp>
#include <charconv>

#include "base/text.h"
#include "data/patch.h"

namespace gpuop::data {

std::string PointerToken(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~' || c == '/') {
      out.append(c == '~' ? "~0" : "~1");
    } else {
      out += c;
    }
  }
  return out;
}

namespace {

/// RFC 6901 §4: ~1 is a slash, ~0 a tilde.
std::string Unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    if (!escape) {
      out += token[i];
      continue;
    }
    out += token[++i] == '1' ? '/' : '~';
  }
  return out;
}

std::unexpected<Error> DoesNotApply(std::string text) { return Fail(Code::kUnsupported, std::move(text)); }

/// An index into a list of `size`; from the end when negative. The errors are those of the operation's inner half.
Result<std::size_t> Index(std::string_view token, std::size_t size) {
  std::string_view digits = token;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t at = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), at);
  if (ec == std::errc::result_out_of_range)
    return DoesNotApply("strconv.Atoi: parsing " + Quote(token) + ": value out of range");
  if (ec != std::errc() || end != digits.data() + digits.size())
    return DoesNotApply("strconv.Atoi: parsing " + Quote(token) + ": invalid syntax");
  const auto n = static_cast<std::int64_t>(size);
  if (at >= n || at < -n)
    return DoesNotApply("Unable to access invalid index: " + std::to_string(at) + ": invalid index referenced");
  return static_cast<std::size_t>(at < 0 ? at + n : at);
}

/// A container and the last token of a pointer into it.
struct Place {
  Json* container = nullptr;
  std::string key;
};

/// Where `pointer` leads; `container` is null when something before its last token is missing or a scalar.
Place FindPlace(Json& doc, std::string_view pointer) {
  const auto tokens = Split(pointer, '/');
  if (tokens.size() < 2) return {};
  Json* at = &doc;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const std::string token = Unescape(tokens[i]);
    if (JsonObject* object = at->if_object()) {
      at = object->if_contains(token);
      if (at == nullptr) return {};
    } else {
      JsonArray& array = at->get_array();
      const auto index = Index(token, array.size());
      if (!index) return {};
      at = &array[*index];
    }
    if (!at->is_structured()) return {};
  }
  return {at, Unescape(tokens.back())};
}

/// The value at the place; null when an object has no such member, an error when a list has no such index.
Result<Json*> Get(const Place& place) {
  if (JsonObject* object = place.container->if_object()) return object->if_contains(place.key);
  JsonArray& array = place.container->get_array();
  ASSIGN(const std::size_t index, Index(place.key, array.size()));
  return &array[index];
}

Result<> Add(const Place& place, Json value) {
  if (JsonObject* object = place.container->if_object()) {
    (*object)[place.key] = std::move(value);
    return {};
  }
  JsonArray& array = place.container->get_array();
  if (place.key == "-") {
    array.push_back(std::move(value));
    return {};
  }
  auto index = Index(place.key, array.size() + 1);
  if (!index) {
    std::string text = std::move(index).error().text;
    if (text.starts_with("strconv")) text = "value was not a proper array index: '" + place.key + "': " + text;
    return DoesNotApply(std::move(text));
  }
  array.insert(array.begin() + *index, std::move(value));
  return {};
}

Result<> Remove(const Place& place) {
  if (JsonObject* object = place.container->if_object()) {
    if (object->erase(place.key) == 0)
      return DoesNotApply("Unable to remove nonexistent key: " + place.key + ": missing value");
    return {};
  }
  JsonArray& array = place.container->get_array();
  ASSIGN(const std::size_t index, Index(place.key, array.size()));
  array.erase(array.begin() + index);
  return {};
}

/// One patch being applied: the document, the operation's own fields and what has been copied so far.
class Application {
 public:
  Application(Json& doc, const PatchLimits& limits) : doc_(doc), limits_(limits) {}

  Result<> Apply(const JsonObject& operation) {
    const std::string kind = Text(operation, "op").value_or("unknown");
    path_ = Text(operation, "path");
    from_ = Text(operation, "from");
    value_ = operation.if_contains("value");
    if (kind == "add") return DoAdd();
    if (kind == "remove") return DoRemove();
    if (kind == "replace") return DoReplace();
    if (kind == "move") return DoMove();
    if (kind == "copy") return DoCopy();
    if (kind == "test") return DoTest();
    return DoesNotApply("Unexpected kind: " + kind);
  }

 private:
  static std::optional<std::string> Text(const JsonObject& operation, std::string_view name) {
    const Json* value = operation.if_contains(name);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return std::string(AsView(value->get_string()));
  }
  Json Value() const { return value_ == nullptr ? Json() : *value_; }

  Result<> DoAdd() {
    if (!path_) return DoesNotApply("add operation failed to decode path: missing value");
    const Place place = FindPlace(doc_, *path_);
    if (place.container == nullptr)
      return DoesNotApply("add operation does not apply: doc is missing path: \"" + *path_ + "\": missing value");
    return During(Add(place, Value()), "error in add for path: '" + *path_ + "'");
  }

  Result<> DoRemove() {
    if (!path_) return DoesNotApply("remove operation failed to decode path: missing value");
    const Place place = FindPlace(doc_, *path_);
    if (place.container == nullptr)
      return DoesNotApply("remove operation does not apply: doc is missing path: \"" + *path_ + "\": missing value");
    return During(Remove(place), "error in remove for path: '" + *path_ + "'");
  }

  Result<> DoReplace() {
    if (!path_)
      return DoesNotApply("replace operation failed to decode path: operation missing path field: missing value");
    if (path_->empty()) {
      if (value_ == nullptr || !value_->is_structured())
        return DoesNotApply("replace operation value must be object or array");
      doc_ = *value_;
      return {};
    }
    const Place place = FindPlace(doc_, *path_);
    if (place.container == nullptr)
      return DoesNotApply("replace operation does not apply: doc is missing path: " + *path_ + ": missing value");
    const auto at = Get(place);
    if (!at) return DoesNotApply("replace operation does not apply: doc is missing key: " + *path_ + ": missing value");
    if (*at != nullptr) {
      **at = Value();
      return {};
    }
    return Add(place, Value());
  }

  Result<> DoMove() {
    if (!from_)
      return DoesNotApply("move operation failed to decode from: operation, missing from field: missing value");
    const Place source = FindPlace(doc_, *from_);
    if (source.container == nullptr)
      return DoesNotApply("move operation does not apply: doc is missing from path: " + *from_ + ": missing value");
    const auto at = Get(source);
    const std::string doing = "error in move for path: '" + source.key + "'";
    if (!at) return std::unexpected(Error(at.error()).During(doing));
    Json moved = *at == nullptr ? Json() : std::move(**at);
    TRY(During(Remove(source), doing));
    if (!path_)
      return DoesNotApply("move operation failed to decode path: operation missing path field: missing value");
    const Place target = FindPlace(doc_, *path_);
    if (target.container == nullptr)
      return DoesNotApply("move operation does not apply: doc is missing destination path: " + *path_ +
                          ": missing value");
    return During(Add(target, std::move(moved)), "error in move for path: '" + *path_ + "'");
  }

  Result<> DoCopy() {
    if (!from_)
      return DoesNotApply("copy operation failed to decode from: operation, missing from field: missing value");
    const Place source = FindPlace(doc_, *from_);
    if (source.container == nullptr)
      return DoesNotApply("copy operation does not apply: doc is missing from path: " + *from_ + ": missing value");
    const auto at = Get(source);
    if (!at) return std::unexpected(Error(at.error()).During("error in copy for from: '" + *from_ + "'"));
    if (!path_) return DoesNotApply("copy operation failed to decode path: missing value");
    Json copied = *at == nullptr ? Json() : **at;
    const Place target = FindPlace(doc_, *path_);
    if (target.container == nullptr)
      return DoesNotApply("copy operation does not apply: doc is missing destination path: " + *path_ +
                          ": missing value");
    copied_bytes_ += ToJson(copied).size();
    if (copied_bytes_ > limits_.max_copied_bytes)
      return DoesNotApply("Unable to complete the copy, the accumulated size increase of copy is " +
                          std::to_string(copied_bytes_) + ", exceeding the limit " +
                          std::to_string(limits_.max_copied_bytes));
    return During(Add(target, std::move(copied)), "error while adding value during copy");
  }

  Result<> DoTest() {
    if (!path_)
      return DoesNotApply("test operation failed to decode path: operation missing path field: missing value");
    const auto failed = [&] { return DoesNotApply("testing value " + *path_ + " failed: test failed"); };
    if (path_->empty()) {
      if (value_ == nullptr || !JsonEqual(doc_, *value_)) return failed();
      return {};
    }
    const Place place = FindPlace(doc_, *path_);
    if (place.container == nullptr)
      return DoesNotApply("test operation does not apply: is missing path: " + *path_ + ": missing value");
    const auto at = Get(place);
    if (!at) return std::unexpected(Error(at.error()).During("error in test for path: '" + *path_ + "'"));
    if (!JsonEqual(*at == nullptr ? Json() : **at, Value())) return failed();
    return {};
  }

  static Result<> During(Result<> result, const std::string& doing) {
    if (result) return result;
    return std::unexpected(std::move(result).error().During(doing));
  }

  Json& doc_;
  const PatchLimits& limits_;
  std::optional<std::string> path_, from_;
  const Json* value_ = nullptr;
  std::size_t copied_bytes_ = 0;
};

}  // namespace

Result<Json> ApplyJsonPatch(Json doc, const Json& patch, const PatchLimits& limits) {
  const JsonArray* operations = patch.if_array();
  if (operations == nullptr)
    return Fail(Code::kInvalid, "a JSON patch is a list of operations, got " + std::string(KindName(patch)));
  if (operations->size() > limits.max_operations)
    return Fail(Code::kTooLarge, "The allowed maximum operations in a JSON patch is " +
                                     std::to_string(limits.max_operations) + ", got " +
                                     std::to_string(operations->size()));
  if (!doc.is_structured()) return Fail(Code::kInvalid, "a JSON patch applies to an object or a list");
  Application application(doc, limits);
  for (const Json& operation : *operations) {
    if (!operation.is_object())
      return Fail(Code::kInvalid, "a JSON patch operation is an object, got " + std::string(KindName(operation)));
    TRY(application.Apply(operation.get_object()));
  }
  return doc;
}

}  // namespace gpuop::data
