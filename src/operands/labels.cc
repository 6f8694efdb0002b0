#include "operands/labels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace gpuop::operands {
namespace {

constexpr std::size_t kMaxLabelValue = 63;

/// Letters, digits, '-', '_' and '.' stay, others become '-'; the ends are alphanumeric.
std::string LabelValue(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxLabelValue)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    out.push_back(plain ? c : '-');
  }
  while (!out.empty() && std::isalnum(static_cast<unsigned char>(out.back())) == 0) out.pop_back();
  return out;
}

void Remove(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

}  // namespace

std::string OsTag(std::string_view os_id, std::string_view os_version) {
  static constexpr std::array kMajorOnly = {"rhel", "rocky", "ol"};
  if (os_id.empty()) return {};
  if (std::ranges::find(kMajorOnly, os_id) != kMajorOnly.end()) os_version = os_version.substr(0, os_version.find('.'));
  return std::string(os_id).append(os_version);
}

std::string SanitizedKernel(std::string_view kernel) {
  std::string out(kernel);
  for (const char* arch : {"x86_64_64k", "aarch64_64k", "x86_64", "aarch64"}) Remove(out, arch);
  std::ranges::replace(out, '_', '.');
  if (out.ends_with('.')) out.pop_back();
  return ToLower(out);
}

StringMap GroupLabels(const NodeGroup& group) {
  StringMap out;
  const std::string os = LabelValue(OsTag(group.os_id, group.os_version));
  if (!os.empty()) out[kOsLabel] = os;
  if (!group.runtime.empty()) out[kRuntimeLabel] = LabelValue(group.runtime);
  const std::string kernel = LabelValue(group.kernel);
  if (!kernel.empty()) out[kKernelLabel] = kernel;
  const std::string rhcos = LabelValue(group.rhcos_version);
  if (!rhcos.empty()) out[kRhcosLabel] = rhcos;
  return out;
}

}  // namespace gpuop::operands
