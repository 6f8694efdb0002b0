#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/text.h"
#include "data/utf8.h"
#include "data/yaml.h"
#include "data/yaml_scalar.h"

namespace gpuop::data {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

bool IsBreakOrTab(char c) { return c == '\n' || c == '\r' || c == '\t'; }

/// What ends the reading of a stream: an Error on its way through the parser.
struct Stop {
  Error error;
};

[[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& text, Code code = Code::kInvalid) {
  throw Stop{{code, "yaml: line " + std::to_string(mark.line + 1) + ": " + text}};
}

/// Bytes that a value occupies, roughly: what expanding an alias to it costs.
std::size_t Weight(const Json& value) {
  std::size_t weight = 16;
  if (const auto* text = value.if_string()) {
    weight += text->size();
  } else if (const JsonArray* array = value.if_array()) {
    for (const Json& item : *array) weight += Weight(item);
  } else if (const JsonObject* object = value.if_object()) {
    for (const auto& member : *object) weight += member.key().size() + Weight(member.value());
  }
  return weight;
}

/// The library writes the escapes \N and \_ as Latin-1; here they become the characters they stand for.
std::string Repair(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const char32_t rune = TakeRune(text);
    AppendRune(out, rune == 0xfffd && (byte == 0x85 || byte == 0xa0) ? byte : rune);
  }
  return out;
}

/// A number as a key: the shortest text of single precision, as Go's %g.
std::string FloatKey(double number) {
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number > 0 ? ".inf" : "-.inf";
  const auto narrow = static_cast<float>(number);
  const double size = std::fabs(number);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e6);
  std::array<char, 64> buffer;
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), narrow, format).ptr};
}

/// Builds one document from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const YamlLimits& limits, const std::vector<std::string_view>& lines, bool first)
      : limits_(limits), lines_(lines), first_(first) {}

  YamlDocument document;
  bool any = false;

  void OnDocumentStart(const YAML::Mark& mark) override {
    const auto line = static_cast<std::size_t>(mark.line);
    const std::string_view text = line < lines_.size() ? lines_[line] : std::string_view();
    const bool marked = text.starts_with("---");
    // Without the mark this is what the parser did not understand of the document before, and will not get past.
    const bool good = mark.column == 0 && (marked || text.starts_with('%'));
    if (!first_ && !good) Refuse(mark, "did not find expected <document start>");
    document.line = line + (marked ? 2 : 1);
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Scalar(mark, nullptr, anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) Refuse(mark, "an anchor's value contains itself");
    expansion_ += it->second.weight;
    if (expansion_ > limits_.max_expansion) Refuse(mark, "document contains excessive aliasing", Code::kTooLarge);
    Scalar(mark, it->second.value, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    merge_key_ = tag == "?" && text == "<<";
    Scalar(mark, Resolve(mark, tag, IsUtf8(text) ? text : Repair(text)), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, JsonArray(), anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, JsonObject(), anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    Json value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    YAML::Mark mark;
    std::string key;
    bool has_key = false, merge = false;
    /// Keys that were written here, to find those that come twice.
    std::set<std::string, std::less<>> written;
  };
  struct Anchored {
    Json value;
    std::size_t weight;
  };

  static Json Resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    if (tag == "?") return ResolvePlain(text).value_or(Json(text));
    if (!tag.starts_with(kTagPrefix)) return Json(text);
    const std::string_view type = std::string_view(tag).substr(kTagPrefix.size());
    if (type == "binary") {
      auto bytes = Base64Decode(text);
      if (!bytes || !IsUtf8(*bytes)) Refuse(mark, "!!binary value contains invalid base64 data");
      return Json(*bytes);
    }
    if (type == "str" || type == "timestamp") return Json(text);
    auto value = ResolvePlain(text);
    if (type == "float" && value && value->is_int64()) return Json(static_cast<double>(value->get_int64()));
    const bool fits = value && ((type == "int" && value->is_int64()) || (type == "float" && value->is_double()) ||
                                (type == "bool" && value->is_bool()) || (type == "null" && value->is_null()));
    if (!fits && (type == "int" || type == "float" || type == "bool" || type == "null"))
      Refuse(mark, "cannot decode `" + text + "` as a !!" + std::string(type));
    return fits ? *std::move(value) : Json(text);
  }

  void Open(const YAML::Mark& mark, Json container, YAML::anchor_t anchor) {
    if (ExpectsKey()) Refuse(mark, "a key must be a scalar");
    if (levels_.size() >= limits_.max_depth) Refuse(mark, "nested too deep");
    Level level;
    level.value = std::move(container);
    level.anchor = anchor;
    level.mark = mark;
    levels_.push_back(std::move(level));
  }

  void Close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    Remember(level.anchor, level.value);
    Put(level.mark, std::move(level.value));
  }

  void Scalar(const YAML::Mark& mark, Json value, YAML::anchor_t anchor) {
    const bool merge = std::exchange(merge_key_, false);
    Remember(anchor, value);
    if (!ExpectsKey()) return Put(mark, std::move(value));
    Level& level = levels_.back();
    level.key = KeyText(mark, value);
    level.has_key = true;
    level.merge = merge;
  }

  bool ExpectsKey() const { return !levels_.empty() && levels_.back().value.is_object() && !levels_.back().has_key; }

  void Remember(YAML::anchor_t anchor, const Json& value) {
    if (anchor == YAML::NullAnchor) return;
    const std::size_t weight = Weight(value);
    expansion_ += weight;
    if (expansion_ > limits_.max_expansion)
      Refuse(YAML::Mark(), "document contains excessive anchors", Code::kTooLarge);
    anchors_.insert_or_assign(anchor, Anchored{value, weight});
  }

  static std::string KeyText(const YAML::Mark& mark, const Json& key) {
    if (const auto* text = key.if_string()) return std::string(AsView(*text));
    if (key.is_double()) return FloatKey(key.get_double());
    if (key.is_structured() || key.is_null()) Refuse(mark, "unsupported map key: " + std::string(KindName(key)));
    return ToJson(key);
  }

  void Put(const YAML::Mark& mark, Json value) {
    if (value.is_double() && !std::isfinite(value.get_double()))
      Refuse(mark, "json: unsupported value: " + std::string(std::isnan(value.get_double()) ? "NaN"
                                                             : value.get_double() > 0       ? "+Inf"
                                                                                            : "-Inf"));
    if (levels_.empty()) {
      document.value = std::move(value);
      any = true;
      return;
    }
    Level& level = levels_.back();
    if (JsonArray* array = level.value.if_array()) {
      array->push_back(std::move(value));
      return;
    }
    JsonObject& object = level.value.get_object();
    level.has_key = false;
    if (level.merge) return Merge(mark, object, value);
    if (!level.written.insert(level.key).second) {
      if (std::string path = PathText(); std::ranges::find(document.duplicates, path) == document.duplicates.end())
        document.duplicates.push_back(std::move(path));
    }
    object[level.key] = std::move(value);
  }

  /// << brings in what a map, or each of several, holds, over what was written before it.
  static void Merge(const YAML::Mark& mark, JsonObject& object, const Json& value) {
    const auto take = [&](const Json& from) {
      const JsonObject* members = from.if_object();
      if (members == nullptr) Refuse(mark, "map merge requires map or sequence of maps as the value");
      for (const auto& member : *members) object[member.key()] = member.value();
    };
    const JsonArray* several = value.if_array();
    if (several == nullptr) return take(value);
    for (auto it = several->rbegin(); it != several->rend(); ++it) take(*it);  // the first one counts
  }

  std::string PathText() const {
    std::string out;
    for (const Level& level : levels_) {
      if (const JsonArray* array = level.value.if_array()) {
        out.append("[").append(std::to_string(array->size())).append("]");
      } else {
        if (!out.empty()) out += '.';
        out += level.key;
      }
    }
    return out;
  }

  const YamlLimits& limits_;
  const std::vector<std::string_view>& lines_;
  const bool first_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t expansion_ = 0;
  bool merge_key_ = false;
};

}  // namespace

Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.max_bytes)
    return Fail(Code::kTooLarge, "yaml: document of " + std::to_string(text.size()) + " bytes exceeds " +
                                     std::to_string(limits.max_bytes));
  const bool control =
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && !IsBreakOrTab(c); });
  if (control || text.contains('\x7f')) return Fail(Code::kInvalid, "yaml: control characters are not allowed");
  if (!IsUtf8(text)) return Fail(Code::kInvalid, "yaml: invalid UTF-8");
  std::vector<YamlDocument> out;
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    const std::vector<std::string_view> lines = Split(text, '\n');
    for (bool first = true;; first = false) {
      Builder builder(limits, lines, first);
      if (!parser.HandleNextDocument(builder)) break;
      if (builder.any && !builder.document.value.is_null()) out.push_back(std::move(builder.document));
    }
  } catch (const Stop& stop) {
    return std::unexpected(stop.error);
  } catch (const YAML::Exception& e) {
    return Fail(Code::kInvalid, "yaml: line " + std::to_string(e.mark.line + 1) + ": " + e.msg);
  }
  return out;
}

Result<Json> ParseYaml(std::string_view text, const YamlLimits& limits) {
  ASSIGN(auto documents, ParseYamlStream(text, limits));
  return documents.empty() ? Json() : std::move(documents.front().value);
}

}  // namespace gpuop::data
