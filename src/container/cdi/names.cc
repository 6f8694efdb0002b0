#include "container/cdi/names.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"

namespace gpuop::container {
namespace {

Result<> Bad(std::string_view what, std::string_view text, std::string_view why) {
  return Fail(Code::kInvalid, std::string(what) + " " + Quote(text) + " " + std::string(why));
}

/// `between` are the characters besides letters and digits that may stand inside.
Result<> CheckWord(std::string_view what, std::string_view text, std::string_view between, bool letter_first) {
  if (text.empty()) return Bad(what, text, "must not be empty");
  if (letter_first ? !IsLetter(text.front()) : !IsAlphanumeric(text.front()))
    return Bad(what, text, letter_first ? "must begin with a letter" : "must begin with a letter or digit");
  if (!IsAlphanumeric(text.back())) return Bad(what, text, "must end with a letter or digit");
  const auto fits = [&](char c) { return IsAlphanumeric(c) || between.contains(c); };
  if (!std::ranges::all_of(text, fits))
    return Bad(what, text, "may hold letters, digits and " + std::string(between) + " only");
  return {};
}

}  // namespace

CdiName SplitCdiName(std::string_view text) {
  const CdiName unqualified{"", "", std::string(text)};
  if (text.starts_with('/')) return unqualified;
  const auto parts = Cut(text, '=');
  if (!parts || parts->first.empty() || parts->second.empty()) return unqualified;
  const auto kind = Cut(parts->first, '/');
  if (!kind || kind->first.empty() || kind->second.empty()) return unqualified;
  return {std::string(kind->first), std::string(kind->second), std::string(parts->second)};
}

Result<CdiName> ParseCdiName(std::string_view text) {
  CdiName name = SplitCdiName(text);
  if (name.vendor.empty())
    return Fail(Code::kInvalid, "unqualified device " + Quote(text) + ": expected vendor/class=device");
  const auto check = [&]() -> Result<> {
    TRY(CheckCdiVendor(name.vendor));
    TRY(CheckCdiClass(name.kind_class));
    return CheckCdiDevice(name.device);
  };
  if (auto ok = check(); !ok) return std::unexpected(std::move(ok).error().During("device " + Quote(text)));
  return name;
}

bool IsCdiName(std::string_view text) { return ParseCdiName(text).has_value(); }

Result<> CheckCdiVendor(std::string_view vendor) { return CheckWord("vendor", vendor, "_-.", true); }
Result<> CheckCdiClass(std::string_view kind_class) { return CheckWord("class", kind_class, "_-.", true); }
Result<> CheckCdiDevice(std::string_view device) { return CheckWord("device name", device, "_-.:", false); }

Result<std::string> CdiAnnotationKey(std::string_view plugin, std::string_view device_id) {
  if (plugin.empty()) return Fail(Code::kInvalid, "CDI annotation: plugin must not be empty");
  if (device_id.empty()) return Fail(Code::kInvalid, "CDI annotation: device id must not be empty");
  std::string name = std::string(plugin) + "_" + std::string(device_id);
  std::ranges::replace(name, '/', '_');
  constexpr std::size_t kLongestName = 63;
  if (name.size() > kLongestName)
    return Fail(Code::kInvalid, "CDI annotation name " + Quote(name) + " is longer than 63 characters");
  TRY(CheckWord("CDI annotation name", name, "_-.", false));
  return std::string(kCdiAnnotationPrefix) + name;
}

Result<> AddCdiAnnotation(std::map<std::string, std::string>& annotations, std::string_view plugin,
                          std::string_view device_id, const std::vector<std::string>& devices) {
  ASSIGN(const std::string key, CdiAnnotationKey(plugin, device_id));
  if (annotations.contains(key)) return Fail(Code::kAlreadyExists, "annotation " + key + " is already there");
  for (const std::string& device : devices) TRY(ParseCdiName(device));
  annotations[key] = Join(devices, ",");
  return {};
}

Result<CdiAnnotations> ParseCdiAnnotations(const std::map<std::string, std::string>& annotations,
                                           std::string_view prefix) {
  CdiAnnotations out;
  for (const auto& [key, value] : annotations) {
    if (!key.starts_with(prefix)) continue;
    for (const std::string_view device : Split(value, ',')) {
      if (auto name = ParseCdiName(device); !name)
        return std::unexpected(std::move(name).error().During("annotation " + key));
      out.devices.emplace_back(device);
    }
    out.keys.push_back(key);
  }
  return out;
}

}  // namespace gpuop::container
