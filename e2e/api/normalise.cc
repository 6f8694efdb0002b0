#include "e2e/api/normalise.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/text.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

bool LooksLikeUid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

bool LooksLikeTime(std::string_view text) { return text.size() >= 20 && text[4] == '-' && ParseTime(text).has_value(); }

/// "0s", "5m30s", "3d": an age in a table.
bool LooksLikeAge(std::string_view text) {
  if (text.empty()) return false;
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digits = true;
    } else if (digits && (c == 's' || c == 'm' || c == 'h' || c == 'd' || c == 'y')) {
      digits = false;
    } else {
      return false;
    }
  }
  return !digits;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

void Print(std::string& out, const json::value& value, std::size_t indent) {
  const std::string pad(indent + 2, ' ');
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    std::vector<std::string_view> keys;
    for (const auto& kv : *object) keys.emplace_back(kv.key());
    std::ranges::sort(keys);
    out += "{\n";
    for (const std::string_view key : keys) {
      out.append(pad).append(Quote(key)).append(": ");
      Print(out, object->at(key), indent + 2);
      out += '\n';
    }
    out.append(indent, ' ') += '}';
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    out += "[\n";
    for (const json::value& item : *array) {
      out += pad;
      Print(out, item, indent + 2);
      out += '\n';
    }
    out.append(indent, ' ') += ']';
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string Normaliser::Known(std::map<std::string, std::string>& names, std::string_view prefix,
                              std::string_view text) {
  const auto [it, fresh] = names.try_emplace(std::string(text));
  if (fresh) it->second = "<" + std::string(prefix) + "-" + std::to_string(names.size()) + ">";
  return it->second;
}

std::string Normaliser::Scalar(std::string_view key, std::string_view text, bool list_metadata) {
  if (key == "resourceVersion")
    return text.empty() || text == "0" ? std::string(text)
           : list_metadata             ? "<list-version>"
                                       : Known(versions_, "version", text);
  if (key == "continue") return text.empty() ? "" : "<continue>";
  if (key == "cells" && LooksLikeAge(text)) return "<age>";
  if (key == "serverAddress") return "<server>";
  if ((key == "clusterIP" || key == "clusterIPs") && text.starts_with("10.")) return "<cluster-ip>";
  // A uid stands alone, or inside a text such as a selector's.
  for (std::size_t at = 0; at + 36 <= text.size(); ++at)
    if (LooksLikeUid(text.substr(at, 36))) Known(uids_, "uid", text.substr(at, 36));
  if (LooksLikeTime(text)) return "<time>";
  return Text(std::string(text));
}

std::string Normaliser::Text(std::string text) const {
  static constexpr std::string_view kTokenVolume = "kube-api-access-";
  if (text.starts_with(kTokenVolume) && text.size() == kTokenVolume.size() + 5)
    return std::string(kTokenVolume) + "<suffix>";
  // A diff of the server's own structs ends some messages.
  if (const std::size_t at = text.find("\n@@ "); at != std::string::npos) text.resize(at);
  // Times inside texts, and the version that a failed precondition names.
  for (std::size_t at = 0; at + 20 <= text.size(); ++at)
    if (LooksLikeTime(std::string_view(text).substr(at, 20))) text.replace(at, 20, "<time>");
  static constexpr std::string_view kRecord = "the ResourceVersion in record (";
  if (const std::size_t at = text.find(kRecord); at != std::string::npos) {
    const std::size_t first = at + kRecord.size();
    text.replace(first, text.find(')', first) - first, "<version>");
  }
  static constexpr std::string_view kQuoted = "resourceVersion\\\":\\\"";
  if (const std::size_t at = text.find(kQuoted); at != std::string::npos) {
    const std::size_t first = at + kQuoted.size();
    text.replace(first, text.find('\\', first) - first, "<version>");
  }
  for (const auto& [uid, name] : uids_) ReplaceAll(text, uid, name);
  for (const auto& [full, name] : generated_) ReplaceAll(text, full, name);
  return text;
}

json::value Normaliser::Walk(const json::value& in, std::string_view key, bool list_metadata) {
  if (const auto* object = in.if_object()) {
    if (const auto* gen = object->if_contains("generateName"); gen != nullptr && gen->is_string())
      if (const auto* name = object->if_contains("name"); name != nullptr && name->is_string())
        generated_[std::string(name->get_string())] = std::string(gen->get_string()) + "<suffix>";
    const bool is_list = object->contains("items") || object->contains("rows");
    json::object out;
    // Metadata first, so that its uid has its name when messages mention it.
    if (const auto* meta = object->if_contains("metadata")) out["metadata"] = Walk(*meta, "metadata", is_list);
    // Column descriptions are prose of Kubernetes' own.
    const bool column = key == "columnDefinitions";
    for (const auto& [k, v] : *object)
      if (column && k == "description") {
        out[k] = "<prose>";
      } else if (k != "metadata")
        out[k] = Walk(v, k, list_metadata && key == "metadata");
    return out;
  }
  if (const auto* array = in.if_array()) {
    json::array out;
    for (const json::value& item : *array) out.push_back(Walk(item, key, false));
    // The server orders entries by their times first, and those have no more than seconds.
    if (key == "managedFields") {
      std::ranges::sort(out, {}, [](const json::value& entry) {
        std::string text;
        Print(text, entry, 0);
        return text;
      });
    }
    return out;
  }
  if (const auto* text = in.if_string()) return json::value(Scalar(key, std::string_view(*text), list_metadata));
  return in;
}

std::string Normaliser::Body(const json::value& body) {
  std::string out;
  Print(out, Walk(body, "", false), 0);
  return out;
}

}  // namespace gpuop::e2e
